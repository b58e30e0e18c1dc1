//! The limit on the size of files (`ulimit -f`), for all programs that write some.

/// Makes a write beyond the limit an error, as on a full disk. The signal would end the program with its temporary files left behind.
#[allow(unsafe_code, reason = "the C library sets what signals do")]
pub fn fail_beyond_the_limit() {
    // SAFETY: ignoring a signal runs no code, and no part of the program handles this one.
    #[cfg(unix)]
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN)
    };
}
