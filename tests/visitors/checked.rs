//! A request with a visitor, by some counts and patterns.

use vksort::{Algorithm, SortRequest, SorterOptions, Visitor, Visits};
use vksort_testing::arena::Count;
use vksort_testing::patterns::{Pattern, generate};
use vksort_testing::visited::VisitedArena;
use vksort_testing::{Failed, assert_valid, gpu, seed, suite};

pub fn name(visits: Visits) -> String {
    let parts = [(visits.keys, "keys"), (visits.values, "values"), (visits.output, "output")];
    let parts: Vec<&str> = parts.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect();
    parts.join("+")
}

/// Small blocks, so that few elements make many tiles.
pub fn small() -> SorterOptions {
    SorterOptions::default().tuning(suite::small_blocks())
}

/// Sorts by some counts and patterns, each on the host's and on the device's count.
pub fn run_visitor(request: SortRequest, visitor: &Visitor, options: &SorterOptions, tiles: u32) -> Result<(), Failed> {
    let most = |shape: &vksort::__private::Shape| match request.algorithm {
        Some(Algorithm::SingleWorkgroup) => shape.single.elements(),
        _ => shape.tile.elements().max(shape.single.elements()) * tiles + 3,
    };
    let arena = VisitedArena::new(&gpu(), &request, options, visitor, |sorter| most(sorter.shape()))?;
    let block = arena.sorter.shape().tile.elements();
    let capacity = most(arena.sorter.shape());
    let size = request.key.size_bytes() as usize;
    let patterns = [
        (Pattern::Uniform, capacity),
        (Pattern::FewDistinct, capacity - 1),
        (Pattern::OneDigit(1), capacity),
        (Pattern::ConstantDigit(0), 2 * block + 1),
        (Pattern::AllEqual, block + 1),
        (Pattern::Special, block),
        (Pattern::Uniform, 1),
    ];
    for (index, (pattern, count)) in patterns.into_iter().enumerate() {
        let count = count.min(capacity);
        let mask = 0x5EED_0000 ^ index as u32;
        let case = |counted: &str, what: String| {
            let (name, visits) = (suite::name(&request), name(visitor.visits()));
            Failed::from(format!("{name} {visits} {pattern:?} {count}{counted}, VKSORT_SEED={}: {what}", seed()))
        };
        let keys = generate(pattern, request.key, capacity as usize, seed());
        arena.check(&keys[..count as usize * size], Count::Host, mask).map_err(|what| case("", what))?;
        let counted = if index == 0 { u32::MAX } else { count };
        arena.check(&keys, Count::Device(counted), mask).map_err(|what| case(" on the device", what))?;
    }
    arena.check(&[], Count::Host, 0)?;
    assert_valid(&gpu());
    Ok(())
}
