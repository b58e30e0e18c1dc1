//! Messages for a callback of the caller's.

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::sync::{OnceLock, PoisonError, RwLock};

use log::{Level, LevelFilter, Log, Metadata, Record};

use super::fault::Fault;
use super::names::one_of;
use super::outcome::{c_text, run_unit};
use super::types::*;
use super::words::in_c;

/// Takes a message. The text is UTF-8 with a zero at its end, and is valid during the call.
///
/// - userData: the pointer that vksortSetLogCallback was given.
/// - Threads that call vksort call it, several at once.
/// - It returns normally: no exceptions, no longjmp.
/// - Calls of vksort within it give no messages.
#[allow(non_snake_case, reason = "names are those of C")]
pub type PFN_vksortLog =
    Option<unsafe extern "C" fn(level: VksortLogLevel, text: *const c_char, userData: *mut c_void)>;

/// The callback that the caller has given.
struct Caller {
    callback: unsafe extern "C" fn(VksortLogLevel, *const c_char, *mut c_void),
    user_data: *mut c_void,
}

// SAFETY: the pointer is only handed back, and the caller's callback may be called from any thread, by the contract of
// `set_log_callback`.
unsafe impl Send for Caller {}
// SAFETY: as above.
unsafe impl Sync for Caller {}

/// Where messages go. A thread that logs holds it for reading, so a callback that was replaced has returned.
static CALLER: RwLock<Option<Caller>> = RwLock::new(None);
/// Whether the process has this logger, which is decided once.
static INSTALLED: OnceLock<bool> = OnceLock::new();

thread_local! {
    /// Whether the thread is in the callback.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

// The numbers of levels are those of the crate `log`.
const _: () = assert!(VKSORT_LOG_ERROR == Level::Error as u32 && VKSORT_LOG_DEBUG == Level::Debug as u32);

struct Logger;

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let of_vksort = matches!(metadata.target().split("::").next(), Some("vksort" | "vksort_capi"));
        of_vksort && metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let text = c_text(in_c(record.args().to_string()));
        if INSIDE.replace(true) {
            return;
        }
        let level = (record.level() as VksortLogLevel).min(VKSORT_LOG_DEBUG);
        if let Some(Caller { callback, user_data }) = &*CALLER.read().unwrap_or_else(PoisonError::into_inner) {
            // SAFETY: by the contract of `set_log_callback`; the text lives until it returns.
            unsafe { callback(level, text.as_ptr(), *user_data) };
        }
        INSIDE.set(false);
    }

    fn flush(&self) {}
}

/// Sets where messages go, for the whole process. Until then there are none.
///
/// - level: the least severe messages that are wanted, one of VKSORT_LOG_...; any number if callback is null.
/// - callback: it replaces the previous one. Null ends messages.
/// - `user_data`: handed to the callback. It belongs to the caller.
/// - Any thread may call it at any time. It waits until running callbacks have returned, and the previous one is not called
///   any more. So the calling thread must not hold a lock that the callback takes.
///
/// Fails with VKSORT_ERROR_LOGGER within a callback. It also fails if the process has another logger of the Rust crate
/// `log`, unless callback is null. Messages go there then, and the callback is not called.
///
/// # Safety
///
/// * The callback behaves as its type says, and may be called with `user_data` from any thread until it is replaced.
#[unsafe(export_name = "vksortSetLogCallback")]
pub unsafe extern "C" fn set_log_callback(
    level: VksortLogLevel,
    callback: PFN_vksortLog,
    user_data: *mut c_void,
) -> VksortResult {
    run_unit("vksortSetLogCallback", || {
        if INSIDE.get() {
            return Err(Fault::CallInCallback.into());
        }
        let (caller, level) = match callback {
            None => (None, LevelFilter::Off),
            Some(callback) => {
                let filters = [LevelFilter::Error, LevelFilter::Warn, LevelFilter::Info, LevelFilter::Debug];
                let filter = one_of("level", "VKSORT_LOG_", VKSORT_LOG_ERROR, &filters, level)?;
                if !INSTALLED.get_or_init(|| log::set_logger(&Logger).is_ok()) {
                    return Err(Fault::OtherLogger.into());
                }
                (Some(Caller { callback, user_data }), filter)
            }
        };
        let mut current = CALLER.write().unwrap_or_else(PoisonError::into_inner);
        *current = caller;
        // Another logger has a level of its own.
        if INSTALLED.get() == Some(&true) {
            log::set_max_level(level);
        }
        Ok(())
    })
}
