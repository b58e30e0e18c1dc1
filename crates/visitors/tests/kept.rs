//! The visitors that are kept compiled are what their GLSL compiles to.

use vksort_testing::visited::{self, kept};
use vksort_visitors::VisitorSource;

/// `VKSORT_WRITE_VISITORS=1` writes them, and then they are.
#[test]
fn kept_visitors_are_compiled_from_their_source() {
    for visitor in kept() {
        let path = visitor.path();
        let source = VisitorSource::new(visited::NAME).text(visited::TEXT).visits(visitor.visits);
        let source = source.push_members(visited::PUSH_MEMBERS).push_bytes(visited::PUSH_BYTES);
        let bytes = source.compile(&visitor.request).unwrap();
        if std::env::var("VKSORT_WRITE_VISITORS").is_ok_and(|value| value == "1") {
            std::fs::write(&path, &bytes).unwrap();
        }
        assert!(std::fs::read(&path).unwrap() == bytes, "{} is not up to date: run scripts/spirv.sh", path.display());
    }
}
