//! The programs that sort and draw, run as their users run them, and the parts of `splats` that need no device.

mod arrays;
mod cli;
mod examples;
mod first;
mod footprints;
mod framing;
mod fuzz;
mod letters;
mod loading;
mod made;
mod memory;
mod render;
mod scenes;
mod splats;
mod widths;
#[cfg(feature = "window")]
mod window;

use vksort_programs::splats as renderer;
