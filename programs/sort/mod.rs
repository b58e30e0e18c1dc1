//! Arrays of the program `sort`, which need no device.

pub mod form;
pub mod npy;
