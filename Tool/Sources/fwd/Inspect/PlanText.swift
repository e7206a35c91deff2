// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding

/// The drawing of a call plan: which byte of which argument goes to which
/// register or stack word, and where the result comes back.
struct PlanText {
  private let signature: MethodSignature

  init(_ signature: MethodSignature) { self.signature = signature }

  /// The drawing as text.
  func text(style: Style) -> String {
    let title = style.bold("call plan") + " " + DisplayText.escaped(signature.text) + "\n\n"
    guard let plan = signature.callPlan else {
      return title + "  none on this platform: calls go through libffi\n"
    }
    var text = title
    for line in plan.split(separator: "\n", omittingEmptySubsequences: false) {
      text += (line.isEmpty ? "" : "  " + DisplayText.escaped(String(line))) + "\n"
    }
    if environment("FWD_CALL") == "libffi" {
      text += "\nFWD_CALL=libffi is set: calls go through libffi all the same\n"
    }
    return text
  }
}
