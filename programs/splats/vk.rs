//! All of the renderer that calls Vulkan.
#![allow(unsafe_code)]

mod buffer;
mod device;
mod frame;
mod image;
mod pipelines;

pub use device::{Device, validation_errors};
pub use frame::{Drawn, PASSES, Renderer, Times};
