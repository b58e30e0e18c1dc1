//! The visitors that are kept compiled are what their GLSL compiles to.

#[path = "visitors/source.rs"]
mod source;

use vksort_testing::visited::kept;

/// `VKSORT_WRITE_VISITORS=1` writes them, and then they are.
#[test]
fn kept_visitors_are_compiled_from_their_source() {
    for visitor in kept() {
        let path = visitor.path();
        let bytes = source::source(visitor.visits).compile(&visitor.request).unwrap();
        if std::env::var("VKSORT_WRITE_VISITORS").is_ok_and(|value| value == "1") {
            std::fs::write(&path, &bytes).unwrap();
        }
        assert!(std::fs::read(&path).unwrap() == bytes, "{} is not up to date: run scripts/spirv.sh", path.display());
    }
}
