#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

# Checks what the compiler accepts and refuses: by default of programs that take delegate slots across isolation domains.
#
#     Tests/Isolation/run.sh [CASES [MODULES]]
#
# Needs a debug build: `swift build --target Forwarding`. The last line is "N passed, N failed".
#
# Each part of CASES, between lines that begin with "// CASE", is one program. The words behind "CASE" are the
# name; a line "// ERROR text" says what the compiler's error must contain. Without one the program must compile.

set -eu
cd -- "$(dirname -- "$0")/../.."
cases=${1:-Tests/Isolation/Cases.swift}
modules=${2:-.build/debug/Modules}
[ -e "$modules/Forwarding.swiftmodule" ] || {
  echo "$modules has no module Forwarding: run 'swift build --target Forwarding' first" >&2
  exit 1
}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
awk -v directory="$directory" '
  /^\/\/ CASE / { number++ }
  number == 0 { head = head $0 "\n"; next }
  {
    file = sprintf("%s/%02d.swift", directory, number)
    if (!(file in seen)) { seen[file] = 1; printf "%s", head >file }
    print >file
  }' "$cases"

passed=0
failed=0
for file in "$directory"/*.swift; do
  name=$(sed -n 's,^// CASE ,,p' "$file")
  expected=$(sed -n 's,^// ERROR ,,p' "$file")
  # Data races are found behind type checking, so the program is compiled.
  status=0
  swiftc -swift-version 6 -strict-memory-safety -parse-as-library -I "$modules" -I CShims/include -I CShims/internal -Xcc -DFWD_INTERNAL -c "$file" \
    -o "$directory/case.o" >"$directory/log" 2>&1 || status=$?
  if [ -z "$expected" ] && [ "$status" -eq 0 ]; then
    passed=$((passed + 1))
  elif [ -n "$expected" ] && [ "$status" -ne 0 ] && grep -q -F "error: $expected" "$directory/log"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name: expected ${expected:-no error}, got:"
    grep -E 'error: ' "$directory/log" || echo "no error"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
