#!/usr/bin/env bash
# Renews the table of key types and the list of options in README.md and docs/table.md: scripts/table.sh [--help]
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

no_arguments "$@"
VKSORT_WRITE_TABLE=1 cargo test --quiet --release --test host table::
say "README.md and docs/table.md hold the key types and options of the code"
