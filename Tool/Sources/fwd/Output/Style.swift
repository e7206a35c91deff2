// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// What the terminal can show: colours, and signs outside ASCII.
struct Style {
  let hasColor: Bool
  let isUnicode: Bool

  /// What fits standard output.
  static var standard: Style {
    let locale = environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG") ?? ""
    let encoding = locale.lowercased()
    return Style(
      hasColor: StandardStream.output.isTerminal && environment("NO_COLOR") == nil
        && environment("TERM") != "dumb",
      isUnicode: encoding.hasSuffix("utf-8") || encoding.hasSuffix("utf8"))
  }

  func bold(_ text: String) -> String { hasColor ? "\u{1B}[1m\(text)\u{1B}[m" : text }

  /// A bar of `share` of `width` columns; what is not zero shows.
  func bar(_ share: Double, width: Int) -> String {
    guard share > 0, width > 0 else { return "" }
    let eighths = max(1, Int((min(1, share) * Double(width) * 8).rounded()))
    let text: String
    if isUnicode {
      let rests = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
      text = String(repeating: "█", count: eighths / 8) + rests[eighths % 8]
    } else {
      text = String(repeating: "#", count: max(1, (eighths + 4) / 8))
    }
    return hasColor ? "\u{1B}[36m\(text)\u{1B}[m" : text
  }
}
