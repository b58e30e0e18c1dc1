//! The parts of the program `splats` that need no device.

pub mod camera;
pub mod extent;
pub mod reference;
pub mod scene;
