// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CSQLite
import Forwarding
import Synchronization

// SQLite calls the hooks on the thread that uses the connection. Only this thread changes the numbers, so they are
// loaded and stored, and not added to by an atomic operation. Atomics make it safe to read them on other threads.

extension Atomic<Int> {
  /// Adds 1. No other thread may change the number meanwhile.
  public func addOne() { store(load(ordering: .relaxed) + 1, ordering: .relaxed) }
}

/// Counts the rows that have changed.
public final class RowCounter: Sendable {
  public let inserted = Atomic(0)
  public let highestRow = Atomic<Int64>(0)

  public init() {}

  public func changed(_ operation: Int32, _ row: Int64) {
    if operation == SQLITE_INSERT { inserted.addOne() }
    if row > highestRow.load(ordering: .relaxed) { highestRow.store(row, ordering: .relaxed) }
  }
}

/// Counts the rows that have changed by a C function. The function could come from a library in C.
public final class CRowCounter: DynamicProxy.Subscriber {
  public let changed = Atomic(0)

  public init() {}

  /// Has the type of SQLite's update hook. The context is a row counter.
  public static let function:
    @convention(c) (
      UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int64
    ) -> Void = { context, _, _, _, _ in
      let counter = Unmanaged<CRowCounter>.fromOpaque(context!).takeUnretainedValue()
      counter.changed.addOne()
    }

  public static let functionTable = FunctionTable(for: CRowCounter.self) {
    $0.function(SQLiteKey.updated, calling: function)
  }
}

/// Refuses commits, as long as it is told to, and counts how often it was asked.
public final class Validator: Sendable {
  public let refuses = Atomic(false)
  public let askedCount = Atomic(0)
  public let rollbackCount = Atomic(0)

  public init() {}
}

/// Forbids a table, ends statements as long as it is told to, and counts how often it was asked.
public final class Guard: Sendable {
  public let interrupts = Atomic(false)
  public let actions = Atomic(0)
  public let steps = Atomic(0)
  fileprivate let forbidden: String

  public init(forbidding table: String = "secrets") { forbidden = table }
}

/// Counts statements.
public final class StatementCounter: Sendable {
  public let count = Atomic(0)

  public init() {}
}

extension SQLiteHooks {
  public func add(_ counter: RowCounter) throws {
    try proxy.subscribe(counter) {
      $0.on(SQLiteKey.updated) { counter, operation, _, _, row in
        counter.changed(operation, row)
      }
    }
  }

  public func add(_ validator: Validator) throws {
    try proxy.subscribe(validator) {
      $0.on(SQLiteKey.willCommit) { validator in
        validator.askedCount.addOne()
        return validator.refuses.load(ordering: .relaxed) ? 1 : 0
      }
      $0.on(SQLiteKey.rolledBack) { validator in validator.rollbackCount.addOne() }
    }
  }

  public func add(_ guardian: Guard) throws {
    try proxy.subscribe(guardian) {
      $0.on(SQLiteKey.authorize) { guardian, _, first, _, _, _ in
        guardian.actions.addOne()
        return first == guardian.forbidden ? SQLITE_DENY : SQLITE_OK
      }
      $0.on(SQLiteKey.progress) { guardian in
        guardian.steps.addOne()
        return guardian.interrupts.load(ordering: .relaxed) ? 1 : 0
      }
    }
  }

  public func add(_ counter: StatementCounter) throws {
    try proxy.subscribe(counter) {
      $0.on(SQLiteKey.trace) { counter, _, _, _ in
        counter.count.addOne()
        return 0
      }
    }
  }
}
