// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension ProtocolTable {
  /// By the bytes of the names, as C programs compare them.
  private static let registry = Lock<[[UInt8]: ProtocolTable]>([:])

  /// Registers the table under its name, for the life of the process.
  ///
  /// Registering the same methods again returns the table that was registered
  /// first. Use that one. Methods are the same if their signatures are
  /// equivalent.
  ///
  /// - Throws: `ForwardingError` with the code `conflict` if a table with other
  ///   methods has the name; the message shows both.
  @discardableResult
  public func register() throws(ForwardingError) -> ProtocolTable {
    let bytes = Array(name.utf8)
    let table = Self.registry.withLock { tables in
      if let first = tables[bytes] { return first }
      tables[bytes] = self
      return self
    }
    guard table === self || table.declaresTheSame(as: self) else {
      throw ForwardingError(
        .conflict, table: name,
        "a protocol \"\(name)\" is registered already: \(table); it differs from \(self)")
    }
    return table
  }

  /// Returns the table registered under a name, from Swift or from C.
  public static func named(_ name: String) -> ProtocolTable? {
    registry.withLock { $0[Array(name.utf8)] }
  }

  /// Returns whether two tables declare the same methods, in any order. Result
  /// policies are not compared.
  private func declaresTheSame(as other: ProtocolTable) -> Bool {
    func methods(_ table: ProtocolTable) -> [MethodSelector: Requirement] {
      // Parents of one name may still differ, so their methods are compared too.
      // A table that was made can be merged.
      Dictionary(
        uniqueKeysWithValues: ((try? ProtocolTable.merge([table])) ?? []).map { ($0.selector, $0) })
    }
    guard parents.map(\.name) == other.parents.map(\.name) else { return false }
    let (own, others) = (methods(self), methods(other))
    return own.count == others.count
      && own.allSatisfy { selector, method in
        guard let other = others[selector] else { return false }
        // The first table stays, so that spellings that leave something out are
        // the same method.
        return method.isRequired == other.isRequired
          && method.signature.isEquivalent(to: other.signature)
      }
  }
}
