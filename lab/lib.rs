//! What programs of the lab share, and what their tests look into. It is for this repository alone.
#![allow(
    missing_docs,
    missing_debug_implementations,
    clippy::missing_errors_doc,
    reason = "programs need no documentation of each other"
)]

pub mod awake;
pub mod bench;
pub mod tune;
