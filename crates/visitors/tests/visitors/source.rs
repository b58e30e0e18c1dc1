//! The visitor of the tests.

use vksort::Visits;
use vksort_testing::visited;
use vksort_visitors::VisitorSource;

/// Its source.
pub fn source(visits: Visits) -> VisitorSource {
    let source = VisitorSource::new(visited::NAME).text(visited::TEXT).visits(visits);
    source.push_members(visited::PUSH_MEMBERS).push_bytes(visited::PUSH_BYTES)
}
