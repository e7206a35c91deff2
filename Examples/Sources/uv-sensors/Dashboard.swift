// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import ForwardingDelivery

/// A model of the main actor. It shows the latest reading, and is not called for those that it has no time for.
@MainActor final class Dashboard {
  private(set) var text = ""
  private(set) var drawCount = 0
  private(set) var misreadLines: [String] = []

  func show(_ sensor: Int32, _ value: Double, _ unit: String) {
    text = "sensor \(sensor): \(value) \(unit)"
    drawCount += 1
  }

  func complain(about line: String) { misreadLines.append(line) }

  /// Subscribes to the readings.
  ///
  /// - Returns: the subscriptions to readings and to lines that are none.
  nonisolated func observe(
    _ readings: DynamicProxy
  ) throws -> (
    drawing: DynamicProxy.QueuedSubscription, complaints: DynamicProxy.QueuedSubscription
  ) {
    (
      try readings.subscribe(
        self, on: MainActor.shared, to: SensorKey.measured, overflow: .latest
      ) { dashboard, sensor, value, unit in dashboard.show(sensor, value, unit) },
      try readings.subscribe(self, on: MainActor.shared, to: SensorKey.misread) {
        dashboard, line in dashboard.complain(about: line)
      }
    )
  }
}
