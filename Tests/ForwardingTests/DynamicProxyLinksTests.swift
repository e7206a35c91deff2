// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Testing

@testable import Forwarding

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How proxies remember which proxies are subscribed to them.
@Suite struct DynamicProxyLinksTests {
  /// Subscribes a proxy, ends that, and gives the address of the proxy, which
  /// is deallocated.
  private func leave(_ outer: DynamicProxy) throws -> ObjectIdentifier {
    let inner = try DynamicProxy.pinging()
    let subscription = try outer.subscribe(inner)
    #expect(subscription.cancel())
    return ObjectIdentifier(inner)
  }

  @Test func `a proxy at the address of an earlier one cannot close a cycle`() throws {
    var found = 0
    for _ in 0..<100 {
      let outer = try DynamicProxy.pinging()
      let address = try leave(outer)
      var candidates: [DynamicProxy] = []
      for _ in 0..<20 where candidates.last.map({ ObjectIdentifier($0) }) != address {
        candidates.append(try DynamicProxy.pinging())
      }
      guard let inner = candidates.last, ObjectIdentifier(inner) == address else { continue }
      found += 1
      try outer.subscribe(inner)
      // Without the error, one send would recurse until the stack ends.
      let error = #expect(throws: ForwardingError.self) { try inner.subscribe(outer) }
      #expect(error?.code == .cycle && inner.count == 0)
    }
    // The allocator usually gives the memory to the next object of the size. The
    // address sanitizer keeps freed memory for long.
    let reusesMemory = unsafe dlsym(nil, "__asan_init") == nil
    #expect(found > 0 || !reusesMemory)
  }

  @Test func `a proxy that is refused does not stay in the way`() throws {
    let (outer, inner) = (try DynamicProxy.pinging(), try DynamicProxy.pinging())
    let subscription = try outer.subscribe(inner)
    #expect(throws: ForwardingError.self) { try inner.subscribe(outer) }
    subscription.cancel()
    try inner.subscribe(outer)
    #expect(inner.count == 1 && outer.count == 0)
  }

  @Test func `links of proxies that have left are removed`() throws {
    let outer = try DynamicProxy.pinging()
    for _ in 0..<1000 {
      let inner = try DynamicProxy.pinging()
      try outer.subscribe(inner).cancel()
    }
    #expect(outer.core.extras.chained.withLock { $0.count } <= 32)
  }

  @Test func `all links are looked at only when their number has doubled`() throws {
    let outer = try DynamicProxy.pinging()
    let inner = try (0..<4000).map { _ in try DynamicProxy.pinging() }
    var thresholds: [Int] = []
    for proxy in inner {
      try outer.subscribe(proxy)
      let threshold = outer.core.extras.chained.withLock { $0.pruneAt }
      if thresholds.last != threshold { thresholds.append(threshold) }
    }
    #expect(outer.count == inner.count)
    // Each look at all links sets the threshold anew.
    #expect(thresholds == [16, 32, 64, 128, 256, 512, 1024, 2048, 4096])
  }
}
