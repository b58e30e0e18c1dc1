//! Arrays of the program `sort`, which need no device.

pub mod fields;
pub mod header;
pub mod npy;
pub mod order;
pub mod parts;
