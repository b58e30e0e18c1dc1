//! All of the program that calls Vulkan.
#![allow(unsafe_code)]

#[allow(dead_code, reason = "the renderer uses all of it")]
#[path = "../common/vk/buffer.rs"]
mod buffer;
#[allow(dead_code, reason = "the renderer uses all of it")]
#[path = "../common/vk/device.rs"]
mod device;
mod way;

pub use device::{Device, Extensions, validation_errors};
pub use way::{Timed, Ways};
