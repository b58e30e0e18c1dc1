#!/usr/bin/env bash
# Packages the crates, and builds and tests them as their users get them: scripts/package.sh [--list]
#
# Unpacks the packages into a temporary folder. There it compiles the library without features and with all, runs unit and
# documentation tests, and compiles the other crates against it, without the network. A missing file makes it fail. The suites
# in tests/ are not packaged, as they need crates/testing. Every snippet of README and guide runs with the library as
# its only dependency. Builds go to target/ or $CARGO_TARGET_DIR, which holds the built dependencies.
#
#   --list  prints the files of the packages and their sizes, and ends
#   --help  this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

case ${1:-} in
    '' | --list) ;;
    --help) usage && exit ;;
    *) die "unknown option $1, allowed are --list and --help" ;;
esac

# Most that the package may take, compressed.
most_kib=4096
# Most that sorting a slice may add to a stripped program, in bytes, with the default features.
most_added=1350000

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
root=$PWD

# Files that are not committed yet are packaged too.
cargo package --quiet --package vksort --package vksort-profiles --package vksort-visitors --package vksort-wgpu --no-verify --allow-dirty --target-dir "$work" ||
    die "cargo package failed"
version=$(locked_version vksort)
for archive in "$work"/package/*.crate; do
    kib=$(($(stat -c %s "$archive") / 1024))
    if [[ ${1:-} == --list ]]; then
        tar -tvzf "$archive"
        say "${archive##*/}: $kib KiB compressed"
    fi
    ((kib <= most_kib)) || die "${archive##*/} has $kib KiB compressed, allowed are $most_kib KiB"
    # Not with the archive's old times, by which an earlier build would look fresh.
    tar -C "$work" -xmzf "$archive"
    for licence in LICENSE-MIT LICENSE-APACHE; do
        cmp --quiet "$licence" "$work/$(basename "$archive" .crate)/$licence" || die "${archive##*/} is without $licence"
    done
done
[[ ${1:-} != --list ]] || exit 0
archive=$work/package/vksort-$version.crate
kib=$(($(stat -c %s "$archive") / 1024))
cd "$work/vksort-$version"
# Outside the repository there are no settings of its workspace.
[[ ${CARGO_TARGET_DIR:-} == /* ]] || CARGO_TARGET_DIR=$root/${CARGO_TARGET_DIR:-target}
export CARGO_TARGET_DIR CARGO_NET_OFFLINE=true

# The native part of the crate shaderc, where setup.sh has made it.
native=$vksort_cache/shaderc-$(cd "$root" && locked_version shaderc-sys)
[[ ! -e $native ]] || export SHADERC_LIB_DIR=$native

# Every file that the documents link to is there.
missing=0
for document in *.md docs/*.md docs/guide/src/*.md; do
    while read -r link; do
        case $link in
            *://* | '#'* | '') continue ;;
        esac
        link=$(realpath -m --relative-to=. "$(dirname "$document")/${link%%#*}")
        # Other crates, programs, tests and the lab are in the repository alone.
        case $link in
            crates/* | examples/* | lab/* | programs/* | tests/*) found=$root/$link ;;
            *) found=$link ;;
        esac
        [[ -e $found ]] || { say "$document links to $link, which the package lacks" && missing=1; }
    done < <(grep -oE '\]\([^) ]+\)' "$document" | sed 's/^](//; s/)$//')
done
((!missing)) || die "files are missing"

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
step "${checked[@]}" check --quiet --release --no-default-features
step "${checked[@]}" check --quiet --release --features "$every" --all-targets
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
# The crates beside it, as a program that has both from a registry. wgpu takes minutes to compile, unless its lints have been run
# before, as in CI.
for crate in vksort-visitors vksort-profiles vksort-wgpu; do
    cp "$root/Cargo.lock" "$work/$crate-$version"
    step "${checked[@]}" --config "patch.crates-io.vksort.path='$PWD'" \
        --config "patch.crates-io.vksort-visitors.path='$work/vksort-visitors-$version'" check --quiet --release --lib \
        --manifest-path "$work/$crate-$version/Cargo.toml"
done
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
step cargo tree --quiet --manifest-path "$work/dependent/Cargo.toml" --edges normal,build --prefix none >"$work/tree"
! grep '^shaderc' "$work/tree" >&2 || die "a program that sorts gets a C++ compiler"
added=$(($(stat -c %s "$CARGO_TARGET_DIR/release/dependent") - $(stat -c %s "$CARGO_TARGET_DIR/release/without")))
((added <= most_added)) || die "sorting adds $added bytes to a program, allowed are $most_added"
say "the package builds and passes its tests: $added bytes in a program, $kib KiB compressed, $(tar -tzf "$archive" | wc -l) files"
