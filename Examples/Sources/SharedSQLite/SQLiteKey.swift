// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding

/// The C types of the hooks of an SQLite connection, without the contexts.
///
/// `fwd encode --header sqlite3.h --swift` writes such keys for all callbacks of
/// a header.
public enum SQLiteKey {
  // void (*)(void *, int operation, const char *database, const char *table, sqlite3_int64 row)
  public static let updated = Method(
    "updated:database:table:row:",
    ((Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int64) -> Void).self)
  // int (*)(void *)
  public static let willCommit = Method("willCommit", (() -> Int32).self)
  // void (*)(void *)
  public static let rolledBack = Method("rolledBack", (() -> Void).self)
  // int (*)(void *, int action, const char *, const char *, const char *database, const char *trigger)
  public static let authorize = Method(
    "authorize:first:second:database:trigger:",
    ((Int32, String?, String?, String?, String?) -> Int32).self)
  // int (*)(void *)
  public static let progress = Method("progress", (() -> Int32).self)
  // int (*)(unsigned kind, void *context, void *statement, void *text)
  public static let trace = Method(
    "trace:statement:text:",
    ((UInt32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32).self)
}
