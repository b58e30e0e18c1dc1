//! Sorts with the row of the driver, whether or not the build has the kernels of software drivers.

use vksort::__private::kernels::SOFTWARE_DRIVERS;
use vksort::standalone::{Gpu, GpuOptions, SegmentsOf};
use vksort::{Key, Order, RankMethod, Segments, SortRequest, SorterOptions};
use vksort_testing::{Failed, Trial, assert_valid, logs, seed, validating};

/// Without these kernels, a CPU sorts by those of GPUs, and says so once.
fn a_build_sorts_on_drivers_that_it_has_no_kernels_for() -> Result<(), Failed> {
    let gpu = Gpu::new(&GpuOptions::default().validation(validating()))?;
    let is_cpu = gpu.profile().is_cpu;
    let request = SortRequest::new(u32::TYPE);
    let requests = [request, request.segments(Segments::Offsets)];
    let (sorters, lines) = logs::of(|| requests.map(|request| gpu.sorter(&request, &SorterOptions::default())));
    let warned = lines.iter().filter(|line| line.contains("software-drivers")).count();
    assert_eq!(warned, usize::from(is_cpu && !SOFTWARE_DRIVERS), "{lines:?}");
    for sorter in sorters {
        let private = sorter?.shape().ranking.method == RankMethod::Private;
        assert_eq!(private, is_cpu && SOFTWARE_DRIVERS);
    }
    let mut rng = fastrand::Rng::with_seed(seed());
    // A single workgroup, and passes over tiles with values.
    for count in [1_000u32, 100_000] {
        let keys: Vec<u32> = (0..count).map(|_| rng.u32(..1 << 16)).collect();
        let mut expected: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
        expected.sort();
        let (mut sorted, mut values) = (keys, (0..count).collect::<Vec<u32>>());
        gpu.sort_pairs(&mut sorted, &mut values, Order::Ascending)?;
        assert!(sorted.into_iter().zip(values).eq(expected), "{count} pairs");
    }
    let lengths = [0u32, 1, 40, 3_000, 60_000];
    let offsets: Vec<u32> = lengths.iter().scan(0, |end, length| Some(std::mem::replace(end, *end + length))).collect();
    let offsets = [offsets, vec![lengths.iter().sum()]].concat();
    let mut keys: Vec<u32> = (0..offsets[lengths.len()]).map(|_| rng.u32(..)).collect();
    let mut expected = keys.clone();
    for bounds in offsets.windows(2) {
        expected[bounds[0] as usize..bounds[1] as usize].sort_unstable();
    }
    gpu.sort_segments(&mut keys, SegmentsOf::Offsets(&offsets), Order::Ascending)?;
    assert!(keys == expected, "segments");
    assert_valid(&gpu);
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    let name = "a_build_sorts_on_drivers_that_it_has_no_kernels_for";
    vec![Trial::test(name, a_build_sorts_on_drivers_that_it_has_no_kernels_for)]
}
