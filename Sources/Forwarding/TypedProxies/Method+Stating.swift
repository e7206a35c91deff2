// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension Method {
  /// Creates the key of a method that a table declares with an encoding. The types
  /// may also be those whose values the encoding has by address, see
  /// `AddressTranslator`.
  package init(
    _ selector: MethodSelector, stating encoding: String, _: Output.Type,
    _: repeat (each Argument).Type
  ) {
    unsafe self.init(
      DerivedMethod.interned(
        selector, stating: encoding, Output.self, repeat (each Argument).self),
      hasTypesOfContext: false)
  }
}
