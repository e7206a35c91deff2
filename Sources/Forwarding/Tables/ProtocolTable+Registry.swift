// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension ProtocolTable {
  private static let registry = Lock<[String: ProtocolTable]>([:])

  /// Registers the table under its name, for the life of the process.
  /// Registering the same methods again gives the table that was first; use
  /// that one.
  ///
  /// - Throws: `TableError` with the code `conflict` if another table has the
  ///   name; both are named.
  @discardableResult
  public func register() throws(TableError) -> ProtocolTable {
    let table = Self.registry.withLock { tables in
      if let first = tables[name] { return first }
      tables[name] = self
      return self
    }
    guard table === self || table.declaresTheSame(as: self) else {
      throw TableError(
        .conflict, table: name,
        "a protocol \"\(name)\" is registered already: \(table); it differs from \(self)")
    }
    return table
  }

  /// Gives the table registered under a name, from Swift or from C.
  public static func named(_ name: String) -> ProtocolTable? {
    registry.withLock { $0[name] }
  }

  /// Whether two tables ask for the same methods, in whatever order. Policies
  /// are the first table's.
  private func declaresTheSame(as other: ProtocolTable) -> Bool {
    func methods(_ table: ProtocolTable) -> [MethodSelector: Shape] {
      // Those of the parents included, of which the names are not enough. A
      // table that was made can be merged.
      Dictionary(
        uniqueKeysWithValues: ((try? ProtocolTable.merge([table])) ?? []).map {
          ($0.selector, Shape(signature: $0.signature, isRequired: $0.isRequired))
        })
    }
    return parents.map(\.name) == other.parents.map(\.name) && methods(self) == methods(other)
  }

  private struct Shape: Equatable {
    let signature: MethodSignature
    let isRequired: Bool
  }
}
