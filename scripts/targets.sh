#!/usr/bin/env bash
# Checks that the crates compile for systems other than this one: scripts/targets.sh [TARGET...]
#
# `cargo check`, which takes no linker and no system libraries of theirs; nothing is run. Where wgpu has no Vulkan backend vksort-wgpu has
# to refuse in one line. rustup adds Rust's library for targets that lack it.
#
#   TARGET  only these [default: Windows with both compilers, macOS, Android and browsers]
#   --help  this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
[[ ${1-} != --help ]] || { usage && exit; }

all=(x86_64-pc-windows-gnu x86_64-pc-windows-msvc aarch64-apple-darwin aarch64-linux-android wasm32-unknown-unknown)
targets=("$@")
(($#)) || targets=("${all[@]}")
for target in "${targets[@]}"; do
    [[ " ${all[*]} " == *" $target "* ]] || die "target $target is unknown, allowed are ${all[*]}"
done
check_rust
library=$(rustc --print sysroot)/lib/rustlib
for target in "${targets[@]}"; do
    [[ -d $library/$target ]] || rustup target add "$target" >&2 || die "Rust's library for $target is missing: rustup target add $target"
done

# Compiles a package for the target at hand.
check() {
    say "-- $target: $*"
    cargo --config scripts/checked.toml check --quiet --release --locked --target "$target" --package "$@"
}

# vksort-wgpu says why it cannot be compiled: refused WHAT
refused() {
    local said
    ! said=$(check vksort-wgpu 2>&1) || die "vksort-wgpu compiles for $target, and should not"
    grep -q "^error: vksort-wgpu.*: wgpu has no Vulkan backend on $target: $1" <<<"$said" || die "vksort-wgpu is not refused for $target: $said"
}

for target in "${targets[@]}"; do
    case $target in
        # There is no Vulkan library to load.
        wasm32-*) check vksort --no-default-features && refused "depend on vksort-wgpu for other targets alone" ;;
        *-apple-*)
            check vksort --features standalone,keys-128
            refused "enable the feature vulkan-portability"
            check vksort-wgpu --features vulkan-portability
            ;;
        *-windows-gnu) check vksort --features standalone,keys-128 && check vksort-capi && check vksort-wgpu ;;
        *) check vksort --features standalone,keys-128 ;;
    esac || die "failed for $target"
done
say "the crates compile for ${targets[*]}"
