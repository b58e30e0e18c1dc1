//! The day of a measurement.

use std::time::{SystemTime, UNIX_EPOCH};

/// The day in UTC, as 2026-01-31.
pub(crate) fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / 86_400)
}

/// The date of a number of days after 1970-01-01.
fn date(mut days: u64) -> String {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    format!("{year:04}-{:02}-{:02}", month + 1, days + 1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn days_become_dates() {
        let dates = [(0, "1970-01-01"), (58, "1970-02-28"), (59, "1970-03-01"), (789, "1972-02-29")];
        let later = [(11_016, "2000-02-29"), (20_483, "2026-01-30"), (47_541, "2100-03-01")];
        for (days, expected) in dates.into_iter().chain(later) {
            assert_eq!(super::date(days), expected, "{days}");
        }
    }
}
