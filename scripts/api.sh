#!/usr/bin/env bash
# Renews the lists of public items in tests/api/, a file for each crate: scripts/api.sh [--check]
#
# A line that changes or goes away breaks programs, so it takes an entry in CHANGELOG.md and, after a release, a new minor
# version. The lists are made from rustdoc's JSON, whose format changes with Rust; other versions of Rust are told so.
#
#   --check  compares, and fails with the difference
#   --help   this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

case ${1:-} in
    '' | --check) ;;
    --help) usage && exit ;;
    *) die "unknown option $1, allowed are --check and --help" ;;
esac

# The format that the crate public-api of Cargo.lock reads, and the Rust that writes it.
format=57 rust=1.95
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# rustdoc alone is let write JSON. In the environment of cargo the variable would have dependencies compiled anew.
printf '#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc "$@"\n' >"$work/rustdoc"
chmod +x "$work/rustdoc"
cargo=(cargo --config scripts/checked.toml)
target=${CARGO_TARGET_DIR:-target}

# The seams are what vksort-wgpu, whose versions are its own, uses of vksort's hidden items.
for name in "${published[@]%%:*}" seams; do
    package=$name kept='' hidden=() features=''
    [[ $name != seams ]] || package=vksort kept='Remedies|VersionFeatures' hidden=(--document-hidden-items)
    [[ $package != vksort ]] || features=$(documented_features)
    RUSTDOC=$work/rustdoc "${cargo[@]}" rustdoc --quiet --release --locked --package "$package" --features "$features" --lib -- \
        -Z unstable-options --output-format json ${hidden[@]+"${hidden[@]}"}
    json=$target/doc/${package//-/_}.json
    if ! grep -q "\"format_version\":$format[,}]" "$json"; then
        say "skipped: $(rustc --version) writes JSON of another format than Rust $rust, by which tests/api/ is made"
        exit
    fi
    "${cargo[@]}" run --quiet --release --locked --package vksort-lab --bin public-api "$json" |
        grep -E "$kept" >"$work/$name.txt"
    if [[ ${1:-} == --check ]]; then
        diff -u "tests/api/$name.txt" "$work/$name.txt" ||
            die "the public API of $name has changed; if it should, run scripts/api.sh, and say so in CHANGELOG.md"
    else
        cp "$work/$name.txt" "tests/api/$name.txt"
    fi
done
say "tests/api/ lists $(cat "$work"/*.txt | wc -l) public items"
