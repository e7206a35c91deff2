// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CSQLite
import Forwarding

/// The hooks of an SQLite connection, each with any number of observers.
///
/// SQLite has one function pointer and one context for each hook. A second call
/// of `sqlite3_update_hook` takes the place of the first.
final class SQLiteHooks {
  /// The C types of the hooks, without the contexts. `fwd encode --header
  /// sqlite3.h --swift` writes such keys for all callbacks of a header.
  enum Key {
    // void (*)(void *, int operation, const char *database, const char *table, sqlite3_int64 row)
    static let updated = Method(
      "updated:database:table:row:",
      ((Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int64) -> Void).self)
    // int (*)(void *)
    static let willCommit = Method("willCommit", (() -> Int32).self)
    // void (*)(void *)
    static let rolledBack = Method("rolledBack", (() -> Void).self)
    // int (*)(void *, int action, const char *, const char *, const char *database, const char *trigger)
    static let authorize = Method(
      "authorize:first:second:database:trigger:",
      ((Int32, String?, String?, String?, String?) -> Int32).self)
    // int (*)(void *)
    static let progress = Method("progress", (() -> Int32).self)
    // int (*)(unsigned kind, void *context, void *statement, void *text): the context is not the first
    // parameter, so it is one of the method's.
    static let trace = Method(
      "trace:context:statement:text:",
      ((UInt32, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?)
        -> Int32).self)
  }

  let proxy: DynamicProxy
  /// SQLite calls these for as long as the connection has the hooks.
  private let functions: [FunctionPointer]
  private let connection: OpaquePointer

  /// Takes the connection's hooks. It must be open as long as this object lives.
  init(_ connection: OpaquePointer) throws {
    let proxy = try DynamicProxy("SQLite") {
      $0.optional(Key.updated)
      // A veto that asks all: each observer is told, and one refusal is enough. An observer that fails has
      // refused, and without observers nobody has.
      $0.optional(
        Key.willCommit, result: .reduce(Int32(0)) { $0 != 0 ? $0 : $1 }, default: 0, onFailure: 1)
      $0.optional(Key.rolledBack)
      $0.optional(
        Key.authorize, result: .reduce(SQLITE_OK) { $0 != SQLITE_OK ? $0 : $1 },
        default: SQLITE_OK, onFailure: SQLITE_DENY)
      $0.optional(Key.progress, result: .reduce(Int32(0)) { $0 | $1 }, default: 0, onFailure: 0)
      $0.optional(Key.trace, result: .first, default: 0, onFailure: 0)
    }
    self.proxy = proxy
    self.connection = connection

    // The context that SQLite passes first is the receiver, which nobody needs.
    let updated = try proxy.functionPointer(for: Key.updated, form: .method)
    let willCommit = try proxy.functionPointer(for: Key.willCommit, form: .method)
    let rolledBack = try proxy.functionPointer(for: Key.rolledBack, form: .method)
    let authorize = try proxy.functionPointer(for: Key.authorize, form: .method)
    let progress = try proxy.functionPointer(for: Key.progress, form: .method)
    let trace = try proxy.functionPointer(for: Key.trace, form: .arguments)
    functions = [updated, willCommit, rolledBack, authorize, progress, trace]

    sqlite3_update_hook(connection, updated.unsafeCast(), nil)
    sqlite3_commit_hook(connection, willCommit.unsafeCast(), nil)
    sqlite3_rollback_hook(connection, rolledBack.unsafeCast(), nil)
    sqlite3_set_authorizer(connection, authorize.unsafeCast(), nil)
    // After each 10,000 instructions of SQLite's machine.
    sqlite3_progress_handler(connection, 10_000, progress.unsafeCast(), nil)
    sqlite3_trace_v2(connection, UInt32(SQLITE_TRACE_STMT), trace.unsafeCast(), nil)
  }

  deinit {
    // Before the functions go.
    sqlite3_update_hook(connection, nil, nil)
    sqlite3_commit_hook(connection, nil, nil)
    sqlite3_rollback_hook(connection, nil, nil)
    sqlite3_set_authorizer(connection, nil, nil)
    sqlite3_progress_handler(connection, 0, nil, nil)
    sqlite3_trace_v2(connection, 0, nil, nil)
  }
}
