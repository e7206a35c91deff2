// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

@Suite struct DynamicProxyRemovalTests {
  @Test func `all subscriptions of an object are ended by default`() throws {
    let journal = Journal()
    let proxy = try DynamicProxy.pinging { $0.duplicates = .allow }
    let listener = Listener("a", journal)
    try proxy.subscribe(listener)
    try proxy.subscribe(listener)
    #expect(proxy.unsubscribe(listener))
    try proxy.ping()
    #expect(journal.take() == [])
    #expect(!proxy.unsubscribe(listener))
  }

  @Test func `one at a time, the oldest first, where the configuration says so`() throws {
    let journal = Journal()
    let proxy = try DynamicProxy.pinging {
      $0.duplicates = .allow
      $0.removal = .first
    }
    let (a, b) = (Listener("a", journal), Listener("b", journal))
    let oldest = try proxy.subscribe(a)
    try proxy.subscribe(b)
    let newest = try proxy.subscribe(a)
    #expect(proxy.unsubscribe(a))
    #expect(!oldest.isLive && newest.isLive)
    try proxy.ping()
    #expect(journal.take() == ["b1", "a1"])
    #expect(proxy.unsubscribe(a))
    #expect(!proxy.unsubscribe(a))
    try proxy.ping()
    #expect(journal.take() == ["b1"])
  }

  @Test func `what is removed has no priority any more`() throws {
    let journal = Journal()
    let proxy = try DynamicProxy.pinging {
      $0.duplicates = .allow
      $0.removal = .first
    }
    let (a, b) = (Listener("a", journal), Listener("b", journal))
    try proxy.subscribe(a, at: .priority(3))
    try proxy.subscribe(a, at: .priority(-1))
    #expect(proxy.unsubscribe(a))
    try proxy.subscribe(b)
    try proxy.ping()
    #expect(journal.take() == ["b1", "a1"])
  }
}
