// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CUV
import ExampleSupport
import Foundation
import SharedUV

/// Sensors that send their readings by TCP, each on a thread of its own.
struct Sensors {
  let count: Int
  /// The readings of each sensor.
  let readings: Int

  /// What each sends besides: three lines that are not readings. The last one ends with the connection.
  static let nonsense = ["not a reading", "7 seven °C", "cut o"]

  static func value(_ reading: Int) -> Double { Double(reading) / 8 }

  /// Starts to send. Returns at once.
  func start(to address: sockaddr_in) {
    for sensor in 1...count {
      Thread { send(sensor, to: address) }.start()
    }
  }

  private func send(_ sensor: Int, to address: sockaddr_in) {
    var address = address
    let handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withSocketAddress(of: &address) { connect(handle, $0, size) }
    check(status, is: 0, "the status of connecting")
    var text = Self.nonsense[0] + "\n"
    for reading in 0..<readings {
      text += "\(sensor) \(Self.value(reading)) °C\n"
      if reading == readings / 2 { text += Self.nonsense[1] + "\n" }
      // Lines are cut anywhere.
      if text.utf8.count > 5000 { write(&text, to: handle) }
    }
    text += Self.nonsense[2]
    write(&text, to: handle)
    close(handle)
  }

  private func write(_ text: inout String, to handle: Int32) {
    text.withUTF8 { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let written = rest.withUnsafeBytes { Foundation.write(handle, $0.baseAddress!, $0.count) }
        check(written > 0, "a sensor cannot write")
        rest = rest.dropFirst(written)
      }
    }
    text = ""
  }
}
