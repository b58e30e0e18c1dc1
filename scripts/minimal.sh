#!/usr/bin/env bash
# Checks that the published crates compile with the oldest versions of their dependencies that they allow: scripts/minimal.sh [--help]
#
# For each crate a program that depends on it, whose lock file cargo makes of the lowest versions. For vksort and vksort-profiles these
# are the lowest of all packages. Below wgpu and shaderc are packages whose lowest versions compile with no Rust of today, so for the
# crates that need them they are the lowest of what the crate names itself.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
no_arguments "$@"
check_rust

root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
build_anywhere

# check CRATE FOLDER FEATURES [direct]
check() {
    local named=''
    [[ -z ${4-} ]] || named=$(awk '/^\[/ { inside = $0 == "[dependencies]" } inside && /^[a-z]/ && !/path = / && $1 != "'"$1"'"' "$2/Cargo.toml")
    mkdir -p "$work/$1/src"
    printf 'fn main() {}\n' >"$work/$1/src/main.rs"
    cat >"$work/$1/Cargo.toml" <<TOML
[package]
name = "minimal"
version = "0.0.0"
edition = "2024"
[dependencies]
$1 = { path = "$root/$2", features = [$3] }
$named
[workspace]
TOML
    # The option is not stable, and only the lock file is made with it.
    RUSTC_BOOTSTRAP=1 cargo -Z "${4:+$4-}minimal-versions" generate-lockfile --quiet --manifest-path "$work/$1/Cargo.toml" ||
        die "cargo finds no lowest versions for $1"
    say "-- $1: $(grep -c '^name' "$work/$1/Cargo.lock") packages of the lowest versions"
    cargo --config "$root/scripts/checked.toml" check --quiet --release --locked --manifest-path "$work/$1/Cargo.toml" ||
        die "$1 does not compile with the lowest versions that it allows"
}
check vksort . '"standalone", "half", "keys-128"'
check vksort-profiles crates/profiles ''
check vksort-visitors crates/visitors '' direct
check vksort-wgpu crates/wgpu '' direct
