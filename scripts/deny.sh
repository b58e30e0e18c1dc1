#!/usr/bin/env bash
# Checks the licences and the sources of all dependencies by cargo-deny: scripts/deny.sh [--advisories]
#
#   --advisories  also looks for known faults in them, in a list that cargo-deny fetches
#   --help        this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

checks=(bans licenses sources)
case ${1-} in
    '') ;;
    --advisories) checks+=(advisories) ;;
    --help) usage && exit ;;
    *) die "unknown option $1, allowed are --advisories and --help" ;;
esac
check_rust
cargo deny --version >/dev/null 2>&1 || die "cargo-deny is missing: cargo install --locked cargo-deny"
cargo deny --workspace check --hide-inclusion-graph "${checks[@]}"
