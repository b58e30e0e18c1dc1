// Routes: what each pass does. A pass takes the next digit that is needed, so passes that need not run are the last ones, and the
// host knows the places of every pass when it records it (src/plan/places.rs).
//
// Places take turns. In place the elements start at the target, and are there again after an even number of passes. Out of place
// they are at the target after all passes, as after any number that differs from it by an even one. Otherwise they are left at the
// alternate. Then the next pass copies them to the target; a plan without a next pass has a final move.
//
// With a visitor's output, the last pass that runs gives the elements to the caller's code.
//
// If the caller discards the keys, the last pass does not write them.

// Writes the routes of the passes and of the move behind them, from a word of the counters on; one invocation. crates/testing/src/routes.rs has the same in Rust.
void write_routes(uint routes) {
    uint running = 0;
    [[dont_unroll]] for (uint digit = 0; digit < DIGITS; digit++) running += needed[digit];
    bool discards = DISCARD_KEYS != 0, makes_values = INDEX_VALUES != 0, visits = VISITED_OUTPUT != 0;
    // Even if all keys are equal, a pass has to bring the elements out of place, or to make the indices.
    if (running == 0 && (IN_PLACE == 0 || makes_values)) {
        needed[PASSES - 1] = 1;
        running = 1;
    }
    uint pass = 0;
    [[dont_unroll]] for (uint digit = 0; digit < DIGITS; digit++) {
        if (needed[digit] == 0) continue;
        bool last = pass + 1 == running;
        // Behind leading digits comes a finish, which needs the keys.
        uint moves = discards && last && digit < PASSES ? MOVES_VALUES : MOVES_ALL;
        uint word = ROUTE_RUNS | digit << ROUTE_DIGIT | moves << ROUTE_MOVES;
        if (visits && last) word |= ROUTE_VISITS;
        counters[routes + pass] = word;
        pass++;
    }
    // Indices without keys may start at either place.
    bool stays = IN_PLACE != 0 && !(makes_values && discards);
    bool left = ((stays ? running : PASSES - running) & 1) != 0;
    bool keys_left = left && !discards, values_left = left && VALUE_BITS != 0;
    if (running > 0 && !visits && (keys_left || values_left)) {
        uint word = ROUTE_RUNS | ROUTE_COPIES | (discards ? MOVES_VALUES : MOVES_ALL) << ROUTE_MOVES;
        if (keys_left) word |= ROUTE_TAKES_KEYS;
        if (values_left) word |= ROUTE_TAKES_VALUES;
        counters[routes + running] = word;
    }
}
