// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import CTestFixtures
import Testing

@testable import Forwarding

/// Calls of the library at every moment when a program gets control inside it.
@Suite struct SequenceTests {
  /// The table is in Tests/Support/CTestFixtures/sequences.c.
  @Test func `every C function gives its expected status in every situation`() {
    #expect(sequences_run() == 0)
  }

  /// Calls the proxy that is being deinitialised, through a reference that
  /// counts nothing.
  @safe private final class Asker: @unchecked Sendable {
    let errors: Lock<[ForwardingError.Code]>
    let proxy: Unmanaged<DynamicProxy>
    let subscription = Lock<Subscription?>(nil)

    init(_ proxy: DynamicProxy, _ errors: Lock<[ForwardingError.Code]>) {
      unsafe self.proxy = Unmanaged.passUnretained(proxy)
      self.errors = errors
    }

    deinit {
      // SAFETY: the proxy has begun to deinitialise, and exists until this
      // subscriber is gone.
      unsafe proxy._withUnsafeGuaranteedRef { proxy in
        note { () throws(ForwardingError) in try proxy.send("ping:", Int32(1)) }
        note { () throws(ForwardingError) in
          try proxy.subscribe(Late.shared) { $0.on("ping:") { (_: Late, _: Int32) in } }
        }
        note { () throws(ForwardingError) in _ = try proxy.functionPointer(for: "ping:") }
        note { () throws(ForwardingError) in
          do {
            try proxy.withBatch { _ in }
          } catch {
            throw error as? ForwardingError ?? ForwardingError(.outOfMemory, "\(error)")
          }
        }
        #expect(proxy.count == 0 && !proxy.responds(to: "ping:"))
        #expect(proxy.liveSubscribers.isEmpty && !proxy.contains(Late.shared))
        #expect(!proxy.unsubscribe(Late.shared))
      }
      let subscription = subscription.withLock { $0 }
      #expect(subscription?.cancel() == false && subscription?.isLive == false)
    }

    private func note(_ body: () throws(ForwardingError) -> Void) {
      do throws(ForwardingError) {
        try body()
        Issue.record("a proxy that is being deinitialised took a call")
      } catch {
        errors.withLock { $0.append(error.code) }
      }
    }
  }

  private final class Late: Sendable {
    static let shared = Late()
  }

  @Test func `a proxy that is being deinitialised refuses calls with an error`() throws {
    let errors = Lock<[ForwardingError.Code]>([])
    do {
      let proxy = try DynamicProxy.pinging()
      for _ in 0..<3 {
        let asker = Asker(proxy, errors)
        let subscription = try proxy.subscribe(asker, lifetime: .strong) {
          $0.on("ping:") { (_: Asker, _: Int32) in }
        }
        asker.subscription.withLock { $0 = subscription }
      }
      #expect(proxy.count == 3)
    }
    #expect(errors.withLock { $0 } == Array(repeating: .dead, count: 12))
  }
}
