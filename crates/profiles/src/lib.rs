#![doc = include_str!("../README.md")]

mod error;
mod profile;
pub mod tuning;

pub use error::Error;
pub use profile::{Clock, MeasuredSort, ProfiledDevice, Quartiles, SortKind, TuningProfile};
