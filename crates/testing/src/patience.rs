//! Limits that tell what hangs from what is slow because the machine is busy: they count CPU time where the system tells it.

use std::time::{Duration, Instant};

/// The CPU time that a process has taken with all its threads; `None` where there is no /proc. Its clock has 100 ticks a second.
fn cpu_time(process: u32) -> Option<Duration> {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before may have spaces and brackets.
    let (_, fields) = line.rsplit_once(')')?;
    let ticks =
        fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()?;
    Some(Duration::from_millis(ticks * 10))
}

/// How long a process may go on.
pub(crate) struct Patience {
    process: u32,
    limit: Duration,
    /// The CPU time and the time at which it began.
    since: (Option<Duration>, Instant),
}

impl Patience {
    /// A process may take the limit if it keeps all cores busy, or none. Where others take the cores, it may take longer.
    pub fn with(process: u32, limit: Duration) -> Patience {
        Patience { process, limit, since: (cpu_time(process), Instant::now()) }
    }

    /// Whether it has gone on for too long.
    pub fn is_over(&self) -> bool {
        let taken = self.since.1.elapsed();
        let Some((before, now)) = self.since.0.zip(cpu_time(self.process)) else { return taken > self.limit };
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u32;
        let busy = now - before;
        // A process that waits for something else than a core takes next to no CPU time.
        taken > self.limit && (busy > self.limit * cores || busy < taken / 10)
    }
}
