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

/// The CPU time of the calling thread, in seconds.
internal func threadSeconds() -> Double {
  var time = timespec()
  unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

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
      #expect(throws: ForwardingError.self) { try inner.subscribe(outer) }
      #expect(inner.count == 0)
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

  @Test func `many proxies subscribe to one in a short time each`() throws {
    let outer = try DynamicProxy.pinging()
    let inner = try (0..<16_000).map { _ in try DynamicProxy.pinging() }
    let start = threadSeconds()
    for proxy in inner { try outer.subscribe(proxy) }
    let seconds = threadSeconds() - start
    #expect(outer.count == inner.count)
    // 10 us each and more is left for sanitizers. One look at all links for
    // each proxy took several seconds.
    #expect(seconds < 2, "subscribing took \(seconds) s")
  }
}
