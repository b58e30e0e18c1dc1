//! Another static library of Rust, for programs that link two of them.

/// The sum of the numbers below `n`, by parts of Rust's library that both have: memory, printing and unwinding.
#[unsafe(no_mangle)]
pub extern "C" fn other_sum(n: u32) -> u64 {
    let numbers: Vec<u64> = (0..n.into()).collect();
    println!("{} numbers", numbers.len());
    std::panic::catch_unwind(|| numbers.iter().sum()).unwrap_or(0)
}
