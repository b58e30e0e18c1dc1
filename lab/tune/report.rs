//! What was found, as tables.

use comfy_table::Table;
use vksort::Tuning;
use vksort_profiles::Quartiles;

use vksort_lab::tune::search::device::Tuned;
use vksort_lab::tune::search::{Outcome, Trial};
use vksort_programs::common::{self, duration};

/// The fields of the tuning beside those of the built-in row, what each of them gained, and the times.
pub fn text(tuned: &Tuned, built_in: &Tuning) -> String {
    let count = |outcome: fn(&Outcome) -> bool| tuned.trials.iter().filter(|trial| outcome(&trial.outcome)).count();
    let won = count(|outcome| *outcome == Outcome::Won);
    let dropped = count(|outcome| matches!(outcome, Outcome::Dropped(_)));
    let mut parts = vec![fields(tuned, built_in), times(tuned)];
    for trial in &tuned.trials {
        if let Outcome::Dropped(why) = &trial.outcome {
            parts.push(format!("dropped    {} {}: {why}", trial.dimension, trial.change));
        }
    }
    parts.push(format!("tried      {} candidates: {won} won, {dropped} dropped", tuned.trials.len()));
    let result = match (&tuned.refused, tuned.profile.tuning == *built_in) {
        (Some(ratio), _) => {
            format!("the best was {} times as fast at the end, within noise: the built-in row stays", spread(*ratio))
        }
        (None, true) => "nothing was faster beyond noise: the built-in row stays".into(),
        (None, false) => tuned.profile.tuning.evidence.to_string(),
    };
    parts.push(format!("result     {result}"));
    parts.join("\n")
}

/// A row per dimension that was tried.
fn fields(tuned: &Tuned, built_in: &Tuning) -> String {
    let value = |tuning: &Tuning, name: &str| match Tuning::KNOBS.iter().find(|knob| knob.name == name) {
        // One dimension is no field: it trades one for others.
        None => format!("{} x {}, {}", tuning.workgroup_size, tuning.items_keys, tuning.items_pairs),
        Some(knob) => knob.show(tuning),
    };
    let mut names: Vec<&str> = Vec::new();
    for trial in &tuned.trials {
        if !names.contains(&trial.dimension) {
            names.push(trial.dimension);
        }
    }
    let rows = names.iter().map(|name| {
        let trials: Vec<&Trial> = tuned.trials.iter().filter(|trial| trial.dimension == *name).collect();
        let won = trials.iter().filter(|trial| trial.outcome == Outcome::Won);
        let gain: f64 = won.filter_map(|trial| trial.ratio).map(|ratio| ratio.median).product();
        // Of all those that were tried there, against the built-in row.
        let speeds = trials.iter().filter_map(|trial| Some(trial.incumbent * trial.ratio?.median));
        let best = speeds.fold(f64::NAN, f64::max);
        let best = if best.is_nan() { "-".into() } else { format!("{best:.2}") };
        let gain = if gain == 1.0 { "-".into() } else { format!("x {gain:.2}") };
        let (before, after) = (value(built_in, name), value(&tuned.profile.tuning, name));
        [name.to_string(), before, after, trials.len().to_string(), best, gain]
    });
    table(&["dimension", "built-in", "profile", "tried", "best over built-in", "gain"], rows)
}

fn times(tuned: &Tuned) -> String {
    let rows = tuned.profile.measured.iter().map(|row| {
        let [before, after] = [row.built_in_ns.median, row.tuned_ns.median].map(duration);
        let what = format!("{} {}", row.count, row.kind.name());
        [what, before, after, spread(row.ratio), format!("{} in turns", row.rounds)]
    });
    format!("\n{}\n", table(&["sort", "built-in", "profile", "times as fast", "runs"], rows))
}

/// Median and quartiles of a ratio.
pub fn spread(ratio: Quartiles) -> String {
    format!("{:.2} ({:.2} to {:.2})", ratio.median, ratio.q25, ratio.q75)
}

fn table<const N: usize>(header: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut table = Table::new();
    table.set_header(header);
    for row in rows {
        table.add_row(row);
    }
    common::table_text(table, false)
}
