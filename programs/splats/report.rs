//! What frames took, as text.

use comfy_table::Table;
use vksort_profiles::Quartiles;

use crate::vk::{PASSES, Times};
use vksort_programs::common::{self, duration};

/// The columns of [`line`].
pub const HEADER: &str = "frame    angle    splats       wall        cull        keys        sort        draw";

/// A line for a frame.
pub fn line(index: u32, degrees: f32, splats: usize, times: &Times) -> String {
    let passes = match times.passes {
        Some(passes) => passes.map(|nanoseconds| format!("{:>12}", duration(nanoseconds))).concat(),
        None => "  no timestamps".into(),
    };
    let wall = duration(times.wall.as_nanos() as f64);
    format!("{index:>5}  {degrees:>7.1}  {splats:>8}  {wall:>9}{passes}")
}

/// Median times of passes, where the device has timestamps, and of the host.
pub fn table(frames: &[Times]) -> String {
    let mut table = Table::new();
    table.set_header(["pass", "time", "share"]);
    if let Some(passes) = frames.iter().map(|times| times.passes).collect::<Option<Vec<_>>>() {
        let of = |pass: usize| median(passes.iter().map(|times| times[pass]));
        let medians: Vec<f64> = (0..PASSES.len()).map(of).collect();
        let total: f64 = medians.iter().sum();
        for (name, time) in PASSES.iter().zip(&medians) {
            table.add_row([name.to_string(), duration(*time), format!("{:.1} %", 100.0 * time / total.max(1.0))]);
        }
        table.add_row(["total".into(), duration(total), String::new()]);
    }
    let host = |of: fn(&Times) -> std::time::Duration| {
        duration(median(frames.iter().map(|times| of(times).as_nanos() as f64)))
    };
    table.add_row(["CPU time of recording".into(), host(|times| times.recording), String::new()]);
    table.add_row(["CPU time of submitting".into(), host(|times| times.submitting), String::new()]);
    common::table_text(table, false)
}

fn median(times: impl Iterator<Item = f64>) -> f64 {
    Quartiles::of(&times.collect::<Vec<_>>()).median
}
