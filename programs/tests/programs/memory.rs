//! How much memory a call takes at most.
#![allow(unsafe_code, reason = "a counting allocator has no safe form")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Bytes that this thread has, and the most that it had. Each thread counts its own: other tests run at the same time.
    static BYTES: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

fn changed(freed: usize, taken: usize) {
    let (bytes, most) = BYTES.get();
    // What another thread took may be freed here.
    let bytes = bytes.saturating_sub(freed) + taken;
    BYTES.set((bytes, most.max(bytes)));
}

// SAFETY: every call is passed on to the system's allocator as it is. Counting allocates nothing, as the counter takes no
// memory of its own and is never dropped.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        changed(0, layout.size());
        // SAFETY: the caller's duties are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        changed(layout.size(), 0);
        // SAFETY: the caller's duties are the same.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        changed(layout.size(), size);
        // SAFETY: the caller's duties are the same.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a call gives, and the most bytes that it had at a time beyond those from before.
pub fn most_during<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let before = BYTES.get().0;
    BYTES.set((before, before));
    let result = call();
    (result, BYTES.get().1 - before)
}

#[test]
fn memory_is_counted() {
    let (kept, most) = most_during(|| drop(std::hint::black_box(vec![1u8; 1 << 20])));
    assert_eq!(kept, ());
    assert!((1 << 20..2 << 20).contains(&most), "{most}");
}
