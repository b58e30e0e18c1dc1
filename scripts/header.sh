#!/usr/bin/env bash
# Renews crates/capi/include/vksort.h from crates/capi/src/: scripts/header.sh [--help]
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

case ${1-} in
    "") ;;
    --help) usage && exit ;;
    *) die "unknown argument $1, allowed is --help" ;;
esac
# In the profile of the tests, in which all of it is compiled already.
VKSORT_WRITE_HEADER=1 cargo --config scripts/checked.toml test --quiet --release --package vksort-capi --test header
say "crates/capi/include/vksort.h is what crates/capi/src/ makes"
