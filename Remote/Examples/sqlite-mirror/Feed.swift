// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingRemote
import ForwardingWire

/// What both processes know.
enum Feed {
  static let name = "sensors"
  static let sensors = 8

  /// A change: the sensor and its new value.
  static let changed = Method("changed:to:", ((Int32, Double) -> Void).self)

  static func proxy() throws -> DynamicProxy { try DynamicProxy { $0.required(changed) } }
}
