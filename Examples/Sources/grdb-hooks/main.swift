// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The hooks of an SQLite connection that GRDB has opened, shared with GRDB's own observers.

#if GRDB
  import ExampleSupport

  try SharedHooks.checkAll()
  try TakenHooks.checkAll()
  try FreeHooks.checkAll()
  printCheckCount()
#else
  print("built without the trait GRDB, so there is nothing to show")
#endif
