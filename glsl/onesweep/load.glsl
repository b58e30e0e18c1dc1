// Loading a tile. A subgroup holds a stretch of it, in stripes: neighbouring lanes hold neighbouring elements.

const uint TILE = WORKGROUP_SIZE * ITEMS;

// A sorted tile is staged in parts of so many items, where the pool has no room for all of them.
const uint POOL_ITEMS = POOL_WORDS / (WORKGROUP_SIZE * KEY_WORDS);
const uint PART_ITEMS = POOL_ITEMS < ITEMS ? POOL_ITEMS : ITEMS;
const uint PART = WORKGROUP_SIZE * PART_ITEMS;
const uint PARTS = (ITEMS + PART_ITEMS - 1) / PART_ITEMS;

struct Tile {
    uint index;
    uint start;    // its first element
    uint elements; // TILE, or fewer in the last tile
};

// Place in the tile of an invocation's item, of which it holds `items`. In another order of addition, the compilers of AMD's
// and NVIDIA's GPUs in Mesa 25 and 26 do not fold the item into the offset of an access, which takes 35 to 75 instructions.
uint loaded_at(uint item, uint items) { return subgroup_index() * (SUBGROUP_SIZE * items) + lane() + item * SUBGROUP_SIZE; }

// Whether a place, counted from the first one of a part, is in the part.
bool in_part(uint at) { return PARTS == 1 || at < PART; }

// The keys of a part in the pool, word by word.
void stage_key(uint at, KEY key) {
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) pool[word * PART + at] = key_word(key, word);
}

KEY staged_key(uint at) {
    KEY key;
    [[unroll]] for (uint word = 0; word < KEY_WORDS; word++) set_key_word(key, word, pool[word * PART + at]);
    return key;
}

// Keys of the last tile that are loaded together: four words, because wide keys would take registers.
const uint LOADS = 4 / KEY_WORDS;

// Lanes past the end hold the last key of the order, so that counting and ranking need no bounds.
void load_keys(Pass pass, Tile tile, out KEY keys[ITEMS]) {
    if (visits_keys(pass) && tile.elements == TILE) {
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            keys[item] = flip_by_sign(given_key(tile.start + loaded_at(item, ITEMS)));
        }
    } else if (tile.elements == TILE) {
        [[unroll]] for (uint item = 0; item < ITEMS; item++) {
            keys[item] = flip_by_sign(read_key(tile.start + loaded_at(item, ITEMS)));
        }
    } else {
        [[unroll]] for (uint part = 0; part < PARTS; part++) {
            // The pass ends with this tile, so a few loads are under way at once. Lanes past the end load the last element's key.
            [[dont_unroll]] for (uint first = 0; first < PART_ITEMS; first += LOADS) {
                KEY loaded[LOADS];
                uint start = part * PART + first * WORKGROUP_SIZE;
                [[unroll]] for (uint item = 0; item < LOADS; item++) loaded[item] = last_key(pass);
                if (start < tile.elements) {
                    [[unroll]] for (uint item = 0; item < LOADS; item++) {
                        uint at = start + thread() + item * WORKGROUP_SIZE;
                        KEY key = load_key(pass, tile.start + min(at, tile.elements - 1));
                        if (at < tile.elements) loaded[item] = key;
                    }
                }
                [[unroll]] for (uint item = 0; item < LOADS; item++) {
                    if (first + item < PART_ITEMS) stage_key(thread() + (first + item) * WORKGROUP_SIZE, loaded[item]);
                }
            }
            barrier();
            [[unroll]] for (uint item = 0; item < ITEMS; item++) {
                uint at = loaded_at(item, ITEMS) - part * PART;
                if (in_part(at)) keys[item] = staged_key(at);
            }
            barrier();
        }
    }
}

// Whether ranking has to keep the order of equal digits; `share` is the largest one of a digit. The first pass may reorder them,
// but not with lanes past the end, which would come between them. Atomics on one counter are serialized, so only even
// distributions are ranked that way.
bool keeps_order(Tile tile, uint share) { return push.pass > 0 || tile.elements < TILE || share != SHARE_SMALL; }

// Counts the bins of an earlier tile, which is full, into `bin_target`.
void count_again(Pass pass, uint tile) {
    [[dont_unroll]] for (uint at = thread(); at < TILE; at += WORKGROUP_SIZE) {
        atomicAdd(bin_target[bin_of(load_key(pass, pass.first + tile * TILE + at), pass.digit)], 1);
    }
}
