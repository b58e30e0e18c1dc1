#!/usr/bin/env bash
# Compiles glsl/ to the modules in spirv/, which a build without the feature shaderc embeds: scripts/spirv.sh
#
# Sets up the machine first (scripts/setup.sh --kernels). It also compiles the shaders of programs to the modules beside them,
# counts the kernels' instructions in benches/record/spirv.csv, and names the modules whose counts have changed.
#
#   --check  changes nothing, and fails if a module differs in a byte from its compiled source
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
# build.rs compiles. Unoptimized, as what is run here takes no time.
cargo=(cargo --config scripts/checked.toml --config profile.release.package.vksort.opt-level=0)
build=(--release --locked --package vksort --features shaderc)
if [[ ${1:-} == --check ]]; then
    VKSORT_WRITE_SPIRV=check "${cargo[@]}" check --quiet "${build[@]}" || die "failed, see above"
    say "spirv/ is what glsl/ compiles to"
    exit
fi

table=benches/record/spirv.csv
counted=$(VKSORT_WRITE_SPIRV=1 "${cargo[@]}" test "${build[@]}" --test host -- --exact --nocapture \
    instructions::the_table_of_instructions_is_that_of_the_modules) || die "$counted"
grep ': ' <<<"$counted" | grep -v '^test result' >&2 || say "$table has no other counts than before"
