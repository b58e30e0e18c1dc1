//! What recording a bound sort costs the host.

use std::time::Duration;

use vksort::standalone::Gpu;
use vksort::{Count, KeyOutput, KeyType, SortRequest, SorterOptions, ValueType};
use vksort_testing::Trial;

/// The aim. The least of many recordings is held against it, as what else the machine does only adds to the others.
const MOST: Duration = Duration::from_micros(20);
const RECORDINGS: usize = 2_000;

fn recording_takes_microseconds() {
    let gpu = Gpu::best().unwrap();
    let count = 1 << 20;
    let keys = SortRequest::new(KeyType::U32);
    let argsort = keys.value(ValueType::Index).key_output(KeyOutput::Discarded);
    let requests = [("keys", keys), ("pairs", keys.value(ValueType::U32)), ("argsort", argsort)];
    for (what, request) in requests {
        let sort = gpu.sorter(&request, &SorterOptions::default()).unwrap().prepare(count).unwrap();
        for (whose, count) in [("host", Count::Host(count)), ("device", Count::Device)] {
            let times = sort.time_recording(count, RECORDINGS).unwrap();
            let (least, mean) = (times.iter().min().unwrap(), times.iter().sum::<Duration>() / RECORDINGS as u32);
            println!("{what}, count of the {whose}: {least:?} at least, {mean:?} in the mean");
            assert!(*least <= MOST, "recording {what} by the count of the {whose} took {least:?}, allowed is {MOST:?}");
        }
    }
}

pub fn trials() -> Vec<Trial> {
    vksort_testing::trials![recording_takes_microseconds]
}
