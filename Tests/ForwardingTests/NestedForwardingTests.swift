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

/// Forwards inside of forwards, without an end, on a thread with a stack of 512
/// KB: each is an error before the stack is used up. Tests/Robustness/nesting.c
/// has the ways of C, and what a level takes.
@Suite struct NestedForwardingTests {
  private let depth = Box(0)
  private let failure = Box<ForwardingError?>(nil)

  private func proxy() throws -> DynamicProxy {
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { [failure] error in
      failure.update { $0 = $0 ?? error }
    }
    return try DynamicProxy(
      adopting: ProtocolTable("Nest") {
        $0.optional("nest:", "v@:q")
        $0.optional("ask:", "q@:q", result: .untilNonzero)
        $0.optional("text:", "v@:*")
      }, configuration: configuration)
  }

  private func note(_ body: () throws(ForwardingError) -> Void) {
    depth.update { $0 += 1 }
    do throws(ForwardingError) {
      try body()
    } catch {
      failure.update { $0 = $0 ?? error }
    }
  }

  private func onSmallStack(_ body: @escaping @Sendable () -> Void) {
    final class Work {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    unsafe pthread_attr_setstacksize(&attributes, 512 << 10)
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let work = unsafe Unmanaged.passRetained(Work(body))
    unsafe pthread_create(
      &thread, &attributes,
      { argument in
        #if canImport(Darwin)
          unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
        #else
          unsafe Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().body()
        #endif
        return nil
      }, work.toOpaque())
    #if canImport(Darwin)
      unsafe pthread_join(thread!, nil)
    #else
      pthread_join(thread, nil)
    #endif
    unsafe pthread_attr_destroy(&attributes)
  }

  private func expectFailure(_ selector: String, atLeast least: Int = 20) {
    #expect(failure.value?.code == .nestedTooDeep)
    #expect(failure.value?.description.contains("\"\(selector)\"") == true)
    #expect(failure.value?.description.contains("of the thread's stack") == true)
    #expect(depth.value > least, "\(depth.value) levels")
  }

  @Test func `a closure that sends to its own proxy`() throws {
    let proxy = try proxy()
    let me = self
    let token = try proxy.subscribe { [unowned proxy] in
      $0.on("nest:") { (level: Int64) in
        me.note { () throws(ForwardingError) in try proxy.send("nest:", level + 1) }
      }
    }
    onSmallStack { try? proxy.send("nest:", Int64(0)) }
    expectFailure("nest:")
    withExtendedLifetime(token) {}
  }

  @Test func `a closure with a result`() throws {
    let proxy = try proxy()
    let me = self
    let token = try proxy.subscribe { [unowned proxy] in
      $0.on("ask:") { (level: Int64) -> Int64 in
        me.note { () throws(ForwardingError) in _ = try proxy.send("ask:", level + 1) as Int64 }
        return 1
      }
    }
    onSmallStack { _ = try? proxy.send("ask:", Int64(0)) as Int64 }
    expectFailure("ask:")
    withExtendedLifetime(token) {}
  }

  @Test func `arguments that take the slow way of sends`() throws {
    let proxy = try proxy()
    let me = self
    let token = try proxy.subscribe { [unowned proxy] in
      unsafe $0.on("text:") { (text: UnsafePointer<CChar>) in
        me.note { () throws(ForwardingError) in try unsafe proxy.send("text:", text) }
      }
    }
    onSmallStack { unsafe "x".withCString { try? unsafe proxy.send("text:", $0) } }
    expectFailure("text:")
    withExtendedLifetime(token) {}
  }

  @Test func `an interceptor around each level`() throws {
    let proxy = try proxy()
    let me = self
    let token = try proxy.subscribe { [unowned proxy] in
      $0.on("nest:") { (level: Int64) in
        me.note { () throws(ForwardingError) in try proxy.send("nest:", level + 1) }
      }
    }
    let around = try proxy.around("nest:") { _, proceed in try proceed() }
    onSmallStack { try? proxy.send("nest:", Int64(0)) }
    expectFailure("nest:", atLeast: 10)
    withExtendedLifetime((token, around)) {}
  }

  @Test func `a function pointer that calls itself`() throws {
    let proxy = try proxy()
    typealias Callback = @convention(c) (Int64) -> Void
    let callback = try proxy.functionPointer(for: "nest:")
    let address = unsafe UInt(bitPattern: callback.unsafePointer)
    let depth = depth
    let token = try proxy.subscribe {
      $0.on("nest:") { (level: Int64) in
        depth.update { $0 += 1 }
        unsafe unsafeBitCast(address, to: Callback.self)(level + 1)
      }
    }
    onSmallStack { unsafe unsafeBitCast(address, to: Callback.self)(0) }
    expectFailure("nest:")
    withExtendedLifetime((token, callback)) {}
  }

  @Test func `a long chain of proxies`() throws {
    let first = try proxy()
    var chain = [first]
    for _ in 0..<2_000 {
      let next = try proxy()
      try chain[chain.count - 1].subscribe(next)
      chain.append(next)
    }
    let token = try chain[chain.count - 1].subscribe { $0.on("nest:") { (_: Int64) in } }
    let failure = failure
    onSmallStack {
      do throws(ForwardingError) {
        try first.send("nest:", Int64(0))
      } catch {
        failure.value = error
      }
    }
    #expect(failure.value?.code == .nestedTooDeep)
    #expect(failure.value?.description.contains("\"nest:\"") == true)
    withExtendedLifetime((token, chain)) {}
  }

  @Test func `a batch that forwards inside of itself`() throws {
    let proxy = try proxy()
    let me = self
    let token = try proxy.subscribe { [unowned proxy] in
      $0.on("nest:") { (level: Int64) in
        me.note { () throws(ForwardingError) in try proxy.send("nest:", level + 1) }
      }
    }
    onSmallStack {
      try? proxy.withBatch { try proxy.send("nest:", Int64(0)) }
    }
    expectFailure("nest:")
    withExtendedLifetime(token) {}
  }

  @Test func `a task on the cooperative pool`() async throws {
    let proxy = try proxy()
    let me = self
    let token = try proxy.subscribe { [unowned proxy] in
      $0.on("nest:") { (level: Int64) in
        me.note { () throws(ForwardingError) in try proxy.send("nest:", level + 1) }
      }
    }
    await Task.detached { try? proxy.send("nest:", Int64(0)) }.value
    expectFailure("nest:")
    withExtendedLifetime(token) {}
  }
}
