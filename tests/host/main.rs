//! The suites that need no device.

mod architecture;
mod cache;
mod contract;
mod design;
mod guide;
mod instructions;
mod lookback_model;
mod profiles;
mod records;
mod recount;
mod requests;
mod rewrite;
mod rows;
mod segments;
mod shapes;
mod steps;
mod table;
mod top;
