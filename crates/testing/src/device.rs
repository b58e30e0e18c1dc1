//! The device that trials run on, and what the environment says about it.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use libtest_mimic::Failed;
use vksort::standalone::{Gpu, GpuOptions};

/// Expects an error of one line that holds these words.
pub fn expect<T>(result: Result<T, impl Display>, words: &[&str]) -> Result<(), Failed> {
    let message = match result {
        Ok(_) => return Err(format!("this should have been refused by an error with {words:?}").into()),
        Err(error) => error.to_string(),
    };
    assert!(!message.contains('\n'), "{message:?} has several lines");
    match words.iter().find(|word| !message.contains(*word)) {
        Some(word) => Err(format!("{message:?} does not name {word:?}").into()),
        None => Ok(()),
    }
}

/// How much of the matrix runs (`VKSORT_TEST_LEVEL`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Every size with many patterns.
    Full,
    /// Every size and every pattern, but at larger sizes not each with each.
    Reduced,
}

/// The level that the environment names; reduced without one.
pub fn level() -> Level {
    match std::env::var("VKSORT_TEST_LEVEL").as_deref() {
        Ok("full") => Level::Full,
        Ok("reduced") | Err(_) => Level::Reduced,
        Ok(other) => panic!("VKSORT_TEST_LEVEL is {other:?}, allowed is full or reduced"),
    }
}

/// Whether a test takes a combination of choices, given by their numbers: all combinations at the full level, and else half of
/// them, or a third of those of three choices. The seed says which; of several choices, each is among them.
pub fn takes(choices: &[usize]) -> bool {
    let parts = choices.len().max(2) as u64;
    let sum = choices.iter().sum::<usize>() as u64;
    level() == Level::Full || seed().wrapping_add(sum).is_multiple_of(parts)
}

/// The seed of all generated data (`VKSORT_SEED`).
pub fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| match std::env::var("VKSORT_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("VKSORT_SEED is {text:?}, allowed is a number")),
        Err(_) => 20_240_917,
    })
}

/// Whether devices are opened under the validation layer (`VKSORT_VALIDATE=1`).
pub fn validating() -> bool {
    std::env::var("VKSORT_VALIDATE").is_ok_and(|value| value == "1")
}

/// Opens the device that the environment names, under validation if `VKSORT_VALIDATE=1`, and without optional features if
/// `VKSORT_LEAST=1`. With `VKSORT_LEAST=emulated` it also counts as a device of an unknown driver, which emulates subgroups.
pub fn open() -> Gpu {
    let (least, unknown_driver) = match std::env::var("VKSORT_LEAST").as_deref() {
        Ok("1") => (true, false),
        Ok("emulated") => (true, true),
        Ok(other) => panic!("VKSORT_LEAST is {other:?}, allowed is 1 or emulated"),
        Err(_) => (false, false),
    };
    let options = GpuOptions::default().validation(validating()).least(least).unknown_driver(unknown_driver);
    let gpu = match Gpu::new(&options) {
        Ok(gpu) => gpu,
        Err(error) => panic!("no device to test on: {error}"),
    };
    if let Ok(expected) = std::env::var("VKSORT_EXPECT_SUBGROUP") {
        let given = gpu.profile().subgroup_size;
        assert_eq!(given.to_string(), expected, "the configuration did not take effect: subgroup size of the device");
    }
    gpu
}

/// Every device that is open. Threads only know theirs: what a thread owns may outlive the end of `main`, and layers
/// that still know a device then end the process badly.
static DEVICES: Mutex<Vec<Arc<Gpu>>> = Mutex::new(Vec::new());

thread_local! {
    static GPU: RefCell<Weak<Gpu>> = const { RefCell::new(Weak::new()) };
}

/// The device of this thread, which the trials that run on it share: drivers compile kernels on the thread that first
/// uses them, so a device for each thread keeps all cores busy.
pub fn gpu() -> Arc<Gpu> {
    GPU.with_borrow_mut(|kept| {
        kept.upgrade().unwrap_or_else(|| {
            let gpu = Arc::new(open());
            DEVICES.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&gpu));
            *kept = Arc::downgrade(&gpu);
            gpu
        })
    })
}

/// Lets the pipelines of the suite before go when a thread comes to the first trial of another one: a run of all suites would
/// keep those of thousands of kernels.
pub(crate) fn leave_suite(name: &'static str) {
    thread_local! {
        static SUITE: Cell<&'static str> = const { Cell::new("") };
    }
    if SUITE.replace(name) != name
        && let Some(gpu) = GPU.with_borrow(Weak::upgrade)
    {
        gpu.clear_pipelines().unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Fails when the validation layer has reported anything.
pub fn assert_valid(gpu: &Gpu) {
    let errors = gpu.validation_errors();
    assert!(errors.is_empty(), "{} validation errors, the first: {}", errors.len(), errors[0]);
}

/// Closes every device, which has to be done before the process ends.
pub fn close() {
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner).clear();
}
