//! All of the renderer that calls Vulkan.
#![allow(unsafe_code)]

#[path = "../common/vk/buffer.rs"]
mod buffer;
#[path = "../common/vk/device.rs"]
mod device;
#[cfg(feature = "window")]
mod extent;
mod frame;
mod image;
mod pipelines;
#[cfg(feature = "window")]
mod present;

pub use device::{Device, Extensions, validation_errors};
pub use frame::{Drawn, Keys, PASSES, Renderer, Times};
#[cfg(feature = "window")]
pub use present::{Presenter, Shown};
