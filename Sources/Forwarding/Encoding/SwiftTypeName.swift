// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The names of Swift types in encodings.
package enum SwiftTypeName {
  /// The name of a type with its module. A C type has no module.
  package static func of<Value: ~Copyable>(_ type: Value.Type) -> String {
    var name = String(reflecting: type)
    while let found = name.firstRange(of: "__C.") { name.removeSubrange(found) }
    return name
  }

  /// Whether a type was imported from C.
  package static func isImported(_ type: Any.Type) -> Bool {
    String(reflecting: type).hasPrefix("__C.")
  }
}
