#!/usr/bin/env bash
# Compiles glsl/ to the modules in spirv/, which every build of the crate embeds: scripts/spirv.sh
#
# Sets the machine up for it first (scripts/setup.sh --kernels). Counts the modules' instructions in
# benches/record/spirv.csv too, and says which modules have other counts than before.
#
#   --check  changes nothing and fails when spirv/ is not byte for byte what glsl/ compiles to
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
cargo run --quiet --release --package vksort-spirv -- "$@"
[[ ${1:-} != --check ]] || exit 0

table=benches/record/spirv.csv
counted=$(VKSORT_WRITE_SPIRV=1 cargo test --quiet --release --package vksort --test spirv -- --exact --nocapture \
    the_table_of_instructions_is_that_of_the_modules) || die "$counted"
grep ': ' <<<"$counted" | grep -v '^test result' >&2 || say "$table has no other counts than before"
