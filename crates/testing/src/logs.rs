//! What the library logs: shown as the variable `RUST_LOG` asks, and kept for the tests that read it.

use std::cell::RefCell;

use log::{LevelFilter, Log, Metadata, Record};

thread_local! {
    /// What was logged on this thread, if it is kept.
    static KEPT: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Shows what is asked for, and keeps what is logged on a thread that reads it.
struct Both(env_logger::Logger);

impl Log for Both {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.0.enabled(metadata) || KEPT.with_borrow(Option::is_some)
    }

    fn log(&self, record: &Record<'_>) {
        self.0.log(record);
        KEPT.with_borrow_mut(|kept| kept.iter_mut().for_each(|lines| lines.push(record.args().to_string())));
    }

    fn flush(&self) {
        self.0.flush();
    }
}

/// Makes this the logger of the process, once.
pub(crate) fn install() {
    let shown = env_logger::builder().is_test(true).build();
    if log::set_boxed_logger(Box::new(Both(shown))).is_ok() {
        log::set_max_level(LevelFilter::Trace);
    }
}

/// What is logged on this thread while something runs, in a binary of suites.
pub fn of<T>(run: impl FnOnce() -> T) -> (T, Vec<String>) {
    KEPT.set(Some(Vec::new()));
    let result = run();
    (result, KEPT.take().unwrap_or_default())
}
