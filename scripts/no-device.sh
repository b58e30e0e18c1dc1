#!/usr/bin/env bash
# Builds all but what takes a C++ compiler, and runs the tests that need no device: scripts/no-device.sh [--help]
#
# For Linux, macOS, and Windows in the shell of Git for Windows. scripts/test.sh has all tests, on Linux.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
no_arguments "$@"
check_rust

cargo=(cargo --config scripts/checked.toml)
wgpu=()
# There wgpu has Vulkan by MoltenVK.
[[ $(uname) != Darwin ]] || wgpu=(--features vulkan-portability)
# What needs a device, a loader of Vulkan or shaderc is compiled at most.
"${cargo[@]}" build --locked --release --package vksort-programs --package vksort-lab --package vksort-examples --bins --examples
"${cargo[@]}" build --locked --release --package vksort-wgpu --lib ${wgpu[@]+"${wgpu[@]}"}
"${cargo[@]}" test --locked --release --package vksort --lib --test host --features standalone,keys-128,half,software-drivers,__testing
VKSORT_DRAW_SECONDS=3 "${cargo[@]}" test --locked --release --package vksort --test simulated --features software-drivers,__testing
"${cargo[@]}" test --locked --release --package vksort-profiles --package vksort-capi --lib --test header
