//! Visitors that were compiled beforehand and are kept in the repository: they sort where nothing can be compiled.

use vksort::{Algorithm, Visitor};
use vksort_testing::visited::{Kept, kept, run_visitor, small};
use vksort_testing::{Failed, Trial};

fn sorts(kept: &Kept, algorithm: Option<Algorithm>) -> Result<(), Failed> {
    let path = kept.path();
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let visitor = Visitor::from_bytes(&bytes).map_err(|error| format!("{error}: run scripts/spirv.sh"))?;
    assert_eq!(visitor.visits(), kept.visits);
    run_visitor(kept.request.algorithm(algorithm), &visitor, &small(), 3)
}

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for kept in kept() {
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
