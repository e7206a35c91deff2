// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The module CSQLite of the snippets. Without SQLite's header, what they use of it is declared here: snippets are compiled
// and not linked.

#if __has_include(<sqlite3.h>)
#include <sqlite3.h>
#else
#define SQLITE_OK 0
#define SQLITE_DENY 1
#define SQLITE_TRACE_STMT 1
typedef struct sqlite3 sqlite3;
typedef long long int sqlite3_int64;
int sqlite3_open(const char *path, sqlite3 **connection);
int sqlite3_close_v2(sqlite3 *connection);
const char *sqlite3_errmsg(sqlite3 *connection);
int sqlite3_exec(sqlite3 *connection, const char *statements, int (*row)(void *, int, char **, char **), void *context,
                 char **message);
void *sqlite3_update_hook(sqlite3 *connection, void (*hook)(void *, int, char const *, char const *, sqlite3_int64),
                          void *context);
void *sqlite3_commit_hook(sqlite3 *connection, int (*hook)(void *), void *context);
void *sqlite3_rollback_hook(sqlite3 *connection, void (*hook)(void *), void *context);
int sqlite3_set_authorizer(sqlite3 *connection,
                           int (*authorizer)(void *, int, const char *, const char *, const char *, const char *),
                           void *context);
void sqlite3_progress_handler(sqlite3 *connection, int steps, int (*handler)(void *), void *context);
int sqlite3_trace_v2(sqlite3 *connection, unsigned mask, int (*trace)(unsigned, void *, void *, void *), void *context);
#endif
