#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

# Tests the C target with hostile encodings, failing allocations, deep recursion and many threads, compares the list
# of subscribers with a simple model of it, compares the ways of a fan-out with each other, tests the registers of every
# shape, and limits the size of the code.
#
#     Tests/Robustness/run.sh [BUILD...]
#
# The last line is "N passed, N failed". The builds, by default all:
#   debug     -O0, where stack frames are largest
#   release   -O2, position-independent and with frame pointers, as SwiftPM builds
#   address   address, leak and undefined behaviour sanitizers
#   thread    thread sanitizer
# Variables in the environment:
#   CC        the compiler (the Swift toolchain's clang, or else clang)
#   ROUNDS    the rounds of each thread in threads.c
#   EPISODES  the number of random sequences in list_model.c and fan_out_ways.c
#   SEED      the seed of all three

set -eu
. "$(dirname -- "$0")/../../scripts/lib.sh"
# lib.sh takes the parent of the script's directory for the package's, which holds for scripts/ only.
root=$(dirname -- "$root")
cd "$root"
shims=CShims
. scripts/shims.sh

builds=
for argument in "$@"; do
  case $argument in
    debug | release | address | thread) builds="$builds $argument" ;;
    *) fail "unknown build: $argument; usage: Tests/Robustness/run.sh [debug] [release] [address] [thread]" ;;
  esac
done
[ -n "$builds" ] || builds="debug release address thread"

need_libffi
if [ -z "${CC:-}" ]; then
  CC=clang
  if has swift; then
    beside=$(toolchain_directory)/clang
    if [ -x "$beside" ]; then CC=$beside; fi
  fi
fi
has "$CC" || install_packages "$CC is missing" "$CC"
{ has nm && has size; } || install_packages "nm or size is missing" binutils
make_temporary_directory

tests=Tests/Robustness
common="-std=c11 -D_DEFAULT_SOURCE -g -Wall -Wextra -Wpedantic -Wshadow -Werror -Wno-psabi"
common="$common $shim_flags $(pkg-config --cflags libffi)"
libraries="$(pkg-config --libs libffi) -lpthread"
is_clang=false
if "$CC" --version | grep -q clang; then
  is_clang=true
  common="$common -Wno-nullability-extension"
  # Only the linker of the same toolchain knows its sanitizers' exports.
  if [ -x "$(dirname -- "$(command -v "$CC")")/ld.lld" ]; then libraries="$libraries -fuse-ld=lld"; fi
fi

flags_of() {
  case $1 in
    debug) echo "-O0" ;;
    # As SwiftPM compiles the C target, so that nesting.c measures the frames that programs have.
    release) echo "-O2 -fPIC -fno-omit-frame-pointer" ;;
    address) echo "-O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all" ;;
    thread) echo "-O1 -fno-omit-frame-pointer -fsanitize=thread" ;;
  esac
}

programs_of() {
  case $1 in
    debug) echo "hostile nesting allocation_failures fan_out_ways filled_calls" ;;
    # Without `reclaim`: the thread sanitizer crashes in threads' exit handlers, which that program uses.
    thread) echo "threads quick_lock counter fork selectors mailboxes anchors" ;;
    *)
      echo "hostile nesting allocation_failures list_model short_segments fan_out_ways fan_out_in_parts threads reclaim fork selectors"
      echo "visitors mailboxes quick_lock counter registers anchors filled_calls"
      ;;
  esac
}

# The thread sanitizer of Swift's clang refers to libdispatch, which lies beside it.
extra_of() {
  runtime=$(dirname -- "$CC")/../lib/swift/linux
  if [ "$1" = thread ] && $is_clang && [ -e "$runtime/libdispatch.so" ]; then
    echo "-L$runtime -Wl,-rpath,$runtime -ldispatch -lBlocksRuntime"
  fi
}

# allocation_failures.c wraps each function that allocates or frees.
wraps=
for function in $shim_allocating; do wraps="$wraps -Wl,--wrap=$function"; done

say "Building$(printf ' %s' $builds) with $CC"
# Prints one command a line; xargs runs two at a time.
for build in $builds; do
  mkdir "$temporary/$build"
  for file in $(shim_sources); do
    echo "$CC $common $(flags_of "$build") -c $file -o $temporary/$build/$(shim_object "$file").o"
  done
done | tr '\n' '\0' | xargs -0 -n 1 -P 2 sh -c
for build in $builds; do
  for program in $(programs_of "$build"); do
    sources=$tests/$program.c
    objects=$temporary/$build/*.o
    case $program in
      # The model of the list, with segments so short that every list has many.
      short_segments)
        sources="$tests/list_model.c $shims/src/members/segments.c"
        objects="\$(ls $temporary/$build/*.o | grep -v members_segments.o)"
        options="-DFWD_SMALL_SEGMENT=3 -DFWD_LARGE_SEGMENT=7"
        ;;
      # The ways of a fan-out, where nearly every list is prefetched and delivered to in parts.
      fan_out_in_parts)
        sources=$tests/fan_out_ways.c
        objects="\$(ls $temporary/$build/*.o"
        for file in deciding looping replay batch; do
          sources="$sources $shims/src/fan_out/$file.c"
          objects="$objects | grep -v fan_out_$file.o"
        done
        objects="$objects)"
        options="-DFWD_PREFETCHED_COUNT=6 -DFWD_PREFETCH_DISTANCE=4"
        ;;
      # Mailboxes with blocks so small, and so few dropped bytes left alone, that everything happens often.
      mailboxes)
        sources="$sources $shims/src/mailbox/blocks.c"
        objects="\$(ls $temporary/$build/*.o | grep -v mailbox_blocks.o)"
        options="-DFWD_MAIL_BLOCK=1024 -DFWD_MAIL_SLACK=1024"
        ;;
      allocation_failures) options=$wraps ;;
      threads) options=-Wl,--wrap=free ;;
      *) options= ;;
    esac
    echo "$CC $common $(flags_of "$build") $sources $objects \
-o $temporary/$build/$program $options $(extra_of "$build") $libraries"
  done
done | tr '\n' '\0' | xargs -0 -n 1 -P 2 sh -c

# The C target as a shared library, whose functions the dynamic linker finds at their first calls. The linker changes registers
# that functions with FWD_KEEPS_REGISTERS (base/cold_call.h) must keep, so it must not come between.
case " $builds " in
  *" release "*)
    $CC -shared -Wl,-z,lazy "$temporary"/release/*.o -o "$temporary/release/libshims.so" $libraries
    $CC $common $(flags_of release) $tests/visitors.c -o "$temporary/release/visitors_of_library" -rdynamic -Wl,-z,lazy \
      -L"$temporary/release" -Wl,-rpath,"$temporary/release" -lshims $libraries
    ;;
esac

passed=0
failed=0
# One of those that this process may use.
processor=$(taskset -cp $$ 2>/dev/null | sed 's/.*: *\([0-9]*\).*/\1/')

# Runs a program and adds the counts in its last line: `run_program NAME COMMAND...`
run_program() {
  name=$1
  shift
  status=0
  "$@" >"$temporary/output" 2>&1 || status=$?
  last=$(tail -n 1 "$temporary/output")
  counts=$(printf '%s\n' "$last" | sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed$/\1 \2/p')
  sed "s/^/  /" "$temporary/output" | sed '$d'
  if [ -z "$counts" ]; then
    echo "  $last"
    counts="0 1"
  fi
  passed=$((passed + ${counts% *}))
  bad=${counts#* }
  # A sanitizer that reports at exit fails the program after its last line.
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  failed=$((failed + bad))
  echo "$name: ${counts% *} passed, $bad failed"
}

# Fails if the C target uses a library function that is neither in `shim_allocating` nor in this list of functions that do
# not allocate. A new one must be added to one of the two, or its failure would never be tested.
check_allocators() {
  quiet='fwd_.*|swift_.*|ffi_.*|mem[a-z]*|bcmp|str(len|chr|cmp|ncmp)|v?snprintf|abort|getenv|_.*'
  quiet="$quiet|pthread_(once|self|equal|attr)[a-z_]*|sched_yield|nanosleep|clock_gettime|syscall|mprotect|sysconf"
  # The loader reports what it lacks by dlerror.
  quiet="$quiet|dl(open|v?sym|error|addr1)"
  unknown=$(nm -u "$temporary/$1"/*.o | awk 'NF == 2 { print $2 }' | sort -u | grep -Evx "$quiet" |
    grep -Fvx "$(printf '%s\n' $shim_allocating)" || true)
  if [ -n "$unknown" ]; then
    echo "  Tests/Robustness/run.sh does not know whether these get memory:" $unknown
    echo "0 passed, 1 failed"
  else
    echo "1 passed, 0 failed"
  fi
}

# The text of the C target (code, read-only data, unwind tables) has at most 300,000 bytes, measured with clang on x86-64. Macros
# that expand one function for many shapes make it grow unnoticed. If a change needs more, raise the limit in the same
# commit and say why.
text_limit=300000
check_text() {
  text=$(size -t "$temporary/release"/*.o | awk 'END { print $1 }')
  if [ "$text" -le $text_limit ]; then
    echo "1 passed, 0 failed"
  else
    echo "  the text of the C target has $text bytes, more than text_limit in Tests/Robustness/run.sh ($text_limit)"
    echo "0 passed, 1 failed"
  fi
}

# A build for Darwin must fail, rather than corrupt Objective-C objects, unless the builder says that there are none.
check_darwin() {
  darwin="$CC $common -D__APPLE__ -fsyntax-only $shims/src/members/weak.c"
  if $darwin 2>&1 | grep -q FWD_NATIVE_OBJECTS_ONLY && $darwin -DFWD_NATIVE_OBJECTS_ONLY; then
    echo "1 passed, 0 failed"
  else
    echo "  weak.c must not compile for Darwin without FWD_NATIVE_OBJECTS_ONLY, and must compile with it"
    echo "0 passed, 1 failed"
  fi
}
run_program "weak references on Darwin" check_darwin

export ASAN_OPTIONS="detect_leaks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export TSAN_OPTIONS="halt_on_error=0:exitcode=66${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
for build in $builds; do
  # Sanitizers add calls to their run-time libraries.
  case $build in debug | release) run_program "$build, allocators" check_allocators "$build" ;; esac
  if [ "$build" = release ] && $is_clang && [ "$(uname -m)" = x86_64 ]; then
    run_program "release, text" check_text
  fi
  if [ "$build" = release ]; then
    run_program "release, visitors, shared library" "$temporary/release/visitors_of_library"
  fi
  for program in $(programs_of "$build"); do
    set --
    case $program in
      threads) set -- "${ROUNDS:-10000}" ${SEED:+"$SEED"} ;;
      list_model | short_segments) set -- "${EPISODES:-250}" ${SEED:+"$SEED"} ;;
      fan_out_ways | fan_out_in_parts) set -- "${EPISODES:-400}" ${SEED:+"$SEED"} ;;
      selectors) case $build in address | thread) set -- 160000 ;; esac ;;
    esac
    run_program "$build, $program" "$temporary/$build/$program" "$@"
    # On one processor a thread is interrupted in the middle of a change, which others then see for a long time.
    if [ "$program" = threads ] && has taskset; then
      run_program "$build, $program, one processor" taskset -c "$processor" "$temporary/$build/$program" "$@"
    fi
    # Programs with Swift objects run again with Swift's own weak references, but not in each build; and some as with a runtime
    # whose counts are elsewhere (objects.h).
    case $build:$program in
      *:fan_out_ways | *:nesting | thread:threads | address:list_model | address:fan_out_in_parts)
        run_program "$build, $program, unknown counts" env OBJECTS_COUNTS=unknown "$temporary/$build/$program" "$@"
        ;;
    esac
    case $build:$program in
      release:*) ;;
      *:allocation_failures | *:list_model | *:short_segments | *:fan_out_ways | *:fan_out_in_parts | *:threads)
        run_program "$build, $program, stock references" env FWD_WEAK=stock "$temporary/$build/$program" "$@"
        ;;
    esac
  done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
