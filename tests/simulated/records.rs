//! Sorts of records on the simulated device: their keys are composed of any fields, and nothing but their buffers changes.

use proptest::prelude::*;
use vksort::__private::ShapeDesc;
use vksort::__private::steps;
use vksort::{Count, Segments, SortRequest, Tuning, ValueType};
use vksort_testing::drawn::run_draws;
use vksort_testing::oracle;
use vksort_testing::records::{Bytes, bytes, drawn, order, stride};

use super::dispatch::Device;
use super::sort::Sort;
use super::{device_of, small_blocks};

/// All that a sort depends on.
#[derive(Clone, Debug)]
struct Draw {
    request: SortRequest,
    kind: Bytes,
    capacity: u32,
    /// The number of records on the device, if it comes from there, in percent of the capacity.
    counted: Option<u32>,
    /// Records of a row, if rows are sorted by themselves.
    row: Option<u32>,
    lanes: u32,
    addressed: bool,
    resident: usize,
    shows: usize,
    seed: u64,
}

fn draws() -> impl Strategy<Value = Draw> {
    let records = (any::<u64>(), prop::sample::select(&[Bytes::Uniform, Bytes::Few, Bytes::Constant]));
    let count = (0..250u32, prop::option::weighted(0.4, 0..150u32), prop::option::weighted(0.3, 1..40u32));
    let device = (prop::sample::select(&[4u32, 16, 64]), any::<bool>());
    let run = (prop::sample::select(&[1usize, 3, 8]), prop::sample::select(&[0usize, 4, 64]));
    (records, count, device, run).prop_map(
        |((seed, kind), (capacity, counted, row), (lanes, addressed), (resident, shows))| Draw {
            request: drawn(&mut fastrand::Rng::with_seed(seed)),
            kind,
            capacity: row.map_or(capacity, |row| capacity / row * row),
            counted: counted.filter(|_| row.is_none()),
            row,
            lanes,
            addressed,
            resident,
            shows,
            seed,
        },
    )
}

fn run(draw: &Draw) -> Result<(), String> {
    let text = |error: vksort::Error| error.to_string();
    let Draw { request, capacity, .. } = draw;
    let divided = draw.row.map_or(*request, |stride| request.segments(Segments::Rows { stride }));
    let (sort, fields) = steps::resolve(&divided).map_err(text)?;
    let profile = device_of(draw.lanes, true);
    let tuning = Tuning { histogram_workgroup_size: 16, ..small_blocks(draw.lanes) };
    let desc =
        ShapeDesc { addressed: draw.addressed, fields, ..ShapeDesc::new(&profile, &tuning, &sort, tuning.algorithm()) };
    let counted = draw.counted.map(|percent| capacity * percent / 100);
    let host = match draw.row {
        Some(row) => steps::of_segments(&desc, *capacity, capacity / row, Count::Host(capacity / row)),
        None => steps::of(&desc, *capacity, counted.map_or(Count::Host(*capacity), |_| Count::Device)),
    };
    let host = match host {
        // The block is too small for a row.
        Err(vksort::Error::Unsupported { .. } | vksort::Error::UnsuitableDevice { .. }) if draw.row.is_some() => {
            return Ok(());
        }
        host => host.map_err(text)?,
    };
    let device = Device { lanes: draw.lanes, resident: draw.resident, shuffles: true, shows: draw.shows, late: None };
    let mut rng = fastrand::Rng::with_seed(draw.seed);
    let size = stride(request);
    let records = bytes(draw.kind, *capacity as usize * size, &mut rng);
    let run = Sort {
        request: &sort,
        host: &host,
        keys: &records,
        stride: fields.map(|_| size as u32),
        capacity: *capacity,
        counted,
        device,
        changed: None,
        disturbed: None,
    };
    let (found, _) = run.run(&mut rng)?;
    let sorted = counted.map_or(*capacity, |counted| counted.min(*capacity));
    let row = draw.row.unwrap_or(sorted).max(1);
    let rows = (0..sorted.div_ceil(row)).map(|index| index * row..((index + 1) * row).min(sorted));
    let order: Vec<u32> = rows.flat_map(|row| order(request, &records, row)).collect();
    let (found, expected, size) = match request.value {
        ValueType::Index => (found.values, order.iter().flat_map(|index| index.to_le_bytes()).collect(), 4),
        _ => (found.keys, oracle::gather(&records, size, &order), size),
    };
    oracle::difference("records", size, &found.unwrap_or_default(), &expected).map_or(Ok(()), Err)
}

#[test]
fn records_are_sorted_by_any_fields() {
    run_draws("tests/regressions/records.txt", draws, run);
}
