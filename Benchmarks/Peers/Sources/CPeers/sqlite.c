// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#include "peer_sqlite.h"

#include <CFwdMeasure.h>

// MARK: Hooks

// A compiler that saw which hook is called could inline it.
static const char *volatile const main_name = "main";
static const char *volatile const table_name = "numbers";
static const int update_operation = 23;

BENCH_LOOP void peer_call_hook(peer_update_hook hook, void *context, size_t row_count, size_t iterations) {
  const char *database = main_name, *table = table_name;
  for (size_t i = 0; i < iterations; i++) {
    for (size_t row = 1; row <= row_count; row++) hook(context, update_operation, database, table, (int64_t)row);
  }
}

void peer_hook(void *context, int operation, const char *database, const char *table, int64_t row) {
  (void)operation, (void)database, (void)table;
  *(int64_t *)context += row;
}

static int64_t observed_sum;

void peer_observe_update(void *receiver, int operation, const char *database, const char *table, int64_t row) {
  (void)receiver, (void)operation, (void)database, (void)table;
  observed_sum += row;
}

int64_t peer_observed_sum(void) { return observed_sum; }

// MARK: SQLite

#if __has_include(<sqlite3.h>)

#include <sqlite3.h>
#include <stdlib.h>

struct peer_database {
  sqlite3 *connection;
  sqlite3_stmt *update;
};

bool peer_sqlite_is_installed(void) { return true; }

peer_database *peer_sqlite_open(size_t row_count) {
  peer_database *database = calloc(1, sizeof *database);
  if (database == NULL) return NULL;
  sqlite3_stmt *insert = NULL;
  bool is_open = sqlite3_open(":memory:", &database->connection) == SQLITE_OK &&
                 sqlite3_exec(database->connection,
                              "PRAGMA journal_mode = OFF; CREATE TABLE numbers (id INTEGER PRIMARY KEY, value)", NULL,
                              NULL, NULL) == SQLITE_OK &&
                 sqlite3_prepare_v2(database->connection, "INSERT INTO numbers VALUES (?, 0)", -1, &insert, NULL) ==
                     SQLITE_OK;
  for (size_t row = 1; is_open && row <= row_count; row++) {
    is_open = sqlite3_bind_int64(insert, 1, (sqlite3_int64)row) == SQLITE_OK && sqlite3_step(insert) == SQLITE_DONE &&
              sqlite3_reset(insert) == SQLITE_OK;
  }
  sqlite3_finalize(insert);
  is_open = is_open && sqlite3_prepare_v2(database->connection, "UPDATE numbers SET value = 1 - value", -1,
                                          &database->update, NULL) == SQLITE_OK;
  if (is_open) return database;
  sqlite3_close(database->connection);
  free(database);
  return NULL;
}

void peer_sqlite_set_hook(peer_database *database, peer_update_hook hook, void *context) {
  _Static_assert(sizeof(sqlite3_int64) == sizeof(int64_t), "the hook's last parameter has another type");
  typedef void (*update_hook)(void *, int, const char *, const char *, sqlite3_int64);
  sqlite3_update_hook(database->connection, (update_hook)hook, context);
}

bool peer_sqlite_update(peer_database *database, size_t iterations) {
  bool is_right = true;
  for (size_t i = 0; i < iterations; i++) {
    is_right &= sqlite3_step(database->update) == SQLITE_DONE;
    is_right &= sqlite3_reset(database->update) == SQLITE_OK;
  }
  return is_right;
}

#else

bool peer_sqlite_is_installed(void) { return false; }

peer_database *peer_sqlite_open(size_t row_count) {
  (void)row_count;
  return NULL;
}

void peer_sqlite_set_hook(peer_database *database, peer_update_hook hook, void *context) {
  (void)database, (void)hook, (void)context;
}

bool peer_sqlite_update(peer_database *database, size_t iterations) {
  (void)database, (void)iterations;
  return false;
}

#endif
