#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

# Compares calls and closures on AArch64 with those that C compilers compile, under emulation.
#
#     Tests/ABI/run-arm64.sh [COUNT] [SEED]
#
# It tests COUNT functions with parameters of all types, and COUNT functions with types that libffi supports too. The
# last line is "N passed, N failed". On Debian it installs the cross compiler and the emulator. Variables in the
# environment:
#   CLANG, GCC  the cross compilers of the functions under test. If no clang supports AArch64, gcc -O0 takes its place.
#   OPTIMIZE    the optimisation of these functions (-O1)
#   CC          the compiler of the C target and of the drivers ($GCC)
#   SHIM_FLAGS  more flags for these

set -eu
. "$(dirname -- "$0")/../../scripts/lib.sh"
# lib.sh takes the parent of the script's directory for the package's, which holds for scripts/ only.
here=$root/ABI
root=$(dirname -- "$root")
cd "$root"
shims=CShims
. scripts/shims.sh
count=${1:-300}
seed=${2:-}
: "${GCC:=aarch64-linux-gnu-gcc}" "${OPTIMIZE:=-O1}" "${SHIM_FLAGS:=}"

# MARK: The tools

missing=
has qemu-aarch64-static || missing="$missing qemu-user-static"
has aarch64-linux-gnu-gcc || missing="$missing gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
[ -f /usr/lib/aarch64-linux-gnu/libffi.a ] || missing="$missing libffi-dev:arm64"
if [ -n "$missing" ]; then
  # apt-get lists packages for arm64 only after dpkg knows that architecture.
  if [ -z "${FWD_NO_INSTALL:-}" ] && has apt-get; then
    case $missing in *:arm64*) as_root dpkg --add-architecture arm64 ;; esac
  fi
  # shellcheck disable=SC2086
  install_packages "packages for the tests of AArch64 are missing" $missing
fi

target="--target=aarch64-linux-gnu -isystem /usr/aarch64-linux-gnu/include"
gcc_at=$OPTIMIZE
if [ -z "${CLANG:-}" ]; then
  if clang --print-targets 2>/dev/null | grep -q '^ *aarch64 '; then
    CLANG="clang $target"
  else
    echo "no clang for aarch64: gcc at -O0 takes its place"
    CLANG="$GCC -O0"
    OPTIMIZE=
  fi
fi
: "${CC:=$GCC}"

# MARK: Building

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

if [ -z "$seed" ]; then seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); fi
for set in full plain; do
  mkdir "$work/$set"
  case $set in full) plain= ;; plain) plain=--plain ;; esac
  python3 "$here/generate.py" --count "$count" --seed "$seed" --chunk 75 --output "$work/$set" $plain >/dev/null
done
echo "seed $seed"

flags="-std=c11 -D_DEFAULT_SOURCE -g -O1 -Wall -Wextra -Wpedantic -Wshadow -Werror -Wno-psabi $SHIM_FLAGS"
flags="$flags $shim_flags -I$here -isystem /usr/include/aarch64-linux-gnu"

# Prints one command a line; xargs runs two at a time. All files of the C target go into an archive. The linker takes
# only those that the drivers need, and these need no Swift. traps.c has helpers for x86-64 only, hence
# -Wno-unused-function.
{
  for file in $(shim_sources); do
    echo "$CC $flags -c $file -o $work/shim_$(shim_object "$file").o"
  done
  for file in plan_driver traps traps_aapcs64 stated_driver; do
    echo "$CC $flags -Wno-unused-function -c $here/$file.c -o $work/$file.o"
  done
  functions="-w -Wno-psabi -std=gnu11 -I$here -I$shims/include -DLONG_DOUBLE_BYTES=16 -c $here/stated_functions.c"
  echo "$CLANG $OPTIMIZE $functions -DPREFIX=clang -o $work/stated.clang.o"
  echo "$GCC $gcc_at $functions -DPREFIX=gcc -o $work/stated.gcc.o"
  for set in full plain; do
    echo "$CC -w -I$here -c $work/$set/tables.c -o $work/$set/tables.o"
    for chunk in "$work/$set"/chunk_*.c; do
      functions="-w -Wno-psabi -std=gnu11 -I$here -DLONG_DOUBLE_BYTES=16 -c $chunk"
      echo "$CLANG $OPTIMIZE $functions -DPREFIX=clang -DWITH_MAPS -o ${chunk%.c}.clang.o"
      echo "$GCC $gcc_at $functions -DPREFIX=gcc -o ${chunk%.c}.gcc.o"
    done
  done
} >"$work/commands"
tr '\n' '\0' <"$work/commands" | xargs -0 -n 1 -P 2 sh -c
aarch64-linux-gnu-ar rcs "$work/libshim.a" "$work"/shim_*.o

# A static program runs without an arm64 system.
link="-static -L$work -lshim -lffi -lpthread"
aarch64-linux-gnu-gcc -o "$work/traps" "$work/traps.o" -Wl,--wrap=malloc -Wl,--wrap=calloc $link
aarch64-linux-gnu-gcc -o "$work/traps_aapcs64" "$work/traps_aapcs64.o" $link
aarch64-linux-gnu-gcc -o "$work/stated" "$work/stated_driver.o" "$work"/stated.*.o $link -latomic
for set in full plain; do
  aarch64-linux-gnu-gcc -o "$work/$set/driver" "$work/plan_driver.o" "$work/$set"/*.o $link
done

# MARK: Running

# FWD_CALL=libffi routes calls by the call interface through libffi. The drivers call the plans directly.
passed=0
failed=0
for run in "plan traps" "libffi traps" "plan stated" "libffi stated" "libffi traps_aapcs64" "libffi full/driver" \
  "libffi plain/driver"; do
  program=${run#* }
  FWD_CALL=${run%% *} qemu-aarch64-static "$work/$program" "${program%/*}" >"$work/output" 2>&1 || true
  sed '$d' "$work/output"
  last=$(tail -n 1 "$work/output")
  case $last in
    *" passed, "*" failed")
      echo "$program, by ${run%% *}: $last"
      passed=$((passed + ${last%% *}))
      last=${last#* passed, }
      failed=$((failed + ${last%% *}))
      ;;
    *)
      echo "$last"
      echo "$program, by ${run%% *}: did not finish"
      failed=$((failed + 1))
      ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
