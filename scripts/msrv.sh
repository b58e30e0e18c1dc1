#!/usr/bin/env bash
# Checks that the published crates and the C library compile without warnings with the oldest Rust that Cargo.toml names: scripts/msrv.sh
#
# rustup installs it where it is missing. The lint `incompatible_msrv` says the same of Rust's own library with any Rust, so CI here does
# without.
#
#   --help  this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
no_arguments "$@"
check_rust
has rustup || die "rustup is missing, which has other versions of Rust: https://rustup.rs"

oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
rustup run "$oldest" rustc --version >/dev/null 2>&1 || rustup toolchain install "$oldest" --profile minimal >&2 ||
    die "Rust $oldest cannot be installed"
# Flags in the environment would have dependencies compiled anew for them.
warnings=$(rustup run "$oldest" cargo --config scripts/checked.toml check --locked --release --message-format short \
    "${published_packages[@]}" --package vksort-capi \
    --features vksort/standalone,vksort/half,vksort/keys-128 2>&1) || { say "$warnings" && die "Rust $oldest does not compile vksort"; }
! grep -E '^[^ ]+: warning' <<<"$warnings" >&2 || die "Rust $oldest warns"
say "$(rustup run "$oldest" rustc --version) compiles all crates"
