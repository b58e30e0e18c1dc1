//! The part of the program `bench` that needs no device.

pub mod lost;
pub mod versus;
