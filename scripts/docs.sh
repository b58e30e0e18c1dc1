#!/usr/bin/env bash
# Documents the crates as docs.rs does, with warnings as errors: scripts/docs.sh [--help]
#
# With the features that each crate names for docs.rs, and with the variable by which shaderc is not built there. The pages go to
# docs-rs/doc in cargo's target folder.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
no_arguments "$@"
check_rust

# A folder of its own: what is built for docs.rs lacks the native part of shaderc.
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/docs-rs
# docs.rs has a nightly Rust, for the marks of features.
export CARGO_TARGET_DIR DOCS_RS=1 RUSTC_BOOTSTRAP=1 RUSTDOCFLAGS="--cfg docsrs -D warnings"
unset SHADERC_LIB_DIR
cargo doc --quiet --locked --no-deps "${published_packages[@]}" \
    --features "$(documented_features | sed 's|[^,]*|vksort/&|g')"
for page in vksort/struct.Sorter vksort/standalone/struct.Gpu vksort_visitors/struct.VisitorSource vksort_wgpu/struct.BoundSort; do
    [[ -e $CARGO_TARGET_DIR/doc/$page.html ]] || die "the documentation lacks $page"
done
say "the documentation is in $CARGO_TARGET_DIR/doc"
