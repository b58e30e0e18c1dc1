//! The break-even of lost look-back words, of made input.

use vksort_lab::bench::lost::{self, BreakEven, Lost};

#[test]
fn the_break_even_lies_on_the_line_between_two_shares() {
    let of = |points: &[(f64, f64)]| lost::break_even(points.iter().copied());
    assert_eq!(of(&[]), None);
    assert_eq!(of(&[(0.0, 0.5), (0.25, 0.75), (0.5, 1.25), (1.0, 4.0)]), Some(BreakEven::At(0.375)));
    assert_eq!(of(&[(0.5, 1.5), (0.0, 0.5)]), Some(BreakEven::At(0.25)), "in any order");
    assert_eq!(of(&[(0.0, 0.5), (0.5, 1.0)]), Some(BreakEven::At(0.5)));
    assert_eq!(of(&[(0.0, 0.5), (0.5, 0.9)]), Some(BreakEven::Above(0.5)));
    assert_eq!(of(&[(0.0, 1.0), (0.5, 2.0)]), Some(BreakEven::Always));
    // The first time counts: with more words lost, noise may bring a ratio below 1 again.
    assert_eq!(of(&[(0.0, 0.5), (0.2, 1.5), (0.4, 0.9), (0.6, 2.0)]), Some(BreakEven::At(0.1)));
}

#[test]
fn each_request_and_size_has_its_break_even() {
    let row = |request: &str, n: u64, lost: u32, over: f64| Lost {
        request: request.into(),
        n,
        tiles: 64,
        lost,
        onesweep_ns: 100.0 * over,
        reduce_then_scan_ns: 100.0,
        over_q25: over - 0.1,
        over_median: over,
        over_q75: over + 0.1,
    };
    let rows = [
        row("u32 pairs", 1 << 20, 0, 0.5),
        row("u32 keys", 1 << 24, 32, 1.5),
        row("u32 keys", 1 << 24, 0, 0.5),
        row("u32 keys", 1 << 20, 0, 1.2),
        row("u32 pairs", 1 << 20, 1, 0.7),
    ];
    let found = lost::by_size(&rows);
    let text: Vec<String> =
        found.iter().map(|(rows, text)| format!("{} {}: {text}", rows[0].request, rows[0].n)).collect();
    let wanted = [
        "u32 keys 1048576: break-even with words lost: 0 % (0 % .. 0 % by quartiles)",
        "u32 keys 16777216: break-even with words lost: 25 % (20 % .. 30 % by quartiles)",
        "u32 pairs 1048576: break-even with words lost: none up to 1.6 % (none up to 1.6 % .. none up to 1.6 % by quartiles)",
    ];
    assert_eq!(text, wanted);
    assert_eq!(found[1].0.iter().map(|row| row.lost).collect::<Vec<_>>(), [0, 32], "in the order of shares");
}
