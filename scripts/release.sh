#!/usr/bin/env bash
# Publishes the crates: scripts/release.sh --dry-run | --publish
#
# Checks the versions, and makes and checks the packages of a clean clone of the commit at hand (scripts/package.sh --verify), each built
# against the others. If there is a tag of an earlier release with the same first two numbers, its vksort-wgpu is compiled
# against the new vksort, as programs may have both. RELEASING.md has the steps before and after.
#
#   --dry-run  does all of that, and publishes nothing
#   --publish  publishes afterwards: cargo needs a token. Refused while Cargo.toml names no repository
#   --help     this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

publish=0
case ${1-} in
    --dry-run) ;;
    --publish) publish=1 ;;
    --help) usage && exit ;;
    '') die "--dry-run or --publish is missing" ;;
    *) die "unknown option $1, allowed are --dry-run, --publish and --help" ;;
esac
check_rust
has git || die "git is missing"

changed=$(git status --porcelain | head -n 1)
[[ ! $changed ]] || die "a release is made of a commit, and this differs from it: ${changed:3}"
version=$(locked_version vksort)
for crate in vksort-profiles vksort-visitors vksort-capi vksort-compile-visitor; do
    [[ $(locked_version "$crate") == "$version" ]] || die "$crate has the version $(locked_version "$crate"), needed is that of vksort, $version"
done
entry=$(grep -F "## [$version]" CHANGELOG.md) || die "CHANGELOG.md has no entry for $version"
if ((publish)); then
    [[ $(repository) ]] || die "repository in Cargo.toml is empty, needed is the address that pages of the packages lead to"
    [[ $entry =~ ^'## ['$version'] - '[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] || die "CHANGELOG.md says '$entry', needed is '## [$version] - ' and a date"
    ! grep -q 'not released yet' README.md || die "README.md says that vksort is not released yet, needed is 'cargo add vksort'"
    [[ ! $(git tag --list "v$version") ]] || die "there is a tag v$version already"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
root=$PWD
git clone --quiet . "$work/clone"
say "== release: packages of $(git -C "$work/clone" describe --always)"
"$work/clone/scripts/package.sh" --verify --keep "$work/stage" || die "the packages of $version are not right"

# The newest release that programs may have beside this one.
earlier=$(git tag --list "v${version%.*}.*" --sort=-v:refname | grep -vx "v$version" | head -n 1) || true
if [[ $earlier ]]; then
    say "== release: vksort-wgpu of $earlier against vksort $version"
    git clone --quiet --branch "$earlier" . "$work/earlier"
    mkdir "$work/both"
    cp -R "$work/earlier/crates/wgpu" "$work/both/wgpu"
    # What only its tests need is not published.
    sed -i '/^\[dev-dependencies\]/,/^\[lints\]/{/^\[lints\]/!d}; /^\[\[test\]\]/,$d' "$work/both/wgpu/Cargo.toml"
    sed "s|^vksort = .*|vksort = { path = \"$work/stage\", default-features = false }|" -i "$work/both/wgpu/Cargo.toml"
    { cat <<TOML && sed -n '/^\[workspace.package\]/,/^$/p; /^\[workspace.lints/,/^$/p' "$work/earlier/Cargo.toml"; } >"$work/both/Cargo.toml"
[workspace]
members = ["wgpu"]
TOML
    cp "$root/Cargo.lock" "$work/both"
    cargo check --quiet --manifest-path "$work/both/Cargo.toml" || die "vksort-wgpu of $earlier does not compile against vksort $version"
else
    say "== release: no earlier release of ${version%.*} whose vksort-wgpu could be checked"
fi

cd "$work/stage"
cargo_publish=(cargo publish --quiet --allow-dirty --no-verify "${published_packages[@]}")
if ((!publish)); then
    "${cargo_publish[@]}" --dry-run || die "cargo would not publish the packages"
    say "vksort $version can be released: nothing was published"
    exit
fi
"${cargo_publish[@]}" || die "cargo publish failed: packages that it published stay, and are to be left out by hand"
say "published: now 'git tag v$version' in the repository"
