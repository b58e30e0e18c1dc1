//! What the first sort of a kind costs on lavapipe, whose compiler takes time that grows with the square of some kernels' arrays:
//! CPU time of `sort` with an empty cache of kernels. The command of the table in docs/PERFORMANCE.md:
//!
//! ```text
//! LP_NATIVE_VECTOR_WIDTH=256 cargo --config scripts/checked.toml test --release --package vksort-programs --test programs -- \
//!     --nocapture first
//! ```

use std::process::Command;

use vksort::standalone::Gpu;
use vksort_testing::process::program;

/// The case that others are compared with: OneSweep of u32 keys.
const ONESWEEP: [&str; 4] = ["--key-type", "u32", "--count", "20000"];
/// One case for each size of keys, by one workgroup and by OneSweep.
const CASES: [[&str; 4]; 7] = [
    ["--key-type", "u8", "--count", "20000"],
    ["--key-type", "u64", "--count", "20000"],
    ["--key-type", "u128", "--count", "20000"],
    ["--key-type", "u8", "--count", "8"],
    ["--key-type", "u32", "--count", "8"],
    ["--key-type", "u64", "--count", "8"],
    ["--key-type", "u128", "--count", "8"],
];
/// How much longer than OneSweep of u32 keys a case may take.
const MOST: f64 = 2.0;
/// The most seconds of CPU time for eight pairs. It takes about half as long, and up to 0.8 s with vectors of 512 bits.
const MOST_OF_FEW: f64 = 1.0;

/// Seconds of CPU time that `sort` takes without kernels in the cache. A run beyond the limit counts if a second one is, too, as a
/// busy machine adds to it.
fn first(arguments: &[&str], most: f64) -> f64 {
    let run = || {
        let cache = std::env::temp_dir().join(format!("vksort-first-{}-{}", std::process::id(), fastrand::u64(..)));
        std::fs::create_dir(&cache).unwrap();
        // The shell's own word tells the time of a process that has ended.
        let output = Command::new("bash")
            .args(["-c", "TIMEFORMAT='%U %S'; time \"$@\" > /dev/null", "bash"])
            .arg(program("sort").get_program())
            .args(["--seed", "1"])
            .args(arguments)
            .env("MESA_SHADER_CACHE_DIR", &cache)
            .output()
            .unwrap();
        std::fs::remove_dir_all(&cache).unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {text}");
        let times = text.lines().last().unwrap_or_default().split(' ').map(|time| time.parse::<f64>().unwrap());
        times.sum::<f64>()
    };
    let taken = run();
    if taken <= most { taken } else { taken.min(run()) }
}

#[test]
fn no_kind_of_sort_takes_more_than_twice_as_long_to_compile_as_onesweep_of_words() {
    if !Gpu::best().unwrap().profile().driver.contains("llvmpipe") {
        println!("not measured: the device is not lavapipe's");
        return;
    }
    let most = MOST * first(&[&ONESWEEP[..], &["--keys-only"]].concat(), 0.0);
    println!("u32 keys by OneSweep: {:.2} s of CPU time", most / MOST);
    for case in CASES {
        let taken = first(&[&case[..], &["--keys-only"]].concat(), most);
        println!("{} keys, {} of them: {taken:.2} s of CPU time", case[1], case[3]);
        assert!(taken <= most, "the first sort of {case:?} took {taken:.2} s of CPU time, allowed are {most:.2}");
    }
    let pairs = first(&["--count", "8"], MOST_OF_FEW);
    println!("u32 pairs, 8 of them: {pairs:.2} s of CPU time");
    assert!(pairs <= MOST_OF_FEW, "the first sort of 8 pairs took {pairs:.2} s of CPU time, allowed are {MOST_OF_FEW}");
}
