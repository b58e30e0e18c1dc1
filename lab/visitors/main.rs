//! Measures sorts with a visitor beside the same sorts with a buffer in its place.

mod bytes;
mod case;
mod glsl;
mod vk;

use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Parser;
use comfy_table::Table;
use fastrand::Rng;
use vksort::{Algorithm, Order};
use vksort_profiles::Quartiles;
use vksort_programs::common;

use case::{Case, Input, Keys, ROW, Replaced, Store};
use vk::{Device, Extensions, Timed, Ways};

/// Measures sorts with a visitor beside the same sorts with a buffer in its place
#[derive(Parser)]
#[command(after_help = "\
The ways take turns. The first and the last result of each are verified. Bytes are those of one workgroup, or of OneSweep by
digits of 8 bits if no pass is skipped. --bytes prints them for all requests and measures nothing.")]
struct Args {
    /// The part that the visitor replaces: keys|pairs (keys and indices, which are sorted as pairs)|output
    #[arg(long, value_name = "PART", default_value = "keys", hide_possible_values = true)]
    replaces: Replaced,
    /// Bits of the keys: 32 (f32), 24 or 16
    #[arg(long, value_name = "BITS", default_value = "32", hide_possible_values = true)]
    keys: Keys,
    /// The source of a depth: vec4|packed (three floats)|float (the depth itself)
    #[arg(long, value_name = "INPUT", default_value = "packed", hide_possible_values = true)]
    input: Input,
    /// Sort the keys alone, without indices
    #[arg(long)]
    keys_only: bool,
    /// The element that --replaces output stores for each sorted index: index|splat (16 bytes that it leads to) [default: index]
    #[arg(long, value_name = "STORE", hide_possible_values = true)]
    store: Option<Store>,
    /// Elements
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..=1 << 26))]
    count: u32,
    /// Runs of each way
    #[arg(long, value_name = "N", default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// Seed of the positions
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Print the bytes of all requests
    #[arg(long, conflicts_with_all = ["keys_only", "runs"])]
    bytes: bool,
    #[command(flatten)]
    common: common::Common,
}

/// Rounds before those that count.
const WARM_UP: u32 = 2;

fn main() -> ExitCode {
    common::run(visitors)
}

fn visitors() -> Result<()> {
    let args: Args = common::parse()?;
    let Args { replaces, keys, input, keys_only, store, count, .. } = args;
    if args.bytes {
        common::say(bytes::all(count));
        return Ok(());
    }
    ensure!(replaces == Replaced::Keys || !keys_only, "--replaces is not keys, allowed with --keys-only is keys");
    ensure!(
        replaces == Replaced::Output || store.is_none(),
        "--replaces is not output, allowed with --store is output"
    );
    let store = store.unwrap_or(Store::Index);
    let case = Case { replaces, keys, input, keys_only, store, count };

    let device = Device::open(args.common.device.as_ref(), args.common.validate, &Extensions::default())?;
    let profile = device.requirements.profile();
    common::say(format!("device     {}, driver {}", profile.name, profile.driver));
    common::say(format!("elements   {count}, seed {}", args.seed));
    let mut rng = Rng::with_seed(args.seed);
    let floats: Vec<f32> = (0..count as usize * input.stride()).map(|_| rng.f32()).collect();
    let splats: Vec<u32> = (0..count as usize * 4).map(|_| rng.u32(..)).collect();
    let ways = Ways::new(&device, &case, &floats, &splats, args.common.algorithm)?;
    common::say(format!("algorithm  {}", ways.algorithm()));
    let expected = expected(&case, &floats, &splats);
    let (mut visited, mut buffered) = (Vec::new(), Vec::new());
    for round in 0..WARM_UP + args.runs {
        for (way, times) in [(&ways.visitor, &mut visited), (&ways.buffer, &mut buffered)] {
            let is_verified = round == 0 || round == WARM_UP + args.runs - 1;
            if is_verified {
                way.clear()?;
            }
            let timed = way.run()?;
            if is_verified {
                ensure!(way.result()? == expected, "the result {} is not that of a stable sort on the CPU", way.name);
            }
            if round >= WARM_UP {
                times.push(timed);
            }
        }
    }
    common::say("verified   both results equal that of a stable sort on the CPU\n");
    report(&case, ways.algorithm(), [&visited, &buffered]);
    common::check_validation(&vk::validation_errors())
}

/// The result of a stable sort on the CPU.
fn expected(case: &Case, floats: &[f32], splats: &[u32]) -> Vec<u32> {
    let key = |index: usize| {
        let at = index * case.input.stride();
        let depth = match case.input {
            Input::Float => floats[at],
            _ => floats[at] * ROW[0] + floats[at + 1] * ROW[1] + floats[at + 2] * ROW[2] + ROW[3],
        };
        case.keys.of(depth)
    };
    let of = case.keys.depth().request().key;
    let mut order: Vec<u32> = (0..case.count).collect();
    order.sort_by_cached_key(|index| of.sortable(key(*index as usize).into(), Order::Descending));
    if case.keys_only {
        let keys = order.into_iter().map(|index| key(index as usize));
        let words = match case.keys {
            Keys::Bits16 => {
                // Behind an odd number of keys, the half word is still clear.
                let halves: Vec<u16> = keys.map(|key| key as u16).collect();
                halves
                    .chunks(2)
                    .map(|pair| pair.iter().rev().fold(0, |word, half| word << 16 | u32::from(*half)))
                    .collect()
            }
            _ => keys.collect(),
        };
        return words;
    }
    match (case.replaces, case.store) {
        (Replaced::Output, Store::Splat) => {
            order.into_iter().flat_map(|index| splats[4 * index as usize..][..4].to_vec()).collect()
        }
        _ => order,
    }
}

/// Prints the steps of both ways with times and bytes, and the ratio of both.
fn report(case: &Case, algorithm: Algorithm, [visited, buffered]: [&[Timed]; 2]) {
    let moved = [bytes::visited(case, algorithm), bytes::buffered(case, algorithm)];
    for ((name, runs), moved) in [("with a visitor", visited), ("with a buffer", buffered)].into_iter().zip(&moved) {
        let mut table = Table::new();
        table.set_header([name, "median time", "bytes an element"]);
        for (step, (label, _)) in runs[0].steps.iter().enumerate() {
            let times: Vec<f64> = runs.iter().map(|run| run.steps[step].1).collect();
            let bytes = moved.iter().find(|(name, _)| name == label).map(|(_, bytes)| bytes.to_string());
            table.add_row([label.clone(), common::duration(Quartiles::of(&times).median), bytes.unwrap_or_default()]);
        }
        let totals: Vec<f64> = runs.iter().map(|run| run.total).collect();
        let Quartiles { q25, median, q75 } = Quartiles::of(&totals);
        let times = format!("{} ({}, {})", common::duration(median), common::duration(q25), common::duration(q75));
        let bytes = if moved.is_empty() { String::new() } else { bytes::sum(moved).to_string() };
        table.add_row(["all (quartiles)".into(), times, bytes]);
        common::say(format!("{}\n", common::table_text(table, false)));
    }
    let pairs = visited.iter().zip(buffered);
    let ratios: Vec<f64> = pairs.map(|(visited, buffered)| visited.total / buffered.total).collect();
    let Quartiles { q25, median, q75 } = Quartiles::of(&ratios);
    let mut line = format!("ratio      time {median:.3} (quartiles {q25:.3} and {q75:.3})");
    if let [visited, buffered] = moved.map(|steps| bytes::sum(&steps) as f64)
        && buffered > 0.0
    {
        line += &format!(", bytes {:.3}", visited / buffered);
    }
    common::say(line);
}
