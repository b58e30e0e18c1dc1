//! The programs that sort and draw, run as their users run them, and the parts of `splats` that need no device.

mod cli;
mod render;
mod scenes;
mod splats;
mod widths;
#[cfg(feature = "window")]
mod window;

/// Files of the program `splats`, which name each other from its root.
#[path = "../../splats"]
mod renderer {
    #![allow(dead_code, reason = "the suites need no more of the program")]
    pub mod camera;
    #[cfg(feature = "window")]
    #[path = "vk/extent.rs"]
    pub mod extent;
    pub mod reference;
    pub mod scene;
}

// By these names.
use renderer::{camera, scene};
