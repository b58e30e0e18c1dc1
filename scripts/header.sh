#!/usr/bin/env bash
# Renews include/vksort.h from src/capi/: scripts/header.sh [--check]
#
#   --check  fails where it is not what src/capi/ makes, and changes nothing
#   --help   this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

case ${1-} in
    "") export VKSORT_WRITE_HEADER=1 ;;
    --check) unset VKSORT_WRITE_HEADER ;;
    --help) usage && exit ;;
    *) die "unknown argument $1, allowed are --check and --help" ;;
esac
# In the profile of the tests, in which all of it is compiled already.
cargo --config scripts/checked.toml test --quiet --release --test header
say "include/vksort.h is what src/capi/ makes"
