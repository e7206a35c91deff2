// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct JoinedTablesTests {
  /// More than are looked through before the others are hashed.
  private let tables = (0..<10).map { _ in FunctionTable(for: Listener.self) { _ in } }

  private func join() throws -> [(key: ObjectIdentifier, dispatch: DispatchTable)] {
    let requirements = try DynamicProxy.pinging().requirements
    return try tables.map {
      (ObjectIdentifier($0), try DispatchTable($0, requirements, key: nil, isSingle: false))
    }
  }

  @Test func `each of many tables that stay is found by its own key`() throws {
    var joined = JoinedTables()
    let entries = try join()
    for entry in entries {
      #expect(joined.find(entry.key) == nil)
      joined.pin(entry.dispatch, entry.key)
    }
    for entry in entries { #expect(joined.find(entry.key) === entry.dispatch) }
  }

  @Test func `of a table that two threads have joined at once the first one stays`() throws {
    var joined = JoinedTables()
    let (entries, others) = try (join(), join())
    for entry in entries + others { joined.pin(entry.dispatch, entry.key) }
    for entry in entries { #expect(joined.find(entry.key) === entry.dispatch) }
  }

  @Test func `tables that do not stay are found while they live, beside those that do`() throws {
    var joined = JoinedTables()
    var entries = try join()
    for entry in entries.prefix(6) { joined.pin(entry.dispatch, entry.key) }
    for entry in entries[6...] { _ = joined.remember(entry.dispatch, entry.key) }
    for entry in entries { #expect(joined.find(entry.key) === entry.dispatch) }
    let keys = entries.map(\.key)
    entries = []
    for key in keys.prefix(6) { #expect(joined.find(key) != nil) }
    for key in keys[6...] { #expect(joined.find(key) == nil) }
  }
}
