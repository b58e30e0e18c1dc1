#!/usr/bin/env bash
# Compiles glsl/ to the modules in spirv/, which every build of the crate embeds: scripts/spirv.sh
#
# Sets up the machine first (scripts/setup.sh --kernels). It also counts the modules' instructions in
# benches/record/spirv.csv, and names the modules whose counts have changed.
#
#   --check  changes nothing, and fails if spirv/ differs in a byte from the compiled glsl/
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

scripts/setup.sh --kernels --no-drivers
cargo run --quiet --release --locked --package vksort-spirv -- "$@"
[[ ${1:-} != --check ]] || exit 0

table=benches/record/spirv.csv
counted=$(VKSORT_WRITE_SPIRV=1 cargo test --quiet --release --package vksort --test instructions -- --exact --nocapture \
    the_table_of_instructions_is_that_of_the_modules) || die "$counted"
grep ': ' <<<"$counted" | grep -v '^test result' >&2 || say "$table has no other counts than before"
