#!/usr/bin/env bash
# Renews the headers of crates/capi/include/ that are made from crates/capi/src/: scripts/header.sh [--keep]
#
#   --keep  also renews the header that crates/capi/tests/c/headers/ keeps for this version, which stays once it is released
#   --help  this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

keep=()
case ${1-} in
    "") ;;
    --keep) keep=(VKSORT_KEEP_HEADER=1) ;;
    --help) usage && exit ;;
    *) die "unknown argument $1, allowed are --keep and --help" ;;
esac
# In the profile of the tests, in which all of it is compiled already.
env VKSORT_WRITE_HEADER=1 ${keep[@]+"${keep[@]}"} \
    cargo --config scripts/checked.toml test --quiet --release --package vksort-capi --test header
say "vksort.h and vksort_vrdx_calls.h of crates/capi/include/ are what crates/capi/src/ makes"
