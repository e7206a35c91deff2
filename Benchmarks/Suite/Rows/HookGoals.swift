// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import FwdBenchDriver

/// A callback of a C library, SQLite's update hook, that a proxy forwards to its
/// subscribers. Only the program of the peers has the rows.
public enum HookGoals {
  /// The group's name.
  public static let name = "sqlite"

  /// The rows and goals.
  public static func group(rows: @escaping () -> [Row] = { [] }) -> RowGroup {
    RowGroup(
      name: name,
      comparisons: [
        Comparison(title: "/ by hand", way: inSQLite(byHand)),
        Comparison(title: "/ by hand, alone", way: alone(byHand)),
      ],
      rows: rows, goals: { goals })
  }

  // MARK: - Ways

  /// A C function.
  public static let byHand = "written by hand"
  /// A proxy with one subscriber.
  public static let closure = "of a proxy with a weak closure"
  /// A proxy with one subscriber.
  public static let tokenClosure = "of a proxy with a closure with a token"
  /// A proxy with one subscriber.
  public static let function = "of a proxy with a weak C function"
  /// A proxy with three subscribers.
  public static let three = "of a proxy with two weak closures and a C function"
  /// The same, whose closures have tokens instead of objects. The C function's object is
  /// held strongly.
  public static let threeWithTokens =
    "of a proxy with two closures with tokens and a C function"
  /// `three`, called inside of a batch.
  public static let threeInBatch = "\(three), in a batch"

  /// The row in which a statement of SQLite calls the hook.
  public static func inSQLite(_ hook: String) -> String { "SQLite: hook \(hook)" }
  /// The row in which a loop calls the hook.
  public static func alone(_ hook: String) -> String { "hook alone, \(hook)" }

  // MARK: - Goals

  private static var goals: [Goal] {
    [
      Goal(
        group: name, title: "the hook alone",
        // `three` has no limit: its six locked instructions alone take 20 times a hook
        // written by hand on an Intel Xeon.
        bounds: [bound(threeWithTokens), bound(threeInBatch)])
    ]
  }

  private static func bound(_ hook: String) -> Bound {
    Bound(
      quantity: .ratio(of: alone(hook), to: alone(byHand)), limit: 15,
      unit: "one written by hand", detail: hook, measuredBy: "scripts/bench")
  }
}
