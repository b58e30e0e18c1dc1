//! What the suites of mutated files share. `VKSORT_SEED` repeats a run, and `VKSORT_FUZZ_SECONDS` sets how long it takes.

use std::env;
use std::time::{Duration, Instant};

use fastrand::Rng;

/// Reads mutated files for so many seconds, unless the variable says otherwise. `trial` gets what it draws from and the seed that
/// repeats it, and says whether its file was read or refused, or what is wrong.
pub fn run(seconds: u64, mut trial: impl FnMut(&mut Rng, u64) -> Result<bool, String>) {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<u64>().expect("it is a number"));
    let first = number("VKSORT_SEED").unwrap_or_else(|| fastrand::u64(..));
    let limit = Duration::from_secs(number("VKSORT_FUZZ_SECONDS").unwrap_or(seconds));
    println!("VKSORT_SEED={first}");
    let (mut read, mut refused) = (0u64, 0u64);
    let started = Instant::now();
    while started.elapsed() < limit {
        let seed = first.wrapping_add(read + refused);
        match trial(&mut Rng::with_seed(seed), seed) {
            Ok(true) => read += 1,
            Ok(false) => refused += 1,
            Err(reason) => panic!("VKSORT_SEED={seed} finds it first: {reason}"),
        }
    }
    println!("{} files, of which {read} were read and {refused} refused", read + refused);
    assert!(read > 0 && refused > 0, "mutations reach too little: {read} files were read, {refused} refused");
}

/// A file was refused, which takes one line.
pub fn refused(error: &anyhow::Error) -> Result<bool, String> {
    let line = format!("{error:#}");
    let is_line = !line.is_empty() && line.len() < 1000 && !line.contains('\n');
    if is_line { Ok(false) } else { Err(format!("the error is no line: {line:?}")) }
}

/// Changes one of the digits.
pub fn change_digit(rng: &mut Rng, bytes: &mut [u8]) {
    let digits = bytes.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit());
    let digits: Vec<usize> = digits.map(|(place, _)| place).collect();
    if let Some(place) = rng.choice(digits) {
        bytes[place] = b'0' + rng.u8(..10);
    }
}
