//! Problems of many segments, of first elements and of records, which are solved in several ways.

mod elements;
mod lengths;
mod lists;
mod maker;
mod problem;
mod records;
mod run;

pub use problem::{Problem, RECORDED, Unfit, Way};
pub use run::measure;
