// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CSQLite
import Forwarding
import Synchronization

/// The hooks of an SQLite connection, each with any number of observers.
///
/// SQLite has one function pointer and one context for each hook. A second call
/// of `sqlite3_update_hook` takes the place of the first.
///
/// A hook is installed while it has observers. SQLite works faster without it: it
/// calls the trace hook for each statement, and deletes all rows of a table at once
/// if it has no update hook.
public final class SQLiteHooks {
  /// The proxy of the keys in `SQLiteKey`. It keeps the connection open.
  public let proxy: DynamicProxy
  private let installer: Installer

  /// Takes the connection's hooks.
  ///
  /// - Parameter onError: gets the errors of observers that fail. By default they
  ///   are printed.
  public init(
    _ connection: SQLiteConnection, onError: (@Sendable (ForwardingError) -> Void)? = nil
  ) throws {
    let installer = Installer(connection)
    self.installer = installer
    var configuration = DynamicProxy.Configuration()
    if let onError { configuration.onError = onError }
    configuration.onCapabilityChange = { installer.set($0, isObserved: $1) }
    proxy = try DynamicProxy("SQLite", configuration: configuration) {
      $0.optional(SQLiteKey.updated)
      // A veto that asks all: each observer is told, and one refusal is enough. An observer that fails has
      // refused, and without observers nobody has.
      $0.optional(
        SQLiteKey.willCommit, result: .reduce(Int32(0)) { $0 != 0 ? $0 : $1 }, default: 0,
        onFailure: 1)
      $0.optional(SQLiteKey.rolledBack)
      $0.optional(
        SQLiteKey.authorize, result: .reduce(SQLITE_OK) { $0 != SQLITE_OK ? $0 : $1 },
        default: SQLITE_OK, onFailure: SQLITE_DENY)
      $0.optional(
        SQLiteKey.progress, result: .reduce(Int32(0)) { $0 | $1 }, default: 0, onFailure: 0)
      // SQLite ignores the result, so all observers are called.
      $0.optional(SQLiteKey.trace, result: .callAll(pick: .last), default: 0, onFailure: 0)
    }
    try installer.makeFunctions(for: proxy)
  }

  deinit { installer.end() }
}

/// Installs hooks of a connection when they get observers, and removes them when
/// they have none.
///
/// Observers may join, leave and die on any thread: SQLite's functions that set a
/// hook lock the connection, unless SQLite was built for one thread.
private final class Installer: @unchecked Sendable {
  // Sendable: only the initialiser of SQLiteHooks writes `setters`, before the first observer joins.
  private let connection: SQLiteConnection
  /// Installs a hook, or removes it.
  private var setters: [MethodSelector: (_ isObserved: Bool) -> Void] = [:]
  private let hasEnded = Atomic(false)

  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// Makes the functions that SQLite calls. The connection owns them, so nobody has to keep them.
  func makeFunctions(for proxy: DynamicProxy) throws {
    let handle = connection.handle
    let updated = try proxy.functionPointer(
      for: SQLiteKey.updated, context: .first, owner: connection)
    setters[SQLiteKey.updated.selector] = { isObserved in
      sqlite3_update_hook(handle, isObserved ? updated.unsafeCast() : nil, nil)
    }
    let willCommit = try proxy.functionPointer(
      for: SQLiteKey.willCommit, context: .first, owner: connection)
    setters[SQLiteKey.willCommit.selector] = { isObserved in
      sqlite3_commit_hook(handle, isObserved ? willCommit.unsafeCast() : nil, nil)
    }
    let rolledBack = try proxy.functionPointer(
      for: SQLiteKey.rolledBack, context: .first, owner: connection)
    setters[SQLiteKey.rolledBack.selector] = { isObserved in
      sqlite3_rollback_hook(handle, isObserved ? rolledBack.unsafeCast() : nil, nil)
    }
    let authorize = try proxy.functionPointer(
      for: SQLiteKey.authorize, context: .first, owner: connection)
    setters[SQLiteKey.authorize.selector] = { isObserved in
      sqlite3_set_authorizer(handle, isObserved ? authorize.unsafeCast() : nil, nil)
    }
    let progress = try proxy.functionPointer(
      for: SQLiteKey.progress, context: .first, owner: connection)
    setters[SQLiteKey.progress.selector] = { isObserved in
      // After each 10,000 instructions of SQLite's machine.
      sqlite3_progress_handler(handle, 10_000, isObserved ? progress.unsafeCast() : nil, nil)
    }
    let trace = try proxy.functionPointer(for: SQLiteKey.trace, context: .at(1), owner: connection)
    setters[SQLiteKey.trace.selector] = { isObserved in
      sqlite3_trace_v2(
        handle, UInt32(SQLITE_TRACE_STMT), isObserved ? trace.unsafeCast() : nil, nil)
    }
  }

  /// Called under no lock, as SQLite waits for a statement that is running on another thread.
  func set(_ selector: MethodSelector, isObserved: Bool) {
    guard let setter = setters[selector], !hasEnded.load(ordering: .sequentiallyConsistent) else {
      return
    }
    setter(isObserved)
    if hasEnded.load(ordering: .sequentiallyConsistent) { setter(false) }
  }

  /// Removes all hooks. A function that was left would refuse commits after the proxy's death.
  func end() {
    hasEnded.store(true, ordering: .sequentiallyConsistent)
    for setter in setters.values { setter(false) }
  }
}
