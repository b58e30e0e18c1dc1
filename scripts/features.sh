#!/usr/bin/env bash
# Lints or tests the library without features, with each one alone and with all: scripts/features.sh lint|test [FEATURE...]
#
#   lint     the library alone, as a program that depends on it compiles it; without FEATURE also the programs without
#            their features
#   test     unit tests; documentation tests with no feature, with `standalone` alone, which examples need, and with all. They
#            are unoptimized and have overflow checks
#   FEATURE  only these, each alone [default: all but wgpu, which takes minutes to compile and has scripts/wgpu.sh]
#   --help   this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

# The release profile has its build scripts and macros compiled already where the tests are.
cargo=(cargo --config scripts/checked.toml)
case ${1:-} in
    lint) ;;
    test) cargo+=(--config profile.release.package.vksort.opt-level=0) ;;
    --help) usage && exit ;;
    *) die "the first argument is '${1:-}', allowed are lint, test and --help" ;;
esac
mode=$1
shift

features=$(awk '/^\[/ { inside = $0 == "[features]" } inside && /^[a-z]/ && $1 != "default" && $1 != "wgpu" { print $1 }' Cargo.toml)
[[ $features ]] || die "Cargo.toml lists no features"
sets=("$@")
# shellcheck disable=SC2206
(($#)) || sets=('' $features "$(tr '\n' ',' <<<"$features")")
for chosen in "${sets[@]}"; do
    say "-- ${chosen:-no features}"
    options=(--release --locked --package vksort --no-default-features --features "$chosen")
    if [[ $mode == lint ]]; then
        "${cargo[@]}" clippy "${options[@]}" --lib -- -D warnings
    else
        "${cargo[@]}" test "${options[@]}" --lib
        [[ $chosen && $chosen != standalone && $chosen != *,* ]] || "${cargo[@]}" test "${options[@]}" --doc
    fi
done
[[ $mode != lint ]] || (($#)) ||
    "${cargo[@]}" clippy --release --locked --package vksort-programs --all-targets -- -D warnings
