// An include, with a constant of its own.
const uint LAST = 0xFu << 2 | 3;
