// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CRemoteSQLite
import Forwarding
import ForwardingRemote
import ForwardingWire
import Foundation
import RemoteSupport

/// Changes the sensors of a database, and publishes the changes.
///
/// A trigger writes each change to the table `changes`, in the transaction of the change itself. The
/// change with the number 7 is the call with the number 7 of the log. So a process that is killed continues
/// after the last call that the server has stored.
func drive(_ path: String, _ server: String, until limit: Int?) async throws {
  let database = try Database(path)
  let feed = try Feed.proxy()
  let link = try await retrying { try await RemoteConnection(to: server) }
  let publisher = try await retrying {
    try await link.publisher(Feed.name, of: feed, WireSchema(of: feed))
  }
  // The events of SQLite's update hook. Any number of observers may subscribe to them.
  let hook = try UpdateHook(database)
  let newest = Newest()
  let token = try hook.proxy.subscribe {
    unsafe $0.on(UpdateHook.updated) { operation, _, table, row in
      if unsafe operation == SQLITE_INSERT && strcmp(table, "changes") == 0 { newest.row = row }
    }
  }
  newest.row = try database.newestChange()
  var sent = Int64(publisher.storedCount)
  guard sent <= newest.row else {
    throw Failure(
      description:
        "the server has \(sent) changes, but \(path) only \(newest.row): it is another database")
  }
  print("\(path) has \(newest.row) changes, the server \(sent)")
  while true {
    try database.forEachChange(after: sent) { sensor, value in
      try feed.send(Feed.changed, sensor, value)
    }
    sent = newest.row
    if let failure = publisher.failure { throw failure }
    if let limit, sent >= limit { break }
    try database.change(newest.row + 1, count: min(20, (limit ?? .max) - Int(sent)))
    try await Task.sleep(for: .milliseconds(limit == nil ? 50 : 1))
  }
  try await publisher.close(within: .seconds(60))
  withExtendedLifetime((token, hook)) {}
}

/// The newest row of the table of changes. The hook runs on the thread that changes the database.
private final class Newest: @unchecked Sendable {
  // Sendable: one task uses it.
  var row: Int64 = 0
}

/// The update hook of a connection, as a proxy.
private final class UpdateHook {
  /// The operation, the names of the database and the table, and the row.
  static let updated = unsafe Method(
    "updated:database:table:row:",
    ((Int32, UnsafePointer<CChar>, UnsafePointer<CChar>, Int64) -> Void).self)

  let proxy: DynamicProxy
  private let database: Database

  init(_ database: Database) throws {
    self.database = database
    proxy = try DynamicProxy { unsafe $0.optional(Self.updated) }
    let function = try unsafe proxy.functionPointer(
      for: Self.updated, context: .first, owner: database)
    unsafe sqlite3_update_hook(database.handle, function.unsafeCast(), nil)
  }

  deinit { unsafe sqlite3_update_hook(database.handle, nil, nil) }
}
