#!/usr/bin/env bash
# Tests the crate vksort-wgpu: scripts/wgpu.sh [--help]
#
# Runs its unit and documentation tests, the suite `wgpu` and the example, on the driver and with the validation layer that
# the environment chooses. Nothing else compiles wgpu, which takes three minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
case ${1-} in
    "") ;;
    --help) usage && exit ;;
    *) die "unknown argument $1, allowed is --help" ;;
esac

cargo=(cargo --config scripts/checked.toml)
options=(--release --package vksort-wgpu)
"${cargo[@]}" test "${options[@]}"
"${cargo[@]}" run "${options[@]}" --example wgpu -- --validate
