#!/usr/bin/env bash
# Lints the library without features, with each one alone and with all: scripts/features.sh [FEATURE...]
#
# As a program that depends on the library compiles it: what tests depend on adds features. scripts/package.sh runs unit and
# documentation tests without them. Without FEATURE programs and lab are linted too, without their
# features.
#
#   FEATURE  only these, each alone [default: all]
#   --help   this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
[[ ${1:-} != --help ]] || { usage && exit; }

# The release profile has its build scripts and macros compiled already where the tests are.
cargo=(cargo --config scripts/checked.toml)
features=$(awk '/^\[/ { inside = $0 == "[features]" } inside && /^[a-z_]/ && $1 != "default" { print $1 }' Cargo.toml)
[[ $features ]] || die "Cargo.toml lists no features"
sets=("$@")
# shellcheck disable=SC2206
(($#)) || sets=('' $features "$(tr '\n' ',' <<<"$features")")
for chosen in "${sets[@]}"; do
    say "-- ${chosen:-no features}"
    "${cargo[@]}" clippy --release --locked --package vksort --no-default-features --features "$chosen" --lib -- -D warnings
done
(($#)) || "${cargo[@]}" clippy --release --locked --package vksort-lab --package vksort-programs --all-targets -- -D warnings
