//! A sampler of a language model: the largest logits of each row are found on the device, in one recorded call, and the host
//! samples a token from the softmax of these few. They and their tokens are checked against a sort on the host.
//!
//! To copy from. The device and the buffers are those of the program `splats`; `examples/record.rs` of the library has both in full.
#![allow(unsafe_code)]

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use ash::vk::BufferUsageFlags as Usage;
use clap::Parser;
use vksort::standalone::DeviceChoice;
use vksort::{AccessScope, BoundSort, Capacity, IndexFrom, KeyType, Order, Placement};
use vksort::{Segments, SortBuffers, SortRequest, Sorter, SorterOptions, ValueType};
use vksort_programs::common::vk::buffer::{Buffer, barrier};
use vksort_programs::common::vk::device::{Device, Extensions, validation_errors};
use vksort_programs::common::{self, say};

/// Samples a token from the largest logits of each row
#[derive(Parser)]
struct Args {
    /// Rows: sequences that a model continues at the same time
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=4096))]
    rows: u32,
    /// Logits of a row: the tokens that a model knows
    #[arg(long, value_name = "N", default_value_t = 128_256, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    columns: u32,
    /// Tokens to sample from
    #[arg(long, value_name = "K", default_value_t = 40)]
    top: u32,
    /// Seed of the logits and of the sampler
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// "best", an index or part of a name [default: $VKSORT_DEVICE, else best]
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceChoice>,
    /// Check with the Vulkan validation layer, including synchronization
    #[arg(long)]
    validate: bool,
}

fn sample() -> Result<()> {
    let Args { rows, columns, top, seed, device, validate } = common::parse()?;
    let mut random = fastrand::Rng::with_seed(seed);
    // Models compute in bf16, so that many logits are equal: of these, the sort takes the lowest tokens, in every run and on every
    // device.
    let logit = |from: &mut fastrand::Rng| {
        let normal = (0..12).map(|_| from.f32()).sum::<f32>() - 6.0;
        f32::from_bits((4.0 * normal).to_bits() & 0xFFFF_0000)
    };
    let count = rows
        .checked_mul(columns)
        .with_context(|| format!("--rows {rows} and --columns {columns} are more than 2^32 - 1 logits together"))?;
    let logits: Vec<f32> = (0..count).map(|_| logit(&mut random)).collect();

    // Once: the sorter, its buffers, and the bound sort.
    let largest = SortRequest::new(KeyType::F32).value(ValueType::Index).order(Order::Descending);
    let of_rows = largest.segments(Segments::Rows { stride: columns }).indices_from(IndexFrom::Segment);
    let request = of_rows.placement(Placement::OutOfPlace).top(top);
    let device = Device::open(device.as_ref(), validate, &Extensions::default())?;
    say(format!("device     {}", device.requirements.profile().name));
    say(format!("request    {request}"));
    // SAFETY: the device was created with what the requirements name, and outlives the sorter.
    let sorter = unsafe { Sorter::new(&device.raw, &device.requirements, &request, &SorterOptions::default())? };
    let capacity = Capacity::new(count).segments(rows);
    let sizes = sorter.buffer_sizes(capacity);
    let usage = sorter.element_usage() | Usage::TRANSFER_SRC;
    let output = |what, size: Option<u64>| Buffer::new(&device, what, size.context("top is out of place")?, usage);
    let keys = Buffer::with(&device, "the logits", &logits, sorter.element_usage())?;
    let (best, tokens) = (output("the largest logits", sizes.keys_out)?, output("their tokens", sizes.values_out)?);
    // Short rows need no scratch, and Vulkan has no buffers of 0 bytes.
    let scratch = sorter.scratch_size(capacity)?.max(4);
    let scratch = Buffer::new(&device, "the scratch of the sort", scratch, sorter.scratch_usage())?;
    let buffers = SortBuffers::new(capacity).keys(keys.range()).keys_out(best.range()).values_out(tokens.range());
    // SAFETY: the buffers are the device's, and live until the sort is dropped.
    let sort = unsafe { sorter.bind(&buffers.scratch(scratch.range()))? };

    // For each token: the model's last pass, the sort, and what samples from its result.
    let mut recorded = Ok(());
    // SAFETY: everything is alive until the device has run the commands. The barrier orders what touches the sort's buffers.
    unsafe {
        device.run(|raw, commands| {
            barrier(raw, commands, AccessScope::TRANSFER_WRITE, BoundSort::INPUT_SCOPE);
            recorded = sort.record(commands, rows);
        })?;
    }
    recorded?;

    let taken = top.min(columns) as usize;
    let (best, tokens): (Vec<f32>, Vec<u32>) = (best.read((rows * top) as usize)?, tokens.read((rows * top) as usize)?);
    drop(sort);
    for (row, logits) in logits.chunks(columns as usize).enumerate() {
        let mut order: Vec<u32> = (0..columns).collect();
        order.sort_by(|a, b| logits[*b as usize].total_cmp(&logits[*a as usize]));
        let from = row * top as usize;
        let (best, tokens) = (&best[from..from + taken], &tokens[from..from + taken]);
        ensure!(*tokens == order[..taken], "row {row} has other tokens than a stable sort on the CPU");
        let own = tokens.iter().map(|token| logits[*token as usize].to_bits());
        ensure!(own.eq(best.iter().map(|logit| logit.to_bits())), "row {row} has other logits than its tokens");

        let weights: Vec<f32> = best.iter().map(|logit| (logit - best[0]).exp()).collect();
        let mut left = random.f32() * weights.iter().sum::<f32>();
        let chosen = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        let chosen = chosen.unwrap_or(taken - 1);
        let share = weights[chosen] / weights.iter().sum::<f32>();
        say(format!("row {row:<6} token {:>6}, the {}. of {taken}, p = {share:.3}", tokens[chosen], chosen + 1));
    }
    common::check_validation(&validation_errors())?;
    say(format!("verified   {rows} rows equal those of a stable sort on the CPU"));
    Ok(())
}

fn main() -> ExitCode {
    common::run(sample)
}
