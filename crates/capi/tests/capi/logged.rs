//! Messages for a callback. The logger is the process's, so each test has a process of its own.

use std::ffi::{CStr, c_char, c_void};
use std::process::Command;
use std::ptr::{from_mut, from_ref, null_mut};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use std::{env, thread};

use vksort_capi::{log::*, sorter::*, types::*};

use crate::*;
use vksort_testing::process::run_within;

/// The variable that names the test which a process is for.
const APART: &str = "VKSORT_TEST_APART";

/// Longest time of a test.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs a test in a process of its own: this one, if it was started for it.
fn apart(test: &str, work: fn()) {
    if env::var(APART).is_ok_and(|name| name == test) {
        return work();
    }
    let name = format!("logged::{test}");
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([&name, "--exact"]).env(APART, test);
    let output = run_within(LIMIT, &mut command);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

/// Messages with their levels.
#[derive(Default)]
struct Kept(Mutex<Vec<(VksortLogLevel, String)>>);

impl Kept {
    fn take(&self) -> Vec<(VksortLogLevel, String)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn user_data(&self) -> *mut c_void {
        from_ref(self).cast_mut().cast()
    }
}

unsafe extern "C" fn keep(level: VksortLogLevel, text: *const c_char, kept: *mut c_void) {
    // SAFETY: it was set with these messages, and the text ends with a zero.
    let (kept, text) = unsafe { (&*kept.cast::<Kept>(), CStr::from_ptr(text)) };
    kept.0.lock().unwrap().push((level, text.to_str().unwrap().into()));
}

/// Messages of the level info for a new sorter: what was chosen, that pipelines are compiled, and how long all of them took.
const INFOS: usize = 3;

/// Messages of the levels that sorters have: those above, and the time of each pipeline.
fn log_something() {
    let request = u32_keys();
    let mut sorter = null_mut();
    done(c!(create_sorter(&vulkan().sorter_info(&request), &mut sorter)));
    done(destroy_sorter(sorter));
}

#[test]
fn messages_go_to_the_callback_that_was_set_last() {
    apart("messages_go_to_the_callback_that_was_set_last", || {
        let (first, second) = (Kept::default(), Kept::default());
        // Nothing is there to end yet.
        done(c!(set_log_callback(0, None, null_mut())));
        done(c!(set_log_callback(VKSORT_LOG_INFO, Some(keep), first.user_data())));
        log_something();
        let messages = first.take();
        assert!(messages.len() == INFOS && messages.iter().all(|message| message.0 == VKSORT_LOG_INFO), "{messages:?}");
        assert!(messages[0].1.contains("u32 keys") && messages[0].1.contains("tuning"), "{messages:?}");

        done(c!(set_log_callback(VKSORT_LOG_DEBUG, Some(keep), second.user_data())));
        log_something();
        let messages = second.take();
        let pipelines =
            messages.iter().filter(|(level, text)| *level == VKSORT_LOG_DEBUG && text.starts_with("pipeline "));
        assert!(pipelines.count() > 1 && messages.iter().any(|(level, _)| *level == VKSORT_LOG_INFO), "{messages:?}");

        for level in [VKSORT_LOG_WARNING, VKSORT_LOG_ERROR] {
            done(c!(set_log_callback(level, Some(keep), second.user_data())));
            log_something();
        }
        for level in [0, 5, u32::MAX] {
            let bad = c!(set_log_callback(level, Some(keep), first.user_data()));
            refused(bad, VKSORT_ERROR_VALUE, &["vksortSetLogCallback: level is", "a VKSORT_LOG_ of 1 to 4"]);
        }
        // What fails is logged too.
        assert_eq!(second.take().len(), 3);
        let request = VksortSortRequest { algorithm: 4, ..u32_keys() };
        let bad = c!(create_sorter(&vulkan().sorter_info(&request), &mut null_mut()));
        refused(bad, VKSORT_ERROR_VALUE, &["algorithm is 4"]);
        let expected = "vksortCreateSorter: algorithm is 4, allowed is a VKSORT_ALGORITHM_ of 0 to 3";
        assert_eq!(second.take(), [(VKSORT_LOG_ERROR, expected.to_string())]);
        done(c!(set_log_callback(VKSORT_LOG_DEBUG, None, null_mut())));
        log_something();
        assert!(first.take().is_empty() && second.take().is_empty());

        // What others log is not for the callback. What is not of C's texts is left out.
        done(c!(set_log_callback(VKSORT_LOG_DEBUG, Some(keep), first.user_data())));
        ::log::error!(target: "other", "of another crate");
        ::log::error!(target: "vksorted", "of another crate");
        ::log::warn!(target: "vksort::part", "zero \0 within");
        assert_eq!(first.take(), [(VKSORT_LOG_WARNING, "zero  within".to_string())]);
        done(c!(set_log_callback(0, None, null_mut())));
    });
}

/// What a callback has seen of calls within it.
#[derive(Default)]
struct Nested {
    calls: u32,
    code: VksortResult,
}

unsafe extern "C" fn nest(_: VksortLogLevel, _: *const c_char, nested: *mut c_void) {
    // SAFETY: it was set with this structure, and one thread logs.
    let nested = unsafe { &mut *nested.cast::<Nested>() };
    nested.calls += 1;
    log_something();
    nested.code = c!(set_log_callback(VKSORT_LOG_INFO, None, null_mut()));
}

#[test]
fn a_callback_may_call_all_but_one() {
    apart("a_callback_may_call_all_but_one", || {
        let mut nested = Nested::default();
        done(c!(set_log_callback(VKSORT_LOG_INFO, Some(nest), from_mut(&mut nested).cast())));
        log_something();
        done(c!(set_log_callback(0, None, null_mut())));
        assert_eq!((nested.calls as usize, nested.code), (INFOS, VKSORT_ERROR_LOGGER));
        assert!(text().contains("from a log callback"), "{}", text());
    });
}

/// Tells that the callback runs, and waits until it may end.
struct Gate {
    entered: Sender<()>,
    leave: Mutex<Receiver<()>>,
}

unsafe extern "C" fn wait(_: VksortLogLevel, _: *const c_char, gate: *mut c_void) {
    // SAFETY: it was set with this gate, which lives until the callback was replaced.
    let gate = unsafe { &*gate.cast::<Gate>() };
    gate.entered.send(()).unwrap();
    let _ = gate.leave.lock().unwrap().recv_timeout(LIMIT);
}

#[test]
fn a_callback_that_was_replaced_has_returned() {
    apart("a_callback_that_was_replaced_has_returned", || {
        vulkan();
        let ((entered, is_entered), (leave, may_leave)) = (channel(), channel());
        let gate = Gate { entered, leave: Mutex::new(may_leave) };
        done(c!(set_log_callback(VKSORT_LOG_INFO, Some(wait), from_ref(&gate).cast_mut().cast())));
        thread::scope(|scope| {
            scope.spawn(log_something);
            is_entered.recv_timeout(LIMIT).unwrap();
            let ending = scope.spawn(|| done(c!(set_log_callback(0, None, null_mut()))));
            thread::sleep(Duration::from_millis(200));
            assert!(!ending.is_finished(), "it returned while the callback ran");
            // Further messages of the same call may come before the writer of the lock wakes. They find the gate open.
            drop(leave);
        });
        while is_entered.try_recv().is_ok() {}
        log_something();
        assert!(is_entered.try_recv().is_err(), "a callback was called that was replaced");
    });
}

#[test]
fn another_logger_keeps_its_messages() {
    struct Other;
    static TAKEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    impl ::log::Log for Other {
        fn enabled(&self, _: &::log::Metadata<'_>) -> bool {
            true
        }
        fn log(&self, record: &::log::Record<'_>) {
            TAKEN.lock().unwrap().push(record.args().to_string());
        }
        fn flush(&self) {}
    }
    apart("another_logger_keeps_its_messages", || {
        ::log::set_logger(&Other).unwrap();
        ::log::set_max_level(::log::LevelFilter::Info);
        let kept = Kept::default();
        for _ in 0..2 {
            let taken = c!(set_log_callback(VKSORT_LOG_DEBUG, Some(keep), kept.user_data()));
            refused(taken, VKSORT_ERROR_LOGGER, &["the logger of the process is another one"]);
        }
        done(c!(set_log_callback(0, None, null_mut())));
        log_something();
        assert!(kept.take().is_empty());
        let taken = TAKEN.lock().unwrap();
        let (refusals, others): (Vec<_>, Vec<_>) = taken.iter().partition(|text| text.contains("another one"));
        assert_eq!((refusals.len(), others.len()), (2, INFOS), "{taken:?}");
    });
}
