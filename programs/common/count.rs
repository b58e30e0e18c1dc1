//! Counts on the command line: 1000000, 1_000_000, 1e6 or 2^20.

/// Parses a count of elements, for the value parser of a flag.
pub fn parse(text: &str) -> Result<u32, String> {
    parse_from(0, text)
}

/// The same of at least one element.
pub fn parse_some(text: &str) -> Result<u32, String> {
    parse_from(1, text)
}

fn parse_from(least: u32, text: &str) -> Result<u32, String> {
    let refused =
        || format!("allowed are whole numbers from {least} to 4294967295, such as 1000000, 1_000_000, 1e6 or 2^20");
    let number = |text: &str| {
        text.replace('_', "").parse::<u64>().ok().filter(|_| text.starts_with(|c: char| c.is_ascii_digit()))
    };
    let power = |base: u64, exponent: &str| base.checked_pow(exponent.parse().ok()?);
    let value = match (text.split_once('^'), text.split_once(['e', 'E'])) {
        (Some((base, exponent)), _) => number(base).and_then(|base| power(base, exponent)),
        (None, Some((digits, exponent))) => scaled(digits, exponent),
        (None, None) => number(text),
    };
    value.and_then(|value| u32::try_from(value).ok()).filter(|value| *value >= least).ok_or_else(refused)
}

/// A decimal number times a power of ten, if it is whole.
fn scaled(digits: &str, exponent: &str) -> Option<u64> {
    let exponent: u32 = exponent.parse().ok()?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let places = u32::try_from(fraction.len()).ok()?;
    let all = format!("{whole}{fraction}");
    let all: u64 = all.bytes().all(|byte| byte.is_ascii_digit()).then(|| all.parse().ok())??;
    all.checked_mul(10u64.checked_pow(exponent.checked_sub(places)?)?)
}
