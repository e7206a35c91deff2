// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Runs the table of hostile sequences (Tests/Support/CTestFixtures) in a program that holds the whole library, with
/// each allocation of the C target failing in turn.
///
/// scripts/library links this program with the objects of the library, the Swift runtime as a shared library, and
/// `--wrap` for every function that allocates. The linker redirects the calls of the C target (and of this program).
/// Swift code allocates inside the shared library of the Swift runtime, which `--wrap` does not reach. That is on
/// purpose: the Swift runtime ends the process when an allocation fails, so no program could see a status.

#include <stdio.h>

#include "allocations.h"
#include "sequences.h"

static bool end_failures(void) {
  disarm();
  return injected;
}

static long count_blocks(void) { return live; }

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  const sequences_allocator allocator = {arm, end_failures, count_blocks};
  int failures = sequences_run_without_memory(&allocator);
  failures += sequences_run_forked();
  if (failures > 0) printf("%d failures\n", failures);
  return failures > 0;
}
