// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CTestFixtures
import Forwarding
import Synchronization
import Testing

@Suite struct FunctionPointerTests {
  private final class Robot: Sendable {}
  private typealias IntFunction = @convention(c) (Int32) -> Int32

  // MARK: Values

  @Test func `runs its handler with the caller's arguments`() throws {
    let half = try FunctionPointer(try MethodSignature("ii")) { call in
      guard let value = try? call.argument(at: 0, as: Int32.self) else { return }
      try? call.setResult(value / 2)
    }
    #expect(unsafe fixture_call_int(half.unsafeCast(), 42) == 21)
    #expect(unsafe fixture_call_int(half.unsafeCast(), -42) == -21)
    withExtendedLifetime(half) {}
  }

  @Test func `small results fill their register`() throws {
    let negative = try FunctionPointer(try MethodSignature("cc")) { call in
      try? call.setResult(Int8(-5))
    }
    #expect(unsafe fixture_call_char(negative.unsafeCast(), 1) == -5)
    withExtendedLifetime(negative) {}
  }

  @Test func `takes arguments of different kinds`() throws {
    let many = try FunctionPointer(try MethodSignature("dcd{fixture_point=dd}f*")) { call in
      guard let a = try? call.argument(at: 0, as: Int8.self),
        let b = try? call.argument(at: 1, as: Double.self),
        let c = try? call.argument(at: 2, as: fixture_point.self),
        let d = try? call.argument(at: 3, as: Float.self),
        let text = try? unsafe call.argument(at: 4, as: UnsafePointer<CChar>.self)
      else { return }
      let length = unsafe String(cString: text).count
      try? call.setResult(Double(a) + b + 10 * c.x + 100 * c.y + Double(d) + Double(1000 * length))
    }
    let result = unsafe fixture_call_many(many.unsafeCast(), "four")
    #expect(result == -3 + 0.5 + 15 + 250 + 0.25 + 4000)
    withExtendedLifetime(many) {}
  }

  @Test func `gives structs`() throws {
    let encoding = "{fixture_mixed=idc}"
    let function = try FunctionPointer(try MethodSignature("\(encoding)\(encoding)i")) { call in
      guard let value = try? call.argument(at: 0, as: fixture_mixed.self),
        let factor = try? call.argument(at: 1, as: Int32.self)
      else { return }
      try? call.setResult(
        fixture_mixed(
          number: value.number * factor, fraction: value.fraction / 2, last: value.last + 1))
    }
    let result = unsafe fixture_call_mixed(
      function.unsafeCast(), fixture_mixed(number: 2, fraction: 3, last: 4), -5)
    #expect(result.number == -10 && result.fraction == 1.5 && result.last == 5)
    withExtendedLifetime(function) {}
  }

  @Test("takes and gives structs of each size", arguments: 1...64)
  func bytes(size: Int) throws {
    let signature = try MethodSignature("{s=[\(size)C]}{s=[\(size)C]}")
    let function = try FunctionPointer(signature) { call in
      var bytes: [UInt8] = []
      try? call.withBytes(ofArgumentAt: 0) { span in
        bytes = (0..<span.byteCount).map {
          unsafe span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) &+ 2
        }
      }
      try? unsafe call.setResultBytes(bytes.span.bytes)
    }
    var bytes = (0...size).map { UInt8($0) }
    unsafe bytes.withUnsafeMutableBytes { bytes in
      // The fixture takes a function of any type, as C's `void (*)(void)`.
      let any = unsafe unsafeBitCast(function.unsafePointer, to: (@convention(c) () -> Void).self)
      unsafe fixture_call_bytes(size, any, bytes.baseAddress!)
    }
    #expect(bytes == (0..<size).map { UInt8($0 + 2) } + [UInt8(size)])
    withExtendedLifetime(function) {}
  }

  @Test func `a result that is not set is zeros`() throws {
    let nothing = try FunctionPointer(try MethodSignature("ii")) { _ in }
    #expect(unsafe fixture_call_int(nothing.unsafeCast(), 42) == 0)
    withExtendedLifetime(nothing) {}
  }

  @Test func `is called by calls of the same signature`() throws {
    let signature = try MethodSignature("dqd")
    let function = try FunctionPointer(signature) { call in
      guard let a = try? call.argument(at: 0, as: Int64.self),
        let b = try? call.argument(at: 1, as: Double.self)
      else {
        return
      }
      try? call.setResult(Double(a) * b)
    }
    let product: Double = try unsafe signature.unsafeCall(function.unsafePointer, Int64(6), 0.5)
    #expect(product == 3)
    withExtendedLifetime(function) {}
  }

  // MARK: Faults

  @Test func `a handler's faults are errors`() throws {
    let errors = Mutex<[ForwardingError]>([])
    let function = try FunctionPointer(try MethodSignature("ii")) { call in
      do throws(ForwardingError) {
        _ = try call.argument(at: 1, as: Int32.self)
      } catch { errors.withLock { $0.append(error) } }
      do throws(ForwardingError) {
        _ = try call.argument(at: 0, as: Double.self)
      } catch { errors.withLock { $0.append(error) } }
      do throws(ForwardingError) {
        try call.setResult(0.5)
      } catch { errors.withLock { $0.append(error) } }
      do throws(ForwardingError) {
        let byte: [UInt8] = [1]
        try unsafe call.setResultBytes(byte.span.bytes)
      } catch { errors.withLock { $0.append(error) } }
      do throws(ForwardingError) {
        _ = try call.invocation(of: "run")
      } catch { errors.withLock { $0.append(error) } }
    }
    #expect(unsafe fixture_call_int(function.unsafeCast(), 1) == 0)
    #expect(
      errors.withLock { $0 }.map(\.description) == [
        #"there is no argument 1 of "ii": it has 1 argument"#,
        #"argument 0 of "ii" is 'i' (Int32), got Double"#,
        #"the result of "ii" is 'i' (Int32), got Double"#,
        #"the result of "ii" takes 4 bytes, got 1"#,
        #""run" cannot take a receiver: argument 0 is 'i' (Int32)"#,
      ])
    withExtendedLifetime(function) {}
  }

  @Test func `a cast to what is no function pointer traps`() async {
    await #expect(processExitsWith: .failure) {
      let function = try FunctionPointer(try MethodSignature("v")) { _ in }
      _ = unsafe function.unsafeCast(to: Int32.self)
    }
  }

  // MARK: Lifetimes

  @Test func `keeps what its handler holds, and no longer`() throws {
    weak var tracked: Robot?
    do {
      let robot = Robot()
      tracked = robot
      var function: FunctionPointer? = try FunctionPointer(try MethodSignature("ii")) { call in
        withExtendedLifetime(robot) { _ = try? call.setResult(Int32(1)) }
      }
      #expect(unsafe fixture_call_int(function!.unsafeCast(), 1) == 1)
      function = nil
    }
    #expect(tracked == nil)
  }

  @Test func `may be released inside its own call`() throws {
    weak var tracked: Robot?
    let holder = Mutex<FunctionPointer?>(nil)
    let function: IntFunction
    do {
      let robot = Robot()
      tracked = robot
      let made = try FunctionPointer(try MethodSignature("ii")) { call in
        holder.withLock { $0 = nil }
        let value = try? call.argument(at: 0, as: Int32.self)
        withExtendedLifetime(robot) { _ = try? call.setResult((value ?? 0) + 1) }
      }
      function = unsafe made.unsafeCast()
      holder.withLock { $0 = made }
    }
    #expect(tracked != nil)
    #expect(fixture_call_int(function, 41) == 42)
    #expect(tracked == nil)
  }

  @Test func `can be called from many threads and from within itself`() throws {
    let signature = try MethodSignature("ii")
    let count = Atomic(0)
    let function = try FunctionPointer(signature) { call in
      count.add(1, ordering: .relaxed)
      let value = try? call.argument(at: 0, as: Int32.self)
      try? call.setResult((value ?? 0) * 2)
    }
    let sum = unsafe fixture_call_in_threads(function.unsafeCast(), 8, 1000)
    #expect(sum == 8 * 999 * 1000)
    #expect(count.load(ordering: .relaxed) == 8000)

    let inner: IntFunction = unsafe function.unsafeCast()
    let outer = try FunctionPointer(signature) { call in
      let value = try? call.argument(at: 0, as: Int32.self)
      try? call.setResult(fixture_call_int(inner, (value ?? 0) + 1))
    }
    #expect(unsafe fixture_call_int(outer.unsafeCast(), 20) == 42)
    withExtendedLifetime((function, outer)) {}
  }

  @Test func `a call becomes an invocation that outlives it`() throws {
    let kept = Mutex<[String]>([])
    let signature = try MethodSignature("v^v*i")
    let function = try FunctionPointer(signature) { call in
      guard let invocation = try? call.invocation(of: "log:level:") else { return }
      invocation.retainArguments()
      // The caller's buffer changes while the invocation is alive.
      guard let text = try? unsafe call.argument(at: 1, as: UnsafeMutablePointer<CChar>.self) else {
        return
      }
      unsafe text[0] = 0x58
      let copied = try? unsafe String(
        cString: invocation.argument(at: 1, as: UnsafePointer<CChar>.self))
      let level = try? invocation.argument(at: 2, as: Int32.self)
      let target = unsafe invocation.unsafeTarget.map { UInt(bitPattern: $0) }
      kept.withLock {
        $0 = [copied ?? "", "\(level ?? 0)", "\(target ?? 0)", invocation.selector.name]
      }
    }
    var text: [CChar] = Array("hello".utf8CString)
    try unsafe text.withUnsafeMutableBufferPointer { text in
      try unsafe signature.unsafeCall(
        function.unsafePointer, UnsafeRawPointer(bitPattern: 4096), text.baseAddress, Int32(3),
        as: Void.self)
    }
    #expect(kept.withLock { $0 } == ["hello", "3", "4096", "log:level:"])
    #expect(text[0] == 0x58)
    withExtendedLifetime(function) {}
  }
}
