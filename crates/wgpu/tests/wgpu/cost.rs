//! What recording costs the host: through wgpu, and beside it the same sort recorded into a command buffer of Vulkan.

use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use vksort::standalone::Gpu;
use vksort::{Count, SortBuffers, SorterOptions};
use vksort_wgpu::wgpu::BufferUsages;

use crate::{bench, bind, pairs};
use vksort_testing::validating;

const RECORDINGS: usize = 400;

/// The least of many recordings is held against a limit, as what else the machine does only adds to the others. The layer
/// multiplies the time.
pub fn recording_takes_microseconds() -> Result<(), Failed> {
    let most = if validating() { Duration::from_millis(20) } else { Duration::from_micros(300) };
    let bench = bench();
    let count = 1u32 << 20;
    let buffer = |size| bench.buffer(size, BufferUsages::STORAGE);
    let (keys, values, number) = (buffer(4 * u64::from(count)), buffer(4 * u64::from(count)), buffer(4));
    let buffers = SortBuffers::new(count).keys(keys.slice(..)).values(values.slice(..)).count(number.slice(..));
    let sorter = bench.sorter(&pairs())?;
    let sort = bind(&sorter, buffers)?;
    let direct = Gpu::best()?.sorter(&pairs(), &SorterOptions::default())?.prepare(count)?;
    for count in [Count::Host(count), Count::Device] {
        let mut through = Vec::new();
        for _ in 0..RECORDINGS {
            let started = Instant::now();
            let commands = sort.record(count)?;
            through.push(started.elapsed());
            drop(commands);
        }
        let mut direct = direct.time_recording(count, RECORDINGS)?;
        for times in [&mut through, &mut direct] {
            times.sort();
        }
        let show = |times: &[Duration]| format!("{:?} at least, {:?} in the median", times[0], times[RECORDINGS / 2]);
        println!("recording pairs, {count:?}: through wgpu {}; direct {}", show(&through), show(&direct));
        assert!(through[0] <= most, "recording takes {:?}, allowed is {most:?}", through[0]);
    }
    Ok(())
}
