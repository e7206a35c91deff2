// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CFileWalk
import Forwarding

/// Stops the walk after Ctrl-C, so that what was counted can be told.
final class Interruption: Sendable {
  init() { interruption_begin() }

  func subscribe(to proxy: DynamicProxy) throws(ForwardingError) {
    try proxy.subscribe(self, at: .first) {
      $0.onVisit { (_, _) in interruption_requested() ? .interrupt : .none }
    }
  }
}
