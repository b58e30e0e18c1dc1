#!/bin/sh
# Runs a program with the libraries, the Vulkan loader and one driver of an unpacked root: run.sh FOLDER DRIVER PROGRAM ARGS...
#
# FOLDER is where setup.sh unpacked. DRIVER is nouveau, intel, freedreno, asahi, radeon or lvp. NULLGPU says which GPU the
# driver finds (nullgpu.c); lvp is a CPU and needs none.
set -eu
folder=$(readlink -f "$1") driver=$2
shift 2
lib=$folder/root/usr/lib/x86_64-linux-gnu
export VK_DRIVER_FILES="$folder/icd/$driver.json" VK_ICD_FILENAMES="$folder/icd/$driver.json" VK_LOADER_LAYERS_DISABLE='~implicit~'
[ -z "${NULLGPU:-}" ] || set -- --preload "$folder/libnullgpu.so" "$@"
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$@"
