#!/usr/bin/env bash
# Compiles glsl/ to the modules in spirv/, which a build without the feature compile-kernels embeds: scripts/spirv.sh
#
# Sets up the machine first (scripts/setup.sh --kernels). It also compiles the shaders of programs to the modules beside them and
# the visitors that tests keep, counts the kernels' instructions in lab/record/spirv.csv, and names the modules whose counts
# have changed.
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

# build.rs compiles. Unoptimized, as what is run here takes no time.
cargo=(cargo --config scripts/checked.toml --config profile.release.package.vksort.opt-level=0)
build=(--release --locked --package vksort --features compile-kernels)
if [[ ${1:-} == --check ]]; then
    scripts/setup.sh --kernels --no-drivers
    VKSORT_WRITE_SPIRV=check "${cargo[@]}" check --quiet "${build[@]}" || die "failed, see above"
    say "spirv/ is what glsl/ compiles to"
    exit
fi

# Runs a test, which writes a file: write TEST ARGUMENT..., with arguments of cargo.
write() {
    local out
    out=$("${cargo[@]}" test "${@:2}" -- --exact --nocapture "$1") || die "$out"
    [[ $out == *' 1 passed'* ]] || die "there is no test $1"
    printf '%s\n' "$out"
}

scripts/setup.sh --kernels --no-drivers
export VKSORT_WRITE_SPIRV=1 VKSORT_WRITE_VISITORS=1
counted=$(write instructions::the_table_of_instructions_is_that_of_the_modules "${build[@]},standalone,software-drivers" --test host)
grep ': ' <<<"$counted" | grep -v '^test result' >&2 || say "lab/record/spirv.csv has no other counts than before"
write kept_visitors_are_compiled_from_their_source --release --locked --package vksort-visitors --test kept >/dev/null
