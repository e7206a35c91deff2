// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding

/// What connections bring, as values that can be sent to any actor.
enum SensorKey {
  static let measured = Method("sensor:measured:unit:", ((Int32, Double, String) -> Void).self)
  /// A line that is not a reading.
  static let misread = Method("misread:", ((String) -> Void).self)
  /// The end of a connection.
  static let ended = Method("ended", (() -> Void).self)

  static func makeProxy() throws -> DynamicProxy {
    try DynamicProxy("Sensors") {
      $0.optional(measured)
      $0.optional(misread)
      $0.optional(ended)
    }
  }
}
