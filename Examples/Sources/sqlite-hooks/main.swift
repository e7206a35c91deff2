// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Two or three weak observers of each hook of one SQLite connection, while rows are inserted: sqlite-hooks [ROWS].

import CSQLite
import ExampleSupport
import Forwarding
import SharedSQLite
import Synchronization

let rowCount = Int64(argument("ROWS", default: 1_000_000))

func number(_ atomic: borrowing Atomic<Int>) -> Int { atomic.load(ordering: .relaxed) }

let connection = SQLiteConnection()
let hooks = try SQLiteHooks(connection)

let counters = [RowCounter(), RowCounter()]
for counter in counters { try hooks.add(counter) }
let validators = [Validator(), Validator(), Validator()]
for validator in validators { try hooks.add(validator) }
let guards = [Guard(forbidding: "secrets"), Guard(forbidding: "salaries")]
for guardian in guards { try hooks.add(guardian) }
let statements = [StatementCounter(), StatementCounter()]
for counter in statements { try hooks.add(counter) }

// A C function is an observer as Swift closures are.
let counterInC = CRowCounter()
try hooks.proxy.subscribe(counterInC)

check(connection.run("CREATE TABLE points (x INTEGER, y INTEGER)") == SQLITE_OK, "the table")
// The batch holds the observers once, instead of at each row.
let status = try hooks.proxy.withBatch {
  connection.run(
    """
    BEGIN;
    INSERT INTO points WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount))
      SELECT i, i * 2 FROM n;
    COMMIT;
    """)
}
check(status == SQLITE_OK, "the rows")
for counter in counters {
  check(counter.inserted.load(ordering: .relaxed) == rowCount, "an observer's count")
  check(counter.highestRow.load(ordering: .relaxed) == rowCount, "an observer's highest row")
}
check(counterInC.changed.load(ordering: .relaxed) == rowCount, "the count of the C function")

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

// Each guard forbids another table. One denial is enough, and both guards are asked each time.
check(connection.run("CREATE TABLE secrets (x)"), is: SQLITE_AUTH, "what the first guard forbids")
check(connection.run("CREATE TABLE salaries (x)"), is: SQLITE_AUTH, "what the second guard forbids")
check(connection.run("CREATE TABLE names (x)"), is: SQLITE_OK, "what neither guard forbids")
check(number(guards[0].actions) > 0, "the first guard authorized nothing")
check(number(guards[1].actions), is: number(guards[0].actions), "the actions of the second guard")

// Either guard ends a statement that takes long.
for guardian in guards {
  guardian.interrupts.store(true, ordering: .relaxed)
  let status = connection.run(
    """
    WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
      SELECT count(*) FROM n
    """)
  check(status, is: SQLITE_INTERRUPT, "the status of a long statement")
  guardian.interrupts.store(false, ordering: .relaxed)
}
check(number(guards[0].steps) > 0, "the first guard saw no progress")
check(number(guards[1].steps), is: number(guards[0].steps), "the steps of the second guard")

// Both counters are told of each statement.
let tracedBefore = statements.map { number($0.count) }
check(connection.run("SELECT 1; SELECT 2; SELECT 3"), is: SQLITE_OK, "three statements")
for (counter, before) in zip(statements, tracedBefore) {
  check(number(counter.count), is: before + 3, "the statements that a counter was told of")
}

// An observer that has died is not called any more; nobody has to tell SQLite.
var third: RowCounter? = RowCounter()
try hooks.add(third!)
third = nil
check(connection.run("UPDATE points SET y = 0 WHERE x <= 10") == SQLITE_OK, "an update")
check(hooks.proxy.count, is: 10, "the observers")

try Faults.checkAll()

print("\(rowCount) rows inserted, each told to 3 observers: 2 in Swift, 1 in C")
print(
  "commits asked \(validators.count) observers, and 1 of \(number(validators[0].askedCount)) was refused"
)
print(
  "2 observers each: \(number(guards[0].actions)) actions authorized, "
    + "\(number(statements[0].count)) statements traced, \(number(guards[0].steps)) steps of progress"
)
withExtendedLifetime((counters, validators, guards, statements, counterInC, hooks)) {}
printCheckCount()
