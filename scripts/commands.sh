#!/usr/bin/env bash
# Runs the commands of README.md and of the guide's first pages as they stand: scripts/commands.sh [--help]
#
# Each line of a block of `sh`, and each command within the text, is listed below: with `run`, or with the reason why it is not
# run here. A command that is not listed makes the script fail, and so does one that no page has any more. `cargo` compiles in the
# profile of the tests, except in a folder of its own; CHECKOUT is this checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
[[ ${1:-} != --help ]] || { usage && exit; }

pages=(README.md docs/guide/src/{index,first,frame,barriers,counts}.md)
listed='
run                                  | scripts/setup.sh && cargo run --release --bin splats
CI runs its rows, and more           | scripts/test.sh
CI does                              | scripts/test.sh --all
for each NAME the tests run it       | cargo run --release --bin NAME
first.md has it with features        | cargo add vksort --path CHECKOUT
CI documents this and other crates   | cargo doc --no-deps -p vksort --open
the tests run what it compiles       | cargo run --release -p vksort-examples --example record
takes minutes, and its tests take C  | scripts/pack.sh
takes 8 minutes, on a GPU            | tar -xf vksort-*.tar.xz && vksort-*/measure.sh
the suite frames sets it             | export VK_LAYER_SYNCVAL_SHADER_ACCESSES_HEURISTIC=1 # looks at what shaders access
the suite frames sets it             | export VK_LAYER_ENABLE_MESSAGE_LIMIT=0              # does not stop at the tenth message of a kind
run                                  | cargo new first-sort && cd first-sort && cargo add vksort --features standalone --path CHECKOUT
in first-sort                        | cargo run
run                                  | cargo run --release --bin devices
'
found=$(awk '
    FNR == 1 { inside = 0 }
    /^```/ { inside = inside ? 0 : $0 == "```sh" ? 1 : 2; next }
    inside == 1 { print }
    !inside { while (match($0, /`(cargo|scripts\/)[^`]*`/)) { print substr($0, RSTART + 1, RLENGTH - 2); $0 = substr($0, RSTART + RLENGTH) } }
' "${pages[@]}" | sort -u)
known=$(sed -n 's/^[^|]*| //p' <<<"$listed" | sort)
[[ $found == "$known" ]] || die "the commands of the pages (<) and of scripts/commands.sh (>) differ: $(diff <(echo "$found") <(echo "$known"))"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export CHECKOUT=$PWD CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
cargo() {
    command cargo --config "$CHECKOUT/scripts/checked.toml" "$@"
}
export -f cargo
step() {
    say "-- $*"
    timeout --kill-after=10 600 bash -euo pipefail -c "$*" >"$work/log" 2>&1 || die "failed: $*: $(tail -n 20 "$work/log")"
}
while read -r command; do
    case $command in
        'cargo new '*)
            # A program of its own, with the chapter's first block of Rust.
            (cd "$work" && step "${command/CHECKOUT/$CHECKOUT}" && cd first-sort &&
                awk '/^```/ { if (inside) exit; inside = $0 == "```rust"; next } inside' "$CHECKOUT/docs/guide/src/first.md" >src/main.rs &&
                cp "$CHECKOUT/Cargo.lock" . && unset -f cargo && step "cargo run")
            ;;
        *) step "$command" ;;
    esac
done < <(sed -n 's/^run *| //p' <<<"$listed")
say "the commands of the pages work"
