//! Visitors that were compiled beforehand and are kept in the repository: they sort where nothing can be compiled.

use std::path::PathBuf;

use vksort::{Algorithm, KeyOutput, KeyType, Order, SortRequest, ValueType, Visitor, Visits};
use vksort_testing::{Failed, Trial};

use crate::checked::{ALL, KEYS_AND_OUTPUT, out_of_place, run_visitor, small};

/// A visitor of the tests for one kind of request.
pub struct Kept {
    /// The name of its file.
    pub name: &'static str,
    /// What it was compiled for.
    pub request: SortRequest,
    /// What it visits.
    pub visits: Visits,
}

/// Few, because each has the modules of every way to sort: all that a visitor can make or take, and a result without keys.
pub fn all() -> [Kept; 2] {
    let request = |key, value| out_of_place(SortRequest { value, ..SortRequest::new(key) });
    let floats = SortRequest {
        order: Order::Descending,
        key_output: KeyOutput::Discarded,
        algorithm: Some(Algorithm::OneSweep),
        ..request(KeyType::F32, ValueType::Index)
    };
    [
        Kept { name: "pairs", request: request(KeyType::U32, ValueType::U32), visits: ALL },
        Kept { name: "floats", request: floats, visits: KEYS_AND_OUTPUT },
    ]
}

/// Where the bytes of a visitor are.
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/visitors/kept/{name}.bin"))
}

fn sorts(kept: &Kept, algorithm: Option<Algorithm>) -> Result<(), Failed> {
    let path = path(kept.name);
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let visitor = Visitor::from_bytes(&bytes).map_err(|error| format!("{error}: run scripts/spirv.sh"))?;
    assert_eq!(visitor.visits(), kept.visits);
    run_visitor(SortRequest { algorithm, ..kept.request }, &visitor, &small(), 3)
}

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for kept in all() {
        let algorithms = match kept.request.algorithm {
            None => Algorithm::ALL.iter().copied().map(Some).collect(),
            named => vec![named],
        };
        let name = kept.name;
        for algorithm in algorithms {
            let kept = Kept { ..kept };
            let algorithm_name = algorithm.map_or("automatic".into(), |algorithm| algorithm.to_string());
            trials.push(Trial::test(format!("{name}/{algorithm_name}"), move || sorts(&kept, algorithm)));
        }
    }
    trials
}
