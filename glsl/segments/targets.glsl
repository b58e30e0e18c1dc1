// Where the elements of a sorted part go: to a slot, which is above the offset in the origin because a word of its own would take
// registers. If only the first elements of each segment are wanted, it is a word of its own, and an element of the result.

const uint SLOT_LOW = 16;

void set_target(Part part, bool is_in, uint slot, inout uint origin, inout uint target) {
    if (TOP == 0) {
        origin = is_in ? offset_in(origin) | slot << SLOT_LOW : NO_TARGET;
    } else {
        target = is_in ? top_target(part, origin >> NUMBER_LOW, slot) : NO_TARGET;
    }
}

bool has_target(uint origin, uint target) { return (TOP == 0 ? origin : target) != NO_TARGET; }

// The element of the result.
uint target_of(Part part, uint origin, uint target) { return TOP == 0 ? part.start + (origin >> SLOT_LOW) : target; }
