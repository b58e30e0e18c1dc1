//! Turns the outcome of a call, also a panic, into a code and a text.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use vksort::Error;

use super::fault::Fault;
use super::types::*;
use super::words;

/// A code and the text about the fault.
pub(super) struct Failure {
    pub code: VksortResult,
    pub text: String,
}

impl Failure {
    /// A value that is not allowed.
    pub fn value(what: &str, given: impl std::fmt::Display, allowed: &str) -> Failure {
        Error::Unsupported { what: what.into(), given: given.to_string(), allowed: allowed.into() }.into()
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure { code: fault.code(), text: fault.to_string() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let code = match &error {
            Error::UnsuitableDevice { .. } => VKSORT_ERROR_UNSUITABLE_DEVICE,
            Error::NotEnabled { .. } => VKSORT_ERROR_NOT_ENABLED,
            Error::Unsupported { .. } => VKSORT_ERROR_VALUE,
            Error::MissingFeature { .. } => VKSORT_ERROR_NOT_BUILT,
            Error::MissingFunction { .. } => VKSORT_ERROR_MISSING_FUNCTION,
            Error::TooManyElements { .. } => VKSORT_ERROR_TOO_MANY_ELEMENTS,
            Error::BufferTooSmall { .. }
            | Error::OutOfBounds { .. }
            | Error::MisalignedOffset { .. }
            | Error::Overlap { .. }
            | Error::MissingUsage { .. }
            | Error::BufferPresence { .. } => VKSORT_ERROR_BUFFER,
            Error::ForeignPipelines { .. } => VKSORT_ERROR_HANDLE,
            Error::TooFewQueries { .. } | Error::TooFewTicks { .. } => VKSORT_ERROR_TOO_FEW_QUERIES,
            Error::Visitor { .. } => VKSORT_ERROR_VISITOR,
            // Codes of success are positive.
            Error::Vulkan { result, .. } if result.as_raw() < 0 => result.as_raw(),
            // What is left belongs to devices that vksort owns, and faults of its own.
            _ => VKSORT_ERROR_INTERNAL,
        };
        Failure { code, text: words::of_error(&error) }
    }
}

thread_local! {
    static LAST: RefCell<Option<CString>> = const { RefCell::new(None) };
}

#[cfg(feature = "__testing")]
thread_local! {
    /// Has the next call of this thread panic, to see that it gives a code.
    pub static FAULT: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Runs a call. The text of a failure is kept for its thread, and logged.
pub(super) fn run(call: &'static str, work: impl FnOnce() -> Result<VksortResult, Failure>) -> VksortResult {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "__testing")]
        assert!(!FAULT.replace(false), "asked for by a test");
        work()
    }));
    match outcome {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => keep(call, failure),
        Err(panic) => keep(call, Fault::Panic(message(&*panic).into()).into()),
    }
}

/// Keeps and logs the text of a failure, and gives its code.
#[cold]
fn keep(call: &'static str, failure: Failure) -> VksortResult {
    let text = format!("{call}: {}", failure.text);
    log::error!("{text}");
    // A thread that is ending has no text any more.
    let _ = LAST.try_with(|last| last.replace(Some(c_text(text))));
    failure.code
}

/// A text for C, without the zeros in it.
pub(super) fn c_text(text: String) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// The same for calls that have nothing else to return.
pub(super) fn run_unit(call: &'static str, work: impl FnOnce() -> Result<(), Failure>) -> VksortResult {
    run(call, || work().map(|()| VKSORT_SUCCESS))
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown")
}

/// The error of the last call of this thread that failed, as UTF-8 text that ends with a zero; empty if none has failed.
///
/// - Never null. The text belongs to vksort and stays until another call of the same thread fails.
/// - Any thread may call it at any time. Each thread has its own text.
#[unsafe(export_name = "vksortGetLastErrorText")]
pub extern "C" fn last_error_text() -> *const c_char {
    let text = LAST.try_with(|last| last.borrow().as_ref().map(|text| text.as_ptr()));
    text.ok().flatten().unwrap_or(c"".as_ptr())
}
