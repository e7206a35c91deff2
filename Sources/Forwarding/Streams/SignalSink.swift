// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// Who gets the elements of a signal: an iterator's channel, or a subscription
/// of a publisher.
package protocol SignalSink<Element>: AnyObject, Sendable {
  associatedtype Element: Sendable

  /// Takes an element, on the thread of the fan-out and under no lock.
  func receive(_ element: Element)

  /// Says that no element will come any more: the source has died.
  func finish()
}
