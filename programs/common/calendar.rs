//! The day of a measurement.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The day in UTC, which is the first part of a time such as 2026-01-31T12:00:00Z. A time before 1970 or after 9999 has no such
/// text.
pub fn today() -> String {
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    let now = SystemTime::now().clamp(UNIX_EPOCH, UNIX_EPOCH + LAST);
    humantime::format_rfc3339(now).to_string()[..10].into()
}
