//! The functions of `include/vksort.h`, through which programs in C and C++ record sorts. Programs in Rust use the crate
//! `vksort`; no function here is for them.
//!
//! The header is generated from these files by `scripts/header.sh`, so their documentation is for callers in C. Every function is
//! thin: it checks its arguments, calls the recording API of the crate `vksort`, and turns the outcome into a code and a text.
//!
//! * Handles are keys of a registry and never dereferenced (`handles`). A handle that is null, destroyed or
//!   of another kind is refused.
//! * Structures begin with their size, so that fields can be added at the end (`structs`).
//! * Enumerations are integers, because a value outside a Rust enumeration is undefined behaviour.
//! * Nothing unwinds into the caller (`outcome`).
//! * Texts have the names of C (`words`).
//! * Messages go to a callback of the caller's, if the process has no other logger (`log`).
#![allow(unsafe_code)]
#![allow(non_camel_case_types, non_upper_case_globals, reason = "names are those of C")]

pub mod device;
mod fault;
mod handles;
pub mod inspect;
pub mod log;
pub mod names;
pub mod outcome;
pub mod record;
mod request;
pub mod segmented;
pub mod sorter;
mod structs;
pub mod types;
pub mod verify;
pub mod visitor;
pub mod vrdx;
mod words;
