// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CUV
import ExampleSupport
import Foundation
import Synchronization

/// A libuv loop on a thread of its own.
///
/// Only `perform` and `stop` may be called on other threads, as libuv demands.
public final class EventLoop: @unchecked Sendable {
  public let loop = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
  private let wakeUp = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
  private let work = Mutex<[@Sendable (EventLoop) -> Void]>([])
  private var thread = uv_thread_t()
  /// Frees the handles. libuv uses them until the loop has ended.
  private var cleanUps: [() -> Void] = []

  /// Starts the thread.
  public init() {
    check(uv_loop_init(loop), is: 0, "making a loop")
    let wake: uv_async_cb = { handle in EventLoop.of(handle!.pointee.loop).doWork() }
    check(uv_async_init(loop, wakeUp, wake), is: 0, "making a handle to wake the loop")
    loop.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    let run: uv_thread_cb = { loop in
      _ = uv_run(loop!.assumingMemoryBound(to: uv_loop_t.self), UV_RUN_DEFAULT)
    }
    check(uv_thread_create(&thread, run, loop), is: 0, "starting the thread")
  }

  static func of(_ loop: UnsafeMutablePointer<uv_loop_t>) -> EventLoop {
    Unmanaged.fromOpaque(loop.pointee.data).takeUnretainedValue()
  }

  /// Whether the caller runs on the loop's thread.
  public var isCurrent: Bool {
    var current = uv_thread_self()
    return uv_thread_equal(&current, &thread) != 0
  }

  /// Runs a closure on the loop's thread, and returns its result.
  public func perform<Value: Sendable>(_ body: @escaping @Sendable (EventLoop) -> Value) -> Value {
    let result = Mutex<Value?>(nil)
    let done = DispatchSemaphore(value: 0)
    work.withLock { work in
      work.append { loop in
        let value = body(loop)
        result.withLock { $0 = value }
        done.signal()
      }
    }
    uv_async_send(wakeUp)
    done.wait()
    return result.withLock { $0! }
  }

  private func doWork() {
    let work = work.withLock { work in
      defer { work = [] }
      return work
    }
    for body in work { body(self) }
  }

  /// Allocates a handle or a request, which is freed when the loop has ended. Runs on the loop's thread.
  public func allocate<Handle>(_: Handle.Type) -> UnsafeMutablePointer<Handle> {
    let handle = UnsafeMutablePointer<Handle>.allocate(capacity: 1)
    cleanUps.append { handle.deallocate() }
    return handle
  }

  /// Closes all handles, ends the loop and its thread.
  public func stop() {
    perform { loop in
      uv_walk(
        loop.loop, { handle, _ in if uv_is_closing(handle) == 0 { uv_close(handle, nil) } }, nil)
    }
    check(uv_thread_join(&thread), is: 0, "joining the thread")
    check(uv_loop_close(loop), is: 0, "closing the loop")
    for cleanUp in cleanUps { cleanUp() }
    wakeUp.deallocate()
    loop.deallocate()
  }

  /// Ends the program if a function of libuv has failed.
  public static func require(_ status: Int32, _ what: String) {
    check(status >= 0, "\(what): \(status < 0 ? String(cString: uv_strerror(status)) : "")")
  }
}
