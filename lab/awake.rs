//! Keeps a GPU at its clock while the host is busy between runs.
//!
//! A GPU without work lowers its clock, and takes its time to raise it: after a second of compiling or comparing on the host an H100
//! is at 345 instead of 1,980 MHz, and stays there for more than a second of short runs. A thread with a device of its own gives it
//! something to do whenever nothing is timed.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use vksort::standalone::{DeviceChoice, Gpu, GpuOptions, PreparedSort};
use vksort::{KeyType, Placement, SortRequest, SorterOptions};
use vksort_programs::common;

/// What a GPU may take to raise its clock.
const RISE: Duration = Duration::from_secs(3);

/// Elements of the sorts between runs: a run waits for the one that is under way.
const ELEMENTS: u32 = 1 << 20;

/// A device that is busy whenever nothing is timed.
#[derive(Debug)]
pub struct Awake {
    since: Instant,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    paused: bool,
    sorting: bool,
    over: bool,
    sorts: u64,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, State>, until: impl Fn(&State) -> bool) -> MutexGuard<'a, State> {
        self.changed.wait_while(state, |state| !until(state)).unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }
}

/// The time in which nothing else runs on the device; it ends when this goes.
#[derive(Debug)]
pub struct Alone<'a>(&'a Shared);

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.0.change(|state| state.paused = false);
    }
}

impl Awake {
    /// Keeps the device of `gpu` busy, unless it is a CPU.
    ///
    /// # Errors
    ///
    /// As [`Gpu::new`].
    pub fn new(gpu: &Gpu, choice: Option<&DeviceChoice>) -> anyhow::Result<Awake> {
        if gpu.profile().is_cpu {
            return Ok(Awake { since: Instant::now(), shared: Arc::default(), thread: None });
        }
        Awake::start(choice)
    }

    /// Keeps any device busy.
    ///
    /// # Errors
    ///
    /// As [`Gpu::new`].
    pub fn start(choice: Option<&DeviceChoice>) -> anyhow::Result<Awake> {
        let gpu = Gpu::new(&GpuOptions::default().device(choice.cloned()))?;
        let sort = sort(&gpu)?;
        let shared: Arc<Shared> = Arc::default();
        let of_thread = Arc::clone(&shared);
        let thread = thread::spawn(move || keep_busy(&of_thread, &sort));
        Ok(Awake { since: Instant::now(), shared, thread: Some(thread) })
    }

    /// Leaves the device to the caller until what is returned goes. The first call waits until the clock has risen.
    pub fn pause(&self) -> Alone<'_> {
        if self.thread.is_some() {
            thread::sleep(RISE.saturating_sub(self.since.elapsed()));
        }
        self.shared.change(|state| state.paused = true);
        drop(self.shared.wait(self.shared.state(), |state| !state.sorting));
        Alone(&self.shared)
    }

    /// How many sorts have filled the time between runs.
    pub fn sorts(&self) -> u64 {
        self.shared.state().sorts
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        self.shared.change(|state| state.over = true);
        if let Some(thread) = self.thread.take() {
            // It says itself what it could not do.
            let _ = thread.join();
        }
    }
}

/// Out of place, as keys in order would be no work.
fn sort(gpu: &Gpu) -> anyhow::Result<PreparedSort> {
    let request = SortRequest::new(KeyType::U32).placement(Placement::OutOfPlace);
    let sort = gpu.sorter(&request, &SorterOptions::default().capacity(ELEMENTS))?.prepare(ELEMENTS)?;
    let keys: Vec<u32> = (0..ELEMENTS).map(|index| index.wrapping_mul(0x9E37_79B1)).collect();
    sort.write_keys(&keys)?;
    Ok(sort)
}

/// Sorts whenever nobody is alone on the device, until it is over or fails.
fn keep_busy(shared: &Shared, sort: &PreparedSort) {
    loop {
        let mut state = shared.wait(shared.state(), |state| !state.paused || state.over);
        if state.over {
            return;
        }
        state.sorting = true;
        drop(state);
        let result = sort.run(ELEMENTS);
        shared.change(|state| {
            state.sorting = false;
            state.sorts += 1;
        });
        if let Err(error) = result {
            common::say_on_stderr(format!("the device is idle between runs, so its clock may be low: {error}"));
            return;
        }
    }
}
