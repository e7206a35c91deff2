// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation

/// Collects elements from several threads. It has no `Mutex`, which the thread sanitizer does not
/// know on Linux.
public final class Collected<Element: Sendable>: @unchecked Sendable {
  // SAFETY: the lock protects the elements.
  private let lock = NSLock()
  private var elements: [Element] = []

  public init() {}

  public var all: [Element] { lock.withLock { elements } }
  public func append(_ element: Element) { lock.withLock { elements.append(element) } }
}
