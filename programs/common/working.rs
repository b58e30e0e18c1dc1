//! [`Working`]: what long work is at, and how long it has taken.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// How long work goes on without a line, where stderr is no terminal.
const QUIET: Duration = Duration::from_secs(10);

/// What long work is at and how long it has taken, on stderr: beside a spinner where that is a terminal, whose clock goes on whatever
/// the work waits for, else in a line every ten seconds. It ends when it is dropped.
pub struct Working {
    what: Arc<Mutex<String>>,
    spinner: Option<ProgressBar>,
    lines: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

impl Working {
    /// Work that is expected to take so long, if that is known.
    pub fn new(what: impl Into<String>, expected: Option<Duration>) -> Working {
        let what = Arc::new(Mutex::new(what.into()));
        let (spinner, lines) = match io::stderr().is_terminal() {
            true => (Some(spinner(expected)), None),
            false => (None, Some(lines(Arc::clone(&what), expected))),
        };
        let working = Working { what, spinner, lines };
        working.is_at(working.text());
        working
    }

    /// Says what the work is at now.
    pub fn is_at(&self, what: impl Into<String>) {
        let what = what.into();
        if let Some(spinner) = &self.spinner {
            spinner.set_message(what.clone());
        }
        *self.what.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }

    fn text(&self) -> String {
        self.what.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
        if let Some((ends, thread)) = self.lines.take() {
            drop(ends);
            let _ = thread.join();
        }
    }
}

fn spinner(expected: Option<Duration>) -> ProgressBar {
    let of = expected.map_or(String::new(), |expected| format!(" of {} s", expected.as_secs()));
    let style = ProgressStyle::with_template(&format!("{{spinner}} {{elapsed}}{of} {{wide_msg}}"));
    let spinner = ProgressBar::new_spinner().with_style(style.expect("the template is valid"));
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

fn lines(what: Arc<Mutex<String>>, expected: Option<Duration>) -> (mpsc::Sender<()>, JoinHandle<()>) {
    let (ends, ended) = mpsc::channel::<()>();
    let thread = thread::spawn(move || {
        let started = Instant::now();
        while ended.recv_timeout(QUIET) == Err(mpsc::RecvTimeoutError::Timeout) {
            let what = what.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let seconds = started.elapsed().as_secs();
            let of = expected.map_or(String::new(), |expected| format!(" of {}", expected.as_secs()));
            // Where nobody listens, the work goes on.
            let _ = writeln!(io::stderr(), "{what}, for {seconds}{of} s");
        }
    });
    (ends, thread)
}

/// Does something that may take long, with its name and its time on stderr.
pub fn during<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    let _working = Working::new(what, None);
    work()
}
