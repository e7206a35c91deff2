// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Three observers of each hook of one SQLite connection, while rows are inserted: sqlite-hooks [ROWS].

import CSQLite
import Forwarding
import Synchronization

let rowCount = Int64(CommandLine.arguments.dropFirst().first ?? "") ?? 1_000_000

func check(_ condition: Bool, _ what: String) {
  if !condition { fatalError("wrong: \(what)") }
}

/// An SQLite connection in memory.
final class Connection {
  let handle: OpaquePointer

  init() {
    var handle: OpaquePointer?
    let status = sqlite3_open(":memory:", &handle)
    guard status == SQLITE_OK, let handle = handle else {
      fatalError("SQLite does not open a database: \(status)")
    }
    self.handle = handle
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs statements. Gives SQLite's status.
  @discardableResult
  func run(_ statements: String) -> Int32 { sqlite3_exec(handle, statements, nil, nil, nil) }
}

// MARK: - Observers

// SQLite calls the hooks on the thread that uses the connection, here the only one. Observers that have
// no atomics would have to say `@unchecked Sendable`.

/// Counts the rows that have changed.
final class RowCounter: Sendable {
  let inserted = Atomic<Int64>(0)
  let highestRow = Atomic<Int64>(0)
}

/// Refuses commits, as long as it is told to, and counts how often it was asked.
final class Validator: Sendable {
  let refuses = Atomic(false)
  let askedCount = Atomic(0)
  let rollbackCount = Atomic(0)
}

/// Forbids a table, and counts what SQLite does.
final class Guard: Sendable {
  let actions = Atomic(0)
  let statements = Atomic(0)
  let steps = Atomic(0)
}

extension SQLiteHooks {
  func add(_ counter: RowCounter) throws {
    try proxy.subscribe(counter) {
      $0.on(Key.updated) { counter, operation, _, _, row in
        if operation == SQLITE_INSERT { counter.inserted.add(1, ordering: .relaxed) }
        counter.highestRow.max(row, ordering: .relaxed)
      }
    }
  }

  func add(_ validator: Validator) throws {
    try proxy.subscribe(validator) {
      $0.on(Key.willCommit) { validator in
        validator.askedCount.add(1, ordering: .relaxed)
        return validator.refuses.load(ordering: .relaxed) ? 1 : 0
      }
      $0.on(Key.rolledBack) { validator in validator.rollbackCount.add(1, ordering: .relaxed) }
    }
  }

  func add(_ guardian: Guard) throws {
    try proxy.subscribe(guardian) {
      $0.on(Key.authorize) { guardian, _, first, _, _, _ in
        guardian.actions.add(1, ordering: .relaxed)
        return first == "secrets" ? SQLITE_DENY : SQLITE_OK
      }
      $0.on(Key.progress) { guardian in
        guardian.steps.add(1, ordering: .relaxed)
        return 0
      }
      $0.on(Key.trace) { guardian, _, _, _, _ in
        guardian.statements.add(1, ordering: .relaxed)
        return 0
      }
    }
  }
}

// MARK: - The program

let connection = Connection()
let hooks = try SQLiteHooks(connection.handle)

let counters = [RowCounter(), RowCounter()]
for counter in counters { try hooks.add(counter) }
let validators = [Validator(), Validator(), Validator()]
for validator in validators { try hooks.add(validator) }
let guardian = Guard()
try hooks.add(guardian)

// A C function is an observer as Swift closures are. It could come from a library in C.
let table = FunctionTable(for: RowCounter.self) {
  let count:
    @convention(c) (
      UnsafeRawPointer, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, Int64
    ) -> Void = { _, _, _, _, _ in calledFromC.add(1, ordering: .relaxed) }
  $0.function(SQLiteHooks.Key.updated, calling: count)
}
let calledFromC = Atomic(0)
let owner = RowCounter()
try hooks.proxy.subscribe(owner, table: table)

check(connection.run("CREATE TABLE points (x INTEGER, y INTEGER)") == SQLITE_OK, "the table")
check(
  connection.run(
    """
    BEGIN;
    INSERT INTO points WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount))
      SELECT i, i * 2 FROM n;
    COMMIT;
    """) == SQLITE_OK, "the rows")
for counter in counters {
  check(counter.inserted.load(ordering: .relaxed) == rowCount, "an observer's count")
  check(counter.highestRow.load(ordering: .relaxed) == rowCount, "an observer's highest row")
}
check(calledFromC.load(ordering: .relaxed) == Int(rowCount), "the count of the C function")

// One of three refuses, all three are asked, and the rows are not there.
let askedBefore = validators.map { $0.askedCount.load(ordering: .relaxed) }
validators[0].refuses.store(true, ordering: .relaxed)
check(connection.run("INSERT INTO points VALUES (0, 0)") == SQLITE_CONSTRAINT, "the veto")
for (validator, before) in zip(validators, askedBefore) {
  check(validator.askedCount.load(ordering: .relaxed) == before + 1, "a validator was not asked")
  check(validator.rollbackCount.load(ordering: .relaxed) == 1, "a validator's rollback")
}
validators[0].refuses.store(false, ordering: .relaxed)
check(connection.run("INSERT INTO points VALUES (0, 0)") == SQLITE_OK, "after the veto")

check(connection.run("CREATE TABLE secrets (x)") == SQLITE_AUTH, "the authorizer")

// An observer that has died is not called any more; nobody has to tell SQLite.
var third: RowCounter? = RowCounter()
try hooks.add(third!)
third = nil
check(connection.run("UPDATE points SET y = 0 WHERE x <= 10") == SQLITE_OK, "an update")
check(hooks.proxy.count == 7, "the observers")

func number(_ atomic: borrowing Atomic<Int>) -> Int { atomic.load(ordering: .relaxed) }
print("\(rowCount) rows inserted, each told to 3 observers: 2 in Swift, 1 in C")
print(
  "commits asked \(validators.count) observers, and 1 of \(number(validators[0].askedCount)) was refused"
)
print(
  "\(number(guardian.actions)) actions authorized, \(number(guardian.statements)) statements traced, "
    + "\(number(guardian.steps)) steps of progress")
withExtendedLifetime((counters, validators, guardian, owner, hooks)) {}
