#!/usr/bin/env bash
# Tests the crate vksort-wgpu: scripts/wgpu.sh [--help]
#
# Runs its unit and documentation tests, the suite `wgpu` and the example, on the driver and with the validation layer that
# the environment chooses. Nothing else compiles wgpu, which takes three minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
no_arguments "$@"

cargo=(cargo --config scripts/checked.toml)
options=(--release --package vksort-wgpu)
"${cargo[@]}" test "${options[@]}"
for device in "" --plain; do
    # shellcheck disable=SC2086
    messages=$("${cargo[@]}" run "${options[@]}" --example wgpu -- --validate $device 2>&1 >/dev/null) ||
        die "the example ends with an error: $messages"
    # The older layer does not know the number by which wgpu names the language of its shaders.
    found=$(grep -A1 'ERROR.*VALIDATION' <<<"$messages" | grep -Ev 'ERROR|^--|Invalid source language operand: 10') || true
    [ -z "$found" ] || die "the validation layer has messages: $found"
done
