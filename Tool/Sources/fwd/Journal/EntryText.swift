// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ForwardingJournal
import ForwardingWire

/// How `fwd journal` shows a call.
enum EntryText {
  /// The position, the time, the method and the arguments.
  static func line(_ entry: Journal.Entry) -> String {
    let time = RecordedTime(nanoseconds: entry.record.time)
    return "\(entry.position)  \(time)  \(safe(entry.record.description))\n"
  }

  /// Spells out what a terminal would not just show. Backslashes stay as they are: strings
  /// are in quotation marks, and escaped already.
  private static func safe(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: DisplayText.mustBeEscaped) else { return text }
    var safe = ""
    for scalar in text.unicodeScalars {
      if DisplayText.mustBeEscaped(scalar) {
        safe += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        safe.unicodeScalars.append(scalar)
      }
    }
    return safe
  }
}
