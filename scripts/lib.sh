# shellcheck shell=bash
# What the scripts share: messages, and where things are on this machine.

# Where setup.sh keeps what is made once per machine.
# shellcheck disable=SC2034
vksort_cache="${XDG_CACHE_HOME:-$HOME/.cache}/vksort"

# What the guide is built with.
mdbook_version=0.5.4
# shellcheck disable=SC2034
mdbook_dir=$vksort_cache/mdbook-$mdbook_version-search

# Where the compilers of GPUs are unpacked.
# shellcheck disable=SC2034
gpu_compilers=${VKSORT_GPU_COMPILERS:-$vksort_cache/gpu-compilers}

# The published crates with their folders, each behind those that it depends on.
published=(vksort:. vksort-profiles:crates/profiles vksort-visitors:crates/visitors vksort-wgpu:crates/wgpu)
# The same as options of cargo.
# shellcheck disable=SC2034
published_packages=()
for crate in "${published[@]}"; do published_packages+=(--package "${crate%%:*}"); done

# rustup changes the PATH of new shells only.
command -v cargo >/dev/null || PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH

say() {
    printf '%s\n' "$*" >&2
}

die() {
    say "${0##*/}: $*"
    exit 1
}

# The script's own head comment.
usage() {
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"
}

# Ends with one line if there are arguments: no_arguments "$@"
no_arguments() {
    case ${1-} in
        '') ;;
        --help) usage && exit ;;
        *) die "unknown argument $1, allowed is --help" ;;
    esac
}

has() {
    command -v "$1" >/dev/null
}

# Ends with one line unless cargo is there, and a compiler of this version or the one that Cargo.toml asks for: check_rust [VERSION]
check_rust() {
    has cargo && has rustc || die "cargo is missing: install Rust from https://rustup.rs"
    local needed given
    needed=${1:-$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)}
    given=$(rustc --version | cut -d ' ' -f 2)
    [[ $(printf '%s\n' "$needed" "$given" | sort -V | head -n 1) == "$needed" ]] ||
        die "rustc is $given, needed is $needed or newer: run 'rustup update stable'"
}

# The version of a package in Cargo.lock.
locked_version() {
    awk -v wanted="\"$1\"" '$1 == "name" { name = $3 } $1 == "version" && name == wanted { gsub(/"/, "", $3); print $3; exit }' Cargo.lock
}

# Lets cargo build outside of the checkout, which has settings of its own: in the same folder, and with the native part of the crate
# shaderc where setup.sh has made it.
build_anywhere() {
    [[ ${CARGO_TARGET_DIR:-} == /* ]] || CARGO_TARGET_DIR=$PWD/${CARGO_TARGET_DIR:-target}
    export CARGO_TARGET_DIR
    local native
    native=$vksort_cache/shaderc-$(locked_version shaderc-sys)
    [[ ! -e $native ]] || export SHADERC_LIB_DIR=$native
}

# The features that docs.rs documents vksort with, as Cargo.toml says, separated by commas.
documented_features() {
    sed -n '/^\[package.metadata.docs.rs\]/,/^$/s/^features = \[\(.*\)\]/\1/p' Cargo.toml | tr -d '" '
}

# The address of the repository, in Cargo.toml; empty while there is none.
repository() {
    sed -n '/^\[workspace.package\]/,/^\[/s/^repository = "\(.*\)"/\1/p' Cargo.toml
}

# The first manifest of that name (a glob) where the Vulkan loader looks: vulkan_manifest icd.d 'lvp_icd*.json'.
vulkan_manifest() {
    local root file
    for root in "$HOME/.local/share" /etc /usr/local/etc /usr/local/share /usr/share; do
        for file in "$root/vulkan/$1/"$2; do
            [[ -e $file ]] && printf '%s\n' "$file" && return
        done
    done
    return 1
}

lavapipe_icd() {
    vulkan_manifest icd.d 'lvp_icd*.json'
}

# The layer manifest of the system, not the one that setup.sh takes out of chromium-common.
system_validation_layer() {
    vulkan_manifest explicit_layer.d 'VkLayer_khronos_validation.json'
}

# The directory with SwiftShader and the newer validation layer; setup.sh renames it into place when it is complete.
chromium_parts() {
    local newest
    newest=$(printf '%s\n' "$vksort_cache"/chromium-*/vk_swiftshader_icd.json | sort -V | tail -n 1)
    [[ -e $newest ]] && dirname "$newest"
}
