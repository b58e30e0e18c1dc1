//! Arrays of the program `sort`, which need no device.

pub mod npy;
pub mod order;
pub mod parts;
