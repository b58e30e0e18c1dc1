// Where the children of a parent begin, counted from its begin; the last one ends where the parent does. The kernel declares the shared
// array `child_begins`.

const bool OF_CHILDREN = SEGMENT_LAYOUT == LAYOUT_CHILDREN;
const uint CHILDREN = OF_CHILDREN ? SPLIT_CHILDREN : 0;

// Adds up the sizes of the children. Whether one of them has all elements. Each subgroup adds up all of them, which takes no barrier in
// between, and knows the same.
bool find_children(Parent parent) {
    uint begin = 0;
    bool is_all = false;
    [[dont_unroll]] for (uint first = 0; first < CHILDREN; first += SUBGROUP_SIZE) {
        uint size = table[sizes_at(parent.slot) + first + lane()], sum = subgroup_inclusive_add(size);
        is_all = is_all || size == parent.size;
        if (subgroup_index() == 0) child_begins[first + lane() + 1] = min(begin + sum, parent.size);
        begin += subgroup_shuffle(sum, SUBGROUP_SIZE - 1);
    }
    if (thread() == 0) child_begins[0] = 0;
    bool any = !is_empty(existing_lanes(subgroup_ballot(is_all)));
    barrier();
    return any;
}
