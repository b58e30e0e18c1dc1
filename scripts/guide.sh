#!/usr/bin/env bash
# Builds the guide into target/guide: scripts/guide.sh [--check]
#
# Links from the guide to files of the repository lead to this checkout. scripts/setup.sh --guide installs what it takes.
#
#   --check  also checks that every link leads to something, that every chapter and picture is used, and that the snippets in
#            C and C++ compile against vksort.h. scripts/package.sh runs those in Rust
#   --help   this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

check=
case ${1:-} in
    '') ;;
    --check) check=1 ;;
    --help) usage && exit ;;
    *) die "unknown option $1, allowed are --check and --help" ;;
esac
mdbook=$mdbook_dir/bin/mdbook
[[ -x $mdbook ]] && has python3 || die "mdbook $mdbook_version or python3 is missing: run scripts/setup.sh --guide"

source=docs/guide book=$PWD/target/guide
rm -rf "$book" && mkdir -p target
"$mdbook" build --dest-dir "$book" "$source" >"$book.log" 2>&1 || { cat "$book.log" >&2 && die "mdbook failed"; }
! grep -E 'WARN|ERROR' "$book.log" >&2 || die "mdbook warns"
python3 scripts/guide/links.py "$book" ${check:+--check} || die "links lead nowhere"
[[ $check ]] || { say "open $book/index.html" && exit; }
compgen -G "$book/searchindex-*.js" >/dev/null || die "the guide cannot be searched"

for tool in gcc g++; do
    has "$tool" || die "$tool is missing: run scripts/setup.sh --all-tests"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# One file for each fenced block, whose lines the compiler then counts as in the chapter.
awk -v work="$work" '
    /^```/ {
        if (!inside && ($0 == "```c" || $0 == "```cpp")) {
            out = sprintf("%s/%03d.%s", work, ++blocks, substr($0, 4))
            print "#include <vulkan/vulkan.h>\n#include <vksort.h>" > out
            printf "#line %d \"%s\"\n", FNR + 1, FILENAME > out
        } else if (inside && out) {
            close(out)
            out = ""
        }
        inside = !inside
        next
    }
    out { print > out }
' "$source"/src/*.md
blocks=("$work"/*.c "$work"/*.cpp)
flags=(-Wall -Wextra -Wpedantic -Werror -fsyntax-only -Icrates/capi/include)
for block in "${blocks[@]}"; do
    case $block in
        *.c) gcc -std=c11 "${flags[@]}" "$block" ;;
        *.cpp) g++ -std=c++17 "${flags[@]}" "$block" ;;
    esac || die "a snippet does not compile, see above"
done
say "${#blocks[@]} snippets in C and C++ compile"
