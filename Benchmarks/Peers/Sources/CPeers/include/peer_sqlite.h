// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// SQLite's update hook: a callback that a database calls for each row that a statement changes.

#ifndef PEER_SQLITE_H
#define PEER_SQLITE_H

#include <forwarding.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The hook's type in sqlite3.h, with int64_t for sqlite3_int64.
typedef void (*peer_update_hook)(void *FWD_NULLABLE context, int operation, const char *FWD_NULLABLE database,
                                 const char *FWD_NULLABLE table, int64_t row);

/// A database in memory with one table.
typedef struct peer_database peer_database;

/// Returns whether sqlite3.h was found when this was compiled.
bool peer_sqlite_is_installed(void);
/// Returns NULL on failure, or if SQLite is not installed. It is never closed. The table has the row identifiers 1 to
/// `row_count`.
peer_database *FWD_NULLABLE peer_sqlite_open(size_t row_count);
/// Sets the hook. NULL removes it.
void peer_sqlite_set_hook(peer_database *FWD_NONNULL database, peer_update_hook FWD_NULLABLE hook,
                          void *FWD_NULLABLE context);
/// Updates all rows by one statement, `iterations` times. Returns false on failure.
bool peer_sqlite_update(peer_database *FWD_NONNULL database, size_t iterations);

/// Calls a hook for each row, as SQLite does, `iterations` times, without SQLite.
void peer_call_hook(peer_update_hook FWD_NONNULL hook, void *FWD_NULLABLE context, size_t row_count,
                    size_t iterations);

/// A hook written by hand. The context is an int64_t, to which it adds the row identifier.
void peer_hook(void *FWD_NULLABLE context, int operation, const char *FWD_NULLABLE database,
               const char *FWD_NULLABLE table, int64_t row);
/// A subscriber's function. It adds the row identifier to a sum of its own.
void peer_observe_update(void *FWD_NULLABLE receiver, int operation, const char *FWD_NULLABLE database,
                         const char *FWD_NULLABLE table, int64_t row);
/// Returns the sum of `peer_observe_update`.
int64_t peer_observed_sum(void);

#ifdef __cplusplus
}
#endif

#endif
