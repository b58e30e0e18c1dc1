//! Programs to copy from, of one file each: `record` sorts once, `records` sorts structures by their fields, and `frames` is a
//! renderer's loop. `cargo run --release -p vksort-examples --example record` runs one.
