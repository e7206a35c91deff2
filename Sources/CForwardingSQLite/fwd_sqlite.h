// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// SQLite, and what Swift cannot call of it since it is variadic. The module map links the library.

#ifndef FWD_SQLITE_H
#define FWD_SQLITE_H

#include <sqlite3.h>

/// Makes a connection safe for files of any origin: their triggers and views do nothing, and their schema calls no
/// function with side effects.
static inline void fwd_sqlite_distrust(sqlite3 *connection) {
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
#ifdef SQLITE_DBCONFIG_ENABLE_VIEW
  sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
#endif
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
#endif
}

#endif
