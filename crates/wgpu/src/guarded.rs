//! Errors of wgpu as errors of vksort.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use wgpu::ErrorFilter;

use super::error::Error;

/// Runs calls of wgpu, and returns its first error instead of letting it reach the device's handler, which panics unless the
/// program has set another one.
pub(super) fn guarded<T>(device: &wgpu::Device, call: &'static str, work: impl FnOnce() -> T) -> Result<T, Error> {
    let filters = [ErrorFilter::Validation, ErrorFilter::OutOfMemory, ErrorFilter::Internal];
    let scopes = filters.map(|filter| device.push_error_scope(filter));
    let made = work();
    // The last scope is the innermost. Natively, the answer is there at once.
    let errors = scopes.into_iter().rev().filter_map(|scope| {
        match pin!(scope.pop()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(error) => error,
            Poll::Pending => None,
        }
    });
    // Every scope is popped.
    match errors.last() {
        Some(error) => Err(failed(call, error)),
        None => Ok(made),
    }
}

/// An error of wgpu. Its messages are trees over several lines.
pub(super) fn failed(call: &'static str, error: impl ToString) -> Error {
    Error::Wgpu { call, reason: error.to_string().split_whitespace().collect::<Vec<_>>().join(" ") }
}
