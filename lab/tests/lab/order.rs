//! Predicted beside measured order of candidate rows, of made input.

use vksort_lab::bench::order::{self, Ordered};

/// Candidates that the model calls equally good in all but one term, and their measured times.
fn ordered(cycles: &[f64], shared: &[f64], measured: &[f64]) -> Vec<Ordered> {
    let row = |at: usize| Ordered {
        gpu: "h100".into(),
        request: "keys".into(),
        n: 1 << 24,
        candidate: format!("candidate {at}"),
        built_in: u8::from(at == 0),
        issue: cycles[at],
        shared: shared[at],
        spill: 0.0,
        bytes: 10.0,
        latency: 5.0,
        bound: "issue".into(),
        cycles: cycles[at],
        measured_ns: measured[at],
    };
    (0..cycles.len()).map(row).collect()
}

#[test]
fn predicted_and_measured_orders_are_compared() {
    let cycles = [10.0, 20.0, 30.0, 40.0];
    let shared = [5.0, 18.0, 12.0, 21.0];
    let right = ordered(&cycles, &shared, &[1.0, 2.0, 3.0, 4.0]);
    let found = order::compare(&right);
    assert_eq!(found.correlation, Some(1.0));
    assert!(found.places.iter().all(|(_, predicted, measured)| predicted == measured));
    assert!(found.terms.is_empty(), "nothing was predicted wrongly: {:?}", found.terms);

    let reversed = ordered(&cycles, &shared, &[4.0, 3.0, 2.0, 1.0]);
    assert_eq!(order::compare(&reversed).correlation, Some(-1.0));

    // What takes longer than predicted is the candidates with much shared memory: the second has nine tenths of it.
    let blamed = ordered(&cycles, &shared, &[1.2, 6.0, 2.5, 4.9]);
    let found = order::compare(&blamed);
    let (row, predicted, measured) = found.places[0];
    assert_eq!((row.candidate.as_str(), predicted, measured), ("candidate 1", 2, 4));
    assert_eq!(found.terms[0], ("shared", 1.0), "{:?}", found.terms);
    let correlation = found.correlation.unwrap();
    assert!((correlation - 0.4).abs() < 1e-9, "{correlation}");

    // Equal times share a place's rank, and where all are equal there is no order.
    let equal = order::compare(&ordered(&cycles, &shared, &[1.0; 4])[..]).correlation;
    assert_eq!(equal, None);
}
