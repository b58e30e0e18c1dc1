//! All of the renderer that calls Vulkan.
#![allow(unsafe_code)]

mod frame;
mod image;
mod pipelines;
#[cfg(feature = "window")]
mod present;

pub use frame::{Drawn, Keys, PASSES, Renderer, Times};
#[cfg(feature = "window")]
pub use present::{Presenter, Shown};
pub use vksort_programs::common::vk::device::{Device, Extensions, profile, validation_errors};
