#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

# Checks which port each machine gets: Tests/ABI/targets.sh
# A machine that passes arguments otherwise than a port must get the generic port or an error, never the port.
# The last line is "N passed, N failed". In the environment:
#   CLANG  a clang, whose preprocessor knows all machines (clang)

set -eu
header=$(cd "$(dirname "$0")" && pwd)/../../CShims/src/abi/convention.h
: "${CLANG:=clang}"
passed=0
failed=0

# Expects a port for a machine: `expect PORT CLANG_OPTION...`. PORT is sysv, aapcs64, generic or refused.
expect() {
  expected=$1
  shift
  if macros=$($CLANG "$@" -x c -E -dM "$header" 2>/dev/null); then
    case $macros in
      *"FWD_IS_SYSV 1"*) port=sysv ;;
      *"FWD_IS_AAPCS64 1"*) port=aapcs64 ;;
      *"FWD_IS_SYSV 0"*) port=generic ;;
      *) port=none ;;
    esac
  else
    port=refused
  fi
  if [ "$port" = "$expected" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "$*: expected $expected, got $port"
  fi
}

expect sysv --target=x86_64-linux-gnu
expect sysv --target=x86_64-apple-macos11
expect sysv --target=x86_64-unknown-freebsd
# `long double` is binary128, or a double.
expect refused --target=x86_64-linux-android
expect refused --target=x86_64-linux-gnu -mlong-double-64
expect generic --target=x86_64-linux-gnux32
expect generic --target=x86_64-pc-windows-msvc
expect generic --target=x86_64-pc-cygwin
expect generic --target=i386-linux-gnu
expect aapcs64 --target=aarch64-linux-gnu
expect aapcs64 --target=aarch64-linux-android
expect generic --target=aarch64_be-linux-gnu
# Clang has no ILP32 of its own.
expect generic --target=aarch64-linux-gnu -U__LP64__
expect generic --target=arm64-apple-macos11
expect generic --target=aarch64-pc-windows-msvc
expect generic --target=riscv64-linux-gnu

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
