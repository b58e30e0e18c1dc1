//! Recording a bound sort allocates nothing on the host.
#![allow(unsafe_code, reason = "a counting allocator has no safe form")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering as Atomic};

use vksort::standalone::Gpu;
use vksort::{Algorithm, Count, KeyType, Placement, SortRequest, SorterOptions, ValueType};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Atomic::Relaxed);
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

#[test]
fn recording_allocates_nothing() {
    assert!(std::hint::black_box(vec![1u8]).len() == 1 && ALLOCATIONS.load(Atomic::Relaxed) > 0, "nothing is counted");
    let gpu = Gpu::best().unwrap();
    let usual = SortRequest { value: ValueType::U32, ..SortRequest::new(KeyType::U32) };
    let with = |algorithm: &Algorithm| SortRequest { algorithm: Some(*algorithm), ..usual };
    let mut requests: Vec<SortRequest> = Algorithm::ALL.iter().map(with).collect();
    let algorithm = Some(Algorithm::OneSweep);
    // Every step that there is: a move, a gather.
    requests.push(SortRequest { algorithm, value: ValueType::Bytes(20), ..usual });
    requests.push(SortRequest { algorithm, bits: (3..3).into(), placement: Placement::OutOfPlace, ..usual });
    for request in requests {
        let sorter = gpu.sorter(&request, &SorterOptions::default()).unwrap();
        let count = 5_000.min(sorter.max_count());
        let sort = sorter.prepare(count).unwrap();
        sort.write_count(count).unwrap();
        sort.submit(count).unwrap();
        for count in [count.into(), (count / 2).into(), Count::Host(1), Count::Host(0), Count::Device] {
            let before = ALLOCATIONS.load(Atomic::Relaxed);
            sort.submit(count).unwrap();
            let made = ALLOCATIONS.load(Atomic::Relaxed) - before;
            assert_eq!(made, 0, "{request:?}, {count:?} elements: allocations while recording and submitting");
        }
    }
}
