//! What warms a sort up: it changes nothing but scratch, whatever the buffers hold.
#![allow(unsafe_code, reason = "the recording API is for programs that call Vulkan")]

use std::time::Instant;

use vksort::standalone::DeviceBuffer;
use vksort::{
    Algorithm, BoundSort, BufferRange, Capacity, KeyField, KeyOutput, KeyType, Placement, Segments, SortBuffers,
    SortRequest, Sorter, SorterOptions, ValueType, VisitorResources,
};
use vksort_testing::{Failed, assert_valid, expect, gpu, seed, suite};

/// Requests with each kind of step.
fn requests() -> Vec<SortRequest> {
    let keys = SortRequest::new(KeyType::U32);
    let out = keys.placement(Placement::OutOfPlace);
    let index = out.value(ValueType::Index);
    vec![
        keys,
        keys.value(ValueType::Bytes(40)),
        SortRequest::new(KeyType::U64).bits(0..8),
        index.bits(3..3),
        index.key_output(KeyOutput::Discarded),
        keys.segments(Segments::Offsets),
        keys.value(ValueType::U32).segments(Segments::Ranges).up_to(20),
        out.segments(Segments::RowsOf { stride: 300 }),
        index.segments(Segments::Rows { stride: 5_000 }).top(9),
        out.segments(Segments::Offsets).top(9),
        out.segments(Segments::Whole).top(9),
        SortRequest::records(12, [KeyField::new(0, KeyType::U32), KeyField::new(4, KeyType::I32)]),
    ]
}

/// Every buffer is full of noise, also the words of segments and the count, and keeps it.
fn changes_nothing(request: &SortRequest) -> Result<(), Failed> {
    let (gpu, mut random) = (gpu(), fastrand::Rng::with_seed(seed()));
    let device = gpu.device();
    // SAFETY: the device was created with its requirements, and is closed at the end of the tests.
    let sorter = unsafe {
        let options = SorterOptions::default().tuning(suite::small_blocks());
        Sorter::new(&device.raw, &device.requirements, request, &options)?
    };
    let capacity = Capacity::new(40_000).segments(if request.segments.is_some() { 8 } else { 0 });
    let sizes = sorter.buffer_sizes(capacity);
    let scratch = gpu.buffer(sorter.scratch_size(capacity)?.max(4))?;
    let wanted = [sizes.keys, sizes.values, sizes.keys_out, sizes.values_out, sizes.segments, Some(4)];
    let mut made: Vec<Option<(DeviceBuffer, Vec<u8>)>> = Vec::new();
    for size in wanted {
        let noise = |size: u64| -> Result<_, Failed> {
            let bytes: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(size as usize).collect();
            let buffer = gpu.buffer(size)?;
            buffer.write(0, &bytes)?;
            Ok((buffer, bytes))
        };
        made.push(size.map(noise).transpose()?);
    }
    let range = |at: usize| made[at].as_ref().map(|(buffer, _)| BufferRange::new(buffer.raw(), buffer.size()));
    let buffers = SortBuffers::new(capacity)
        .keys(range(0))
        .values(range(1))
        .keys_out(range(2))
        .values_out(range(3))
        .segments(range(4))
        .count(range(5))
        .scratch(BufferRange::new(scratch.raw(), scratch.size()));
    // SAFETY: the buffers are the device's, with every usage, and outlive the sort; what is recorded is waited for.
    unsafe {
        let sort = sorter.bind(&buffers)?;
        device.execute("a warm-up", |commands| {
            for _ in 0..2 {
                sort.record_warm_up(commands, None)?;
                BoundSort::OUTPUT_SCOPE.record_barrier(BoundSort::INPUT_SCOPE, &device.raw, commands);
            }
            Ok(())
        })?;
        for (buffer, before) in made.iter().flatten() {
            let mut after = vec![0; before.len()];
            buffer.read(0, &mut after)?;
            assert!(after == *before, "{request}: a buffer was changed");
        }
        // Commands are refused before anything is recorded.
        let resources = VisitorResources::default();
        expect(sort.record_warm_up(vksort::ash::vk::CommandBuffer::null(), resources), &["the sorter has no visitor"])?;
    }
    Ok(())
}

pub fn warm_ups_change_nothing() -> Result<(), Failed> {
    requests().iter().try_for_each(changes_nothing)?;
    assert_valid(&gpu());
    Ok(())
}

/// Without a cache of kernels, the driver compiles them in the first sort, or in the warm-up. With `--nocapture` it prints the times that
/// docs/guide/src/frame.md has:
///
/// ```text
/// VKSORT_TEST_SUITES=recording LP_NATIVE_VECTOR_WIDTH=256 MESA_SHADER_CACHE_DISABLE=true cargo --config scripts/checked.toml \
///     test --release --test device --features standalone,software-drivers,__testing -- the-first-sort-is-as-fast-as-others
/// ```
pub fn the_first_sort_is_as_fast_as_others() -> Result<(), Failed> {
    const UNCACHED: &str = "MESA_SHADER_CACHE_DISABLE";
    if gpu().profile().driver.contains("llvmpipe") && std::env::var_os(UNCACHED).is_none() {
        let mut again = std::process::Command::new(std::env::current_exe()?);
        again.args(["the-first-sort-is-as-fast-as-others"]).env(UNCACHED, "true");
        let output = again.env("VKSORT_TEST_SUITES", "recording").output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        return if output.status.success() { Ok(()) } else { Err(text.into_owned().into()) };
    }
    let gpu = gpu();
    let device = gpu.device();
    let request = SortRequest::new(KeyType::U32).value(ValueType::U32).algorithm(Algorithm::OneSweep);
    let timed = |warms: bool| -> Result<[f64; 3], Failed> {
        let sorter = gpu.sorter(&request, &SorterOptions::default())?;
        let sort = sorter.prepare(60_000)?;
        let run = || -> Result<f64, Failed> {
            let started = Instant::now();
            sort.run(60_000)?;
            Ok(started.elapsed().as_secs_f64() * 1e3)
        };
        let buffer = gpu.buffer(480_128)?;
        let scratch = gpu.buffer(sorter.scratch_size(60_000)?)?;
        let ranges = SortBuffers::new(60_000)
            .keys(BufferRange::new(buffer.raw(), 240_000))
            .values(BufferRange::new(buffer.raw(), 240_000).offset(240_128))
            .scratch(BufferRange::new(scratch.raw(), scratch.size()));
        let started = Instant::now();
        if warms {
            // SAFETY: the buffers are the device's, with every usage, and outlive the sort; what is recorded is waited for.
            unsafe {
                let bound = sorter.recording().bind(&ranges)?;
                device.execute("a warm-up", |commands| bound.record_warm_up(commands, None))?;
            }
        }
        let warmed = started.elapsed().as_secs_f64() * 1e3;
        Ok([warmed, run()?, run()?])
    };
    let ([_, cold, usual], [warmed, first, _]) = (timed(false)?, timed(true)?);
    println!(
        "first sort {cold:.1} ms, usual {usual:.1} ms; with a warm-up of {warmed:.1} ms the first takes {first:.1} ms"
    );
    // lavapipe compiles at the first dispatch.
    let compiles = gpu.profile().driver.contains("llvmpipe");
    assert!(!compiles || first < cold / 2.0, "the first sort takes {first} ms, without a warm-up {cold} ms");
    Ok(())
}
