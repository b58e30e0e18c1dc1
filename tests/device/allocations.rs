//! Recording a bound sort allocates nothing on the host.
#![allow(unsafe_code, reason = "a counting allocator has no safe form")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use vksort::ash::vk;
use vksort::standalone::{DeviceBuffer, Gpu};
use vksort::{
    Algorithm, BufferRange, Count, KeyType, Placement, QueryRange, SortBuffers, SortRequest, SorterOptions, ValueType,
};
use vksort_testing::Trial;

struct Counting;

thread_local! {
    /// Each thread counts its own: other trials run at the same time.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator as it is. Counting allocates nothing, as the counter takes no
// memory of its own and is never dropped.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's duties are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's duties are the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn recording_allocates_nothing() {
    assert!(std::hint::black_box(vec![1u8]).len() == 1 && ALLOCATIONS.get() > 0, "nothing is counted");
    let gpu = Gpu::best().unwrap();
    let usual = SortRequest::new(KeyType::U32).value(ValueType::U32);
    let with = |algorithm: &Algorithm| usual.algorithm(*algorithm);
    let mut requests: Vec<SortRequest> = Algorithm::ALL.iter().map(with).collect();
    // Every step that there is: a move, a gather.
    let usual = usual.algorithm(Algorithm::OneSweep);
    requests.push(usual.value(ValueType::Bytes(20)));
    requests.push(usual.bits(3..3).placement(Placement::OutOfPlace));
    for request in requests {
        let sorter = gpu.sorter(&request, &SorterOptions::default()).unwrap();
        let count = 5_000.min(sorter.max_count());
        let sizes = request.buffer_sizes(count);
        let buffer = |size: u64| gpu.buffer(size).unwrap();
        let number = buffer(4);
        number.write(0, &[count]).unwrap();
        let scratch = Some(sorter.scratch_size(count).unwrap()).filter(|size| *size > 0);
        let wanted = [sizes.keys, sizes.values, sizes.keys_out, sizes.values_out, scratch].map(|size| size.map(buffer));
        let range = |buffer: &DeviceBuffer| BufferRange::new(buffer.raw(), buffer.size());
        let [keys, values, keys_out, values_out, scratch] = wanted.each_ref().map(|buffer| buffer.as_ref().map(range));
        let buffers = SortBuffers::new(count)
            .keys(keys)
            .values(values)
            .keys_out(keys_out)
            .values_out(values_out)
            .scratch(scratch)
            .count(range(&number));
        // SAFETY: the buffers are the device's, have every usage flag, and outlive the sort.
        let sort = unsafe { sorter.recording().bind(&buffers) }.unwrap();
        let device = gpu.device();
        let counts = [count.into(), (count / 2).into(), Count::Host(1), Count::Host(0), Count::Device];
        let most = counts.map(|count| sort.query_count(count)).into_iter().max().unwrap();
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(most);
        // SAFETY: the device is alive; the pool is destroyed below.
        let pool = unsafe { device.raw.create_query_pool(&info, None) }.unwrap();
        let queries = QueryRange::new(pool, 0, most);
        let submit = |count: Count| {
            // SAFETY: the command buffer is recording, and the device is waited for.
            unsafe { device.execute("the sort", |commands| sort.record_timed(commands, count, queries)) }.unwrap();
        };
        submit(count.into());
        for count in counts {
            let before = ALLOCATIONS.get();
            submit(count);
            let made = ALLOCATIONS.get() - before;
            assert_eq!(made, 0, "{request:?}, {count:?} elements: allocations while recording and submitting");
        }
        // SAFETY: every sort was waited for.
        unsafe { device.raw.destroy_query_pool(pool, None) };
    }
}

pub fn trials() -> Vec<Trial> {
    vksort_testing::trials![recording_allocates_nothing]
}
