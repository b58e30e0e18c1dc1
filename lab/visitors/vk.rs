//! All of the program that calls Vulkan.
#![allow(unsafe_code)]

mod way;

pub use vksort_programs::common::vk::device::{Device, Extensions, validation_errors};
pub use way::{Timed, Ways};
