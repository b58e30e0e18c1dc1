//! What programs with a device of their own share of Vulkan.
#![allow(unsafe_code)]

pub mod buffer;
pub mod device;
