// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import Testing

@testable import Forwarding

/// The last reference to a proxy is released inside of a C program's call. The call
/// counts a reference only if no C program has one.
@Suite struct ForwardingForCTests {
  /// How the last reference is released.
  enum Release: String, CaseIterable {
    case byC, bySwift
  }

  /// When it is released.
  enum Moment: String, CaseIterable {
    case inDelivery, inNestedDelivery, inNestedSend, whenLeaving, whenLeavingWithResult
    case inErrorHandler, whenResultIsDiscarded, inInterceptorBefore, inInterceptorAfter
  }

  /// What the C program calls.
  enum Call: String, CaseIterable {
    case frame, unalignedFrame, arguments, name
  }

  // Sendable: one thread uses it.
  @safe private final class Scene: @unchecked Sendable {
    let journal = Journal()
    let handle: OpaquePointer
    private(set) weak var proxy: DynamicProxy?
    private var kept: DynamicProxy?
    private let way: Release

    init(_ way: Release, _ configure: (inout DynamicProxy.Configuration) -> Void = { _ in }) throws
    {
      self.way = way
      let table = try ProtocolTable("Released") {
        $0.optional("ping:", "v@:i")
        $0.optional("score:", "i@:i", default: Int32(-1))
        $0.optional("count:", "i@:i")
        // More arguments than a small method has.
        $0.optional("make", "@@:qqqqqqqqq")
      }
      var configuration = DynamicProxy.Configuration()
      configure(&configuration)
      let made = try DynamicProxy(adopting: table, configuration: configuration)
      unsafe handle = made.unsafeHandle
      proxy = made
      kept = made
      if way == .byC {
        _ = unsafe fwd_proxy_retain(handle)
        kept = nil
      }
    }

    func release() {
      journal.note("release")
      switch way {
      case .byC: unsafe fwd_proxy_release(handle)
      case .bySwift: kept = nil
      }
      journal.note(proxy == nil ? "dead" : "alive")
    }

    func forward(_ call: Call = .frame, _ number: Int32, _ name: String = "ping:") -> fwd_status {
      var result: Int32 = 0
      let size = name == "ping:" ? 0 : 4
      let selector = unsafe fwd_selector_find(name)
      return unsafe withUnsafeMutableBytes(of: &result) { result in
        let result = size > 0 ? result.baseAddress : nil
        var bytes = (UInt8(0), number, Int32(0))
        return unsafe withUnsafeMutableBytes(of: &bytes) { bytes in
          let aligned = unsafe bytes.baseAddress! + 4
          switch call {
          case .frame: return unsafe fwd_forward(handle, selector, aligned, 4, result, size)
          case .name: return unsafe fwd_forward_named(handle, name, aligned, 4, result, size)
          case .unalignedFrame:
            let moved = unsafe aligned - 1
            unsafe moved.copyMemory(from: [number], byteCount: 4)
            return unsafe fwd_forward(handle, selector, moved, 4, result, size)
          case .arguments:
            let pointers: [UnsafeMutableRawPointer] = unsafe [aligned]
            return unsafe fwd_forward_arguments(handle, selector, pointers, 1, result, size)
          }
        }
      }
    }
  }

  /// Runs a closure when it dies.
  private final class Sentinel: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
  }

  @Test("a subscriber releases the proxy", arguments: Release.allCases, Call.allCases)
  func inDelivery(way: Release, call: Call) throws {
    for name in ["ping:", "score:"] {
      let scene = try Scene(way)
      let proxy = { [weak scene] in scene?.proxy }
      let tokens = try [1, 2, 3].map { number in
        try #require(proxy()).subscribe { [scene] in
          $0.on("ping:") { (_: Int32) in
            scene.journal.note("\(number)")
            if number == 2 { scene.release() }
          }
          $0.on("score:") { (value: Int32) -> Int32 in
            scene.journal.note("\(number)")
            scene.release()
            return value
          }
        }
      }
      #expect(scene.forward(call, 7, name) == FWD_OK)
      let (begun, rest) = name == "ping:" ? (["1", "2"], ["3"]) : (["1"], [])
      #expect(scene.journal.take() == begun + ["release", "alive"] + rest)
      #expect(scene.proxy == nil)
      withExtendedLifetime(tokens) {}
    }
  }

  @Test("the proxy is released at other moments", arguments: Release.allCases, Moment.allCases)
  func moments(way: Release, moment: Moment) throws {
    let scene = try Scene(way) { configuration in
      configuration.noResponder = .report
      configuration.onError = { [errors] _ in errors.value?() }
    }
    defer { errors.value = nil }
    let first = Box<DynamicProxy.Token?>(nil)
    var name = "ping:"
    var rest: [DynamicProxy.Token] = []
    try withExtendedLifetime(try #require(scene.proxy)) { proxy in
      switch moment {
      case .inDelivery, .inNestedDelivery, .inNestedSend:
        let depth = moment == .inDelivery ? 1 : 3
        rest.append(
          try proxy.subscribe {
            $0.on("ping:") { (level: Int32) in
              if level == depth { return scene.release() }
              if moment == .inNestedSend, level == 1 {
                try? scene.proxy?.send("ping:", level + 1)
              } else {
                #expect(scene.forward(.frame, level + 1) == FWD_OK)
              }
            }
          })
      case .whenLeaving, .whenLeavingWithResult:
        if moment == .whenLeavingWithResult { name = "score:" }
        let sentinel = Sentinel { scene.release() }
        first.value = try proxy.subscribe {
          $0.on("ping:") { (_: Int32) in withExtendedLifetime(sentinel) { first.value = nil } }
          $0.on("score:") { (value: Int32) -> Int32 in
            withExtendedLifetime(sentinel) { first.value = nil }
            return value
          }
        }
      case .inErrorHandler:
        name = "count:"
        errors.value = { scene.release() }
        let token = try proxy.subscribe { $0.on("count:") { (number: Int32) in number } }
        rest += [token, try #require(token.subscription).block()]
      case .whenResultIsDiscarded:
        rest.append(
          try proxy.subscribe {
            $0.on("make") {
              (
                _: Int64, _: Int64, _: Int64, _: Int64, _: Int64, _: Int64, _: Int64, _: Int64,
                _: Int64
              ) -> AnyObject? in
              Sentinel { scene.release() }
            }
          })
      case .inInterceptorBefore, .inInterceptorAfter:
        rest.append(try proxy.subscribe { $0.on("ping:") { (_: Int32) in } })
        let body = { @Sendable (_: Int32) in scene.release() }
        rest.append(
          moment == .inInterceptorBefore
            ? try proxy.before("ping:", body) : try proxy.after("ping:", body))
      }
    }
    if moment == .whenResultIsDiscarded {
      let frame = [Int64](repeating: 1, count: 9)
      #expect(
        unsafe fwd_forward(scene.handle, fwd_selector_find("make"), frame, 72, nil, 0) == FWD_OK)
    } else {
      #expect(scene.forward(.frame, 1, name) == FWD_OK)
    }
    #expect(scene.journal.take().prefix(2) == ["release", "alive"])
    #expect(scene.proxy == nil)
    withExtendedLifetime((first, rest)) {}
  }

  private let errors = Box<(@Sendable () -> Void)?>(nil)
}
