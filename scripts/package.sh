#!/usr/bin/env bash
# Packages the crates, and builds and tests them as their users get them: scripts/package.sh [OPTION...]
#
# Makes the packages of a copy of the files here, in which links that leave a package lead to the repository's address, and unpacks
# them into a temporary folder. Each has the licences, no pictures but drawings of ours, no link to a file that it lacks, and of
# its features all but those that begin with __ are documented. There it compiles the library without features and with all, runs
# unit and documentation tests, and every snippet of README and guide with the library as its only dependency, without the network. The
# suites in tests/ are not packaged, as they need crates/testing. Builds go to target/ or $CARGO_TARGET_DIR, which holds the built
# dependencies.
#
#   --list         prints the files of the packages and their sizes, and ends
#   --verify       cargo also builds each package from what it holds, against the others, in order of dependency
#   --address URL  the repository's, where Cargo.toml names none [default: a placeholder]
#   --keep DIR     keeps the copy in this folder, which is new or empty
#   --help         this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

list=0 verify=--no-verify kept='' address=$(repository)
address=${address:-https://example.org/vksort}
while (($#)); do
    case $1 in
        --list) list=1 ;;
        --verify) verify=--quiet ;;
        --address | --keep)
            [[ ${2:-} ]] || die "$1 needs a value"
            if [[ $1 == --keep ]]; then kept=$2; else address=$2; fi
            shift
            ;;
        --help) usage && exit ;;
        *) die "unknown option $1, allowed are --list, --verify, --address, --keep and --help" ;;
    esac
    shift
done
# Before that cargo packages one crate at a time.
check_rust 1.90
has python3 || die "python3 is missing, which rewrites links"

# Most that a package may take, compressed.
most_kib=2969
# Most crates that a program compiles for the library without features.
most_crates=14
# Most that sorting a slice may add to a stripped program, in bytes, with the default features.
most_added=1350000

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
root=$PWD
build_anywhere

# Files that are not committed yet are packaged too.
stage=${kept:-$work/stage}
mkdir -p "$stage"
[[ ! $(ls -A "$stage") ]] || die "--keep is $stage, which is not empty"
git ls-files --cached --others --exclude-standard -z | while IFS= read -r -d '' file; do
    [[ ! -e $file ]] || printf '%s\0' "$file"
done | tar --null --files-from - -cf - | tar -C "$stage" -xf -
cd "$stage"
version=$(locked_version vksort)
sed -i "s|^repository = \".*\"|repository = \"$address\"|" Cargo.toml
for crate in "${published[@]}"; do
    cargo package --quiet --list --allow-dirty --package "${crate%%:*}" | sed "s|^|${crate#*:}\t|"
done >"$work/files" || die "cargo package --list failed"
python3 scripts/package/links.py . "$address" "v$version" <"$work/files"
if [[ $verify != --no-verify ]]; then
    # Cargo takes what an earlier run has unpacked and built of the same version for what it packages now.
    for crate in "${published[@]}"; do
        rm -rf "${CARGO_HOME:-$HOME/.cargo}"/registry/src/-*/"${crate%%:*}-$(locked_version "${crate%%:*}")"
    done
    cargo clean --quiet "${published_packages[@]}" --target-dir "$CARGO_TARGET_DIR" || die "cargo clean failed"
fi
cargo package "$verify" --allow-dirty "${published_packages[@]}" --target-dir "$CARGO_TARGET_DIR" || die "cargo package failed"

for crate in "${published[@]}"; do
    name=${crate%%:*}-$(locked_version "${crate%%:*}")
    archive=$CARGO_TARGET_DIR/package/$name.crate
    kib=$(($(stat -c %s "$archive") / 1024))
    ((!list)) || tar -tvzf "$archive"
    say "$name.crate: $kib KiB compressed, $(tar -tzf "$archive" | wc -l) files"
    ((kib <= most_kib)) || die "$name.crate has $kib KiB compressed, allowed are $most_kib KiB"
    # Not with the archive's old times, by which an earlier build would look fresh.
    tar -C "$work" -xmzf "$archive"
    unpacked=$work/$name
    for licence in LICENSE-MIT LICENSE-APACHE; do
        cmp --quiet "$licence" "$unpacked/$licence" || die "$name.crate is without $licence"
    done
    pictures=$(find "$unpacked" -name '*.png')
    [[ ! $pictures ]] || die "$name.crate has pictures, whose licence may be another: $pictures"
    grep -qx "repository = \"$address\"" "$unpacked/Cargo.toml" || die "$name.crate does not name the repository"
    for page in $(cd "$unpacked" && find . -name '*.md'); do
        while read -r link; do
            [[ $link == *://* || $link == '#'* || -e $unpacked/$(dirname "$page")/${link%%#*} ]] ||
                die "$name.crate: $page links to $link, which the package lacks"
        done < <(grep -oE '\]\([^) ]+\)' "$unpacked/$page" | sed 's/^](//; s/)$//')
    done
    features=$(awk '/^\[/ { inside = $0 == "[features]" } inside && /^[a-z]/ && $1 != "default" { print $1 }' "$unpacked/Cargo.toml")
    for feature in $features; do
        grep -qF "\`$feature\`" "$unpacked/src/lib.rs" || die "$name.crate: the page of the crate does not name the feature $feature"
    done
done
((!list)) || exit 0
cd "$work/vksort-$version"
export CARGO_NET_OFFLINE=true

# The versions that the repository was tested with.
[[ -e Cargo.lock ]] || cp "$root/Cargo.lock" .
step() {
    say "== package: $*"
    "$@" || die "failed: $*"
}
# scripts/features.sh lints the same sources with each feature alone, and CI documents them.
# Here cargo enables the named features alone. In the repository, tests add those that they need.
every=standalone,keys-128,software-drivers,half,__compile,__testing
# In the profile of the tests, which has the dependencies compiled.
checked=(cargo --config "$root/scripts/checked.toml" --config 'profile.release.package.vksort.opt-level=0')
# Unoptimized: these tests need no device, and what they take is compiling.
step "${checked[@]}" test --quiet --release --features "$every" --lib
step "${checked[@]}" test --quiet --release --no-default-features --lib
step "${checked[@]}" test --quiet --release --no-default-features --doc
step "${checked[@]}" test --quiet --release --no-default-features --features standalone --doc
# With the compiler it needs no kept modules, and keeps none.
mv spirv "$work/spirv"
step env VKSORT_WRITE_SPIRV=1 "${checked[@]}" check --quiet --release --features compile-kernels
[[ ! -e spirv ]] || die "a build of the package has written $(find spirv -type f | wc -l) files to spirv/"
mv "$work/spirv" spirv
# As a dependency, where only what the library needs is built.
mkdir -p "$work/dependent/src"
cat >"$work/dependent/Cargo.toml" <<TOML
[package]
name = "dependent"
version = "0.0.0"
edition = "2024"
[dependencies]
vksort = { path = "$PWD", features = ["standalone"] }
[profile.release]
strip = true
TOML
cat >"$work/dependent/src/main.rs" <<'RUST'
fn main() -> Result<(), vksort::Error> {
    let mut keys: Vec<u32> = std::env::args().map(|argument| argument.len() as u32).collect();
    keys.sort();
    vksort::standalone::Gpu::best()?.sort(&mut keys, vksort::Order::Ascending)?;
    println!("{keys:?}");
    Ok(())
}
RUST
mkdir -p "$work/dependent/src/bin"
grep -v standalone "$work/dependent/src/main.rs" >"$work/dependent/src/bin/without.rs"
cp "$root/Cargo.lock" "$work/dependent"
step cargo build --quiet --release --manifest-path "$work/dependent/Cargo.toml" --message-format=json >"$work/built"
library=$(grep '"name":"vksort",' "$work/built" | grep -oE '"[^"]*/libvksort-[0-9a-f]+\.rlib"' | tr -d '"')
for document in README.md docs/guide/src/*.md; do
    # A chapter of another crate, whose tests run it.
    [[ ${document##*/} != visitors.md ]] || continue
    step rustdoc --test --edition 2024 --extern "vksort=$library" -L "dependency=$CARGO_TARGET_DIR/release/deps" "$document"
done
crates=$(cargo tree --quiet --package vksort --no-default-features --edges normal,build --prefix none | sed 's/ (.*//' | sort -u | wc -l)
((crates <= most_crates)) || die "without features vksort is $crates crates with its own, allowed are $most_crates"
step cargo tree --quiet --manifest-path "$work/dependent/Cargo.toml" --edges normal,build --prefix none >"$work/tree"
! grep '^shaderc' "$work/tree" >&2 || die "a program that sorts gets a C++ compiler"
added=$(($(stat -c %s "$CARGO_TARGET_DIR/release/dependent") - $(stat -c %s "$CARGO_TARGET_DIR/release/without")))
((added <= most_added)) || die "sorting adds $added bytes to a program, allowed are $most_added"
say "the package builds and passes its tests: $added bytes in a program"
