#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

# Compares calls, closures and layouts of bit-fields with those of clang and gcc. gcc spells encodings too if its
# Objective-C front end (gobjc) is installed.
#
#     Tests/ABI/run.sh [COUNT] [SEED]      # COUNT functions, 1000 by default
#
# The last line is "N passed, N failed". Variables in the environment:
#   CLANG, GCC  the compilers of the functions under test
#   OPTIMIZE    the optimisation of these functions (-O1, which relies on extended arguments as -O2 does)
#   CC          the compiler of the C target and of the drivers (clang)
#   SANITIZE    sanitizers for these: address,undefined, or thread (needs CC=gcc: Swift's clang would need libdispatch)
#   GENERIC=1   tests the lowering for processors without a port of their own

set -eu
here=$(cd "$(dirname "$0")" && pwd)
shims=$here/../../CShims
. "$here/../../scripts/shims.sh"
count=${1:-1000}
seed=${2:-}
: "${CLANG:=clang}" "${GCC:=gcc}" "${CC:=$CLANG}" "${OPTIMIZE:=-O1}" "${SANITIZE:=}" "${GENERIC:=}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

flags="-std=c11 -D_DEFAULT_SOURCE -g -O1 -Wall -Wextra -Wpedantic -Wshadow -Werror -Wno-psabi"
flags="$flags $shim_flags -I$here"
[ -z "$SANITIZE" ] || flags="$flags -fsanitize=$SANITIZE -fno-sanitize-recover=all -fno-omit-frame-pointer"
plain=
if [ -n "$GENERIC" ]; then
  flags="$flags -DFWD_GENERIC_LOWERING"
  plain=--plain
fi
case $(uname -m) in
  x86_64) long_double_bytes=10 ;;
  *)
    long_double_bytes=16
    plain=--plain
    ;;
esac

set -- --count "$count" --output "$work" $plain
[ -z "$seed" ] || set -- "$@" --seed "$seed"
python3 "$here/generate.py" "$@"
python3 "$here/layouts.py" --count "$count" --output "$work" ${seed:+--seed "$seed"}

# gcc's Objective-C front end is a package of its own, gobjc.
gcc_encodings=
if echo 'const char *e = @encode(int);' | $GCC -x objective-c -S -o /dev/null - 2>/dev/null; then
  gcc_encodings=-DHAS_GCC_ENCODINGS
fi

# Prints one command a line; xargs runs two at a time. The C target's higher layers need Swift and are left out.
{
  # shellcheck disable=SC2086 # One word a folder.
  for file in $(shim_sources $shim_call_folders); do
    echo "$CC $flags -c $file -o $work/shim_$(shim_object "$file").o"
  done
  echo "$CC $flags -c $here/driver.c -o $work/driver.o"
  echo "$CC $flags -c $here/traps.c -o $work/traps.o"
  echo "$CC $flags -c $here/stated_driver.c -o $work/stated_driver.o"
  functions="-w -Wno-psabi -std=gnu11 $OPTIMIZE -I$here -I$shims/include -DLONG_DOUBLE_BYTES=$long_double_bytes"
  echo "$CLANG $functions -DPREFIX=clang -c $here/stated_functions.c -o $work/stated.clang.o"
  echo "$GCC $functions -DPREFIX=gcc -c $here/stated_functions.c -o $work/stated.gcc.o"
  echo "$CC -w -I$here -c $work/tables.c -o $work/tables.o"
  echo "$CC $flags $gcc_encodings -c $here/layouts_driver.c -o $work/layouts_driver.o"
  layouts="-w -std=gnu11 -O1 -I$here"
  echo "$CLANG $layouts -DPREFIX=clang -c $work/layouts_types.c -o $work/layouts.clang.o"
  echo "$GCC $layouts -DPREFIX=gcc -c $work/layouts_types.c -o $work/layouts.gcc.o"
  spell="$layouts -x objective-c -c $work/layouts_encodings.m"
  echo "$CLANG $spell -fobjc-runtime=gcc -DPREFIX=clang -o $work/layouts.encodings.clang.o"
  [ -z "$gcc_encodings" ] || echo "$GCC $spell -DPREFIX=gcc -o $work/layouts.encodings.gcc.o"
  for chunk in "$work"/chunk_*.c; do
    functions="-w -Wno-psabi -std=gnu11 $OPTIMIZE -I$here -DLONG_DOUBLE_BYTES=$long_double_bytes -c $chunk"
    echo "$CLANG $functions -DPREFIX=clang -DWITH_MAPS -o ${chunk%.c}.clang.o"
    echo "$GCC $functions -DPREFIX=gcc -o ${chunk%.c}.gcc.o"
  done
} >"$work/commands"
tr '\n' '\0' <"$work/commands" | xargs -0 -n 1 -P 2 sh -c

link="${SANITIZE:+-fsanitize=$SANITIZE} $work/shim_*.o -lffi -lpthread"
$CC -o "$work/traps" "$work/traps.o" -Wl,--wrap=malloc -Wl,--wrap=calloc $link
$CC -o "$work/driver" "$work/driver.o" "$work/tables.o" "$work"/chunk_*.o $link
$CC -o "$work/layouts" "$work"/layouts_driver.o "$work"/layouts.*.o $link
$CC -o "$work/stated" "$work/stated_driver.o" "$work"/stated.*.o $link -latomic

# The generic lowering refuses stated layouts.
programs="traps driver"
[ -n "$GENERIC" ] || programs="$programs stated"
programs="$programs layouts targets"
# Which port other machines get.
printf '#!/bin/sh\nCLANG="%s" exec sh "%s/targets.sh"\n' "$CLANG" "$here" >"$work/targets"
chmod +x "$work/targets"

passed=0
failed=0
# Each program runs twice: with call plans and the pool's closures, then through libffi.
for program in $programs; do
  methods="plans libffi"
  # These make no calls.
  case $program in layouts | targets) methods=none ;; esac
  for method in $methods; do
    name="$program, $method"
    FWD_CALL=$method "$work/$program" >"$work/output" 2>&1 || true
    sed '$d' "$work/output"
    last=$(tail -n 1 "$work/output")
    case $last in
      *" passed, "*" failed")
        echo "$name: $last"
        passed=$((passed + ${last%% *}))
        last=${last#* passed, }
        failed=$((failed + ${last%% *}))
        ;;
      *)
        echo "$last"
        echo "$name: did not finish"
        failed=$((failed + 1))
        ;;
    esac
  done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
