//! The parts of the program `splats` that need no device.

pub mod blank;
pub mod camera;
pub mod extent;
pub mod framing;
pub mod reference;
pub mod scene;

use clap::ValueEnum;

/// The order in which splats are drawn.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub enum Ordering {
    /// From back to front; splats of equal depth in the order of the scene.
    Stable,
    /// In the order of the scene.
    Unsorted,
    /// From front to back.
    Reversed,
}
