//! A device is busy whenever nothing is timed, and only then.

use std::thread;
use std::time::{Duration, Instant};

use vksort_lab::awake::Awake;

#[test]
fn nothing_runs_beside_what_is_timed() {
    let awake = Awake::start(None).unwrap();
    for _ in 0..3 {
        let alone = awake.pause();
        let before = awake.sorts();
        thread::sleep(Duration::from_millis(100));
        assert_eq!(awake.sorts(), before, "a sort ran beside what is timed");
        drop(alone);
        let started = Instant::now();
        while awake.sorts() == before {
            assert!(started.elapsed() < Duration::from_secs(60), "the device is idle between runs");
            thread::sleep(Duration::from_millis(1));
        }
    }
}
