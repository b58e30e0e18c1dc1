//! All of the program that calls Vulkan; device and buffers are the renderer's.
#![allow(unsafe_code)]

#[allow(dead_code, reason = "the renderer uses all of it")]
#[path = "../splats/vk/buffer.rs"]
mod buffer;
#[allow(dead_code, reason = "the renderer uses all of it")]
#[path = "../splats/vk/device.rs"]
mod device;
mod way;

pub use device::{Device, Extensions, validation_errors};
pub use way::{Timed, Ways};
