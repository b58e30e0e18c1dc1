//! The part of the program `tune` that searches.

pub mod search;
