//! What programs and the lab share, and what tests look into. It is for this repository alone.
#![allow(
    missing_docs,
    missing_debug_implementations,
    clippy::missing_errors_doc,
    reason = "programs need no documentation of each other"
)]

pub mod common;
pub mod sort;
pub mod splats;
