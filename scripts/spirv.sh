#!/usr/bin/env bash
# Compiles glsl/ and copies the modules to spirv/, which builds without the feature `shaderc` use: scripts/spirv.sh
#
# Counts their instructions in benches/record/spirv.csv too, and says which modules have other counts than before.
#
#   --check  changes nothing and fails when spirv/ is not byte for byte what glsl/ compiles to
#   --help   this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

check=0
case ${1:-} in
    '') ;;
    --check) check=1 ;;
    --help) usage && exit ;;
    *) die "unknown option $1, allowed are --check and --help" ;;
esac

# build.rs compiles the modules; cargo says where it put them, also when nothing had to be built.
messages=$(cargo check --quiet --features shaderc --message-format=json-render-diagnostics) || die "the build failed"
out=$(python3 -c '
import json, os, sys
here = "path+file://" + os.getcwd()
for line in sys.stdin:
    message = json.loads(line)
    if message["reason"] == "build-script-executed" and message["package_id"].startswith(here + "#"):
        print(message["out_dir"])
' <<<"$messages")
[[ -d $out ]] || die "cargo named no output directory of build.rs"

# The directory may hold modules of earlier builds, so only those count that the library embeds.
mapfile -t modules < <(grep -o '[a-z0-9_]*\.spv' "$out/modules.rs" | sort)
((${#modules[@]})) || die "$out/modules.rs lists no modules"

changed=()
for module in "${modules[@]}"; do
    if [[ ! -e spirv/$module ]]; then
        changed+=("missing: spirv/$module")
    elif ! cmp -s "$out/$module" "spirv/$module"; then
        changed+=("differs: spirv/$module")
    else
        continue
    fi
    ((check)) || { mkdir -p spirv && cp "$out/$module" "spirv/$module"; }
done
for file in spirv/*; do
    [[ -e $file && " ${modules[*]} " != *" ${file#spirv/} "* ]] || continue
    changed+=("not a module: $file")
    ((check)) || rm "$file"
done

if ((${#changed[@]} == 0)); then
    say "spirv/ is what glsl/ compiles to: ${#modules[@]} modules"
elif ((check)); then
    printf '%s\n' "${changed[@]}" >&2
    die "spirv/ is not what glsl/ compiles to; run scripts/spirv.sh"
else
    printf 'was %s\n' "${changed[@]}" >&2
    say "spirv/ is now what glsl/ compiles to: ${#modules[@]} modules"
fi
((!check)) || exit 0

table=benches/record/spirv.csv
counted=$(VKSORT_WRITE_SPIRV=1 cargo test --quiet --release --features shaderc --test spirv -- --exact --nocapture \
    the_table_of_instructions_is_that_of_the_modules) || die "$counted"
grep ': ' <<<"$counted" | grep -v '^test result' >&2 || say "$table has no other counts than before"
say "$table holds the counts of ${#modules[@]} modules"
