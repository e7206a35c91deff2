// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A method of a proxy, for typed proxies. It does not retain the proxy, so forwarding
/// counts no reference.
@safe package struct MethodTarget {
  private let core: OpaquePointer
  // Untyped, since clients do not see the shim's internal types: a field of such a
  // type would have no size in the client's view of this struct.
  private let entryAddress: UnsafeRawPointer

  private var entry: UnsafePointer<fwd_proxy_method> {
    // SAFETY: the address was that of an entry.
    unsafe entryAddress.assumingMemoryBound(to: fwd_proxy_method.self)
  }

  /// Finds a method that a protocol of the proxy declares.
  ///
  /// - Precondition: the proxy outlives the target.
  @unsafe package init(_ proxy: DynamicProxy, _ selector: MethodSelector) {
    guard let entry = unsafe proxy.core.method(selector) else {
      preconditionFailure("no protocol of the proxy declares \"\(selector)\"")
    }
    unsafe core = proxy.core.handle
    unsafe entryAddress = UnsafeRawPointer(entry)
  }

  /// Forwards a frame that is aligned for the method. False if that failed.
  ///
  /// - Parameters:
  ///   - frame: the arguments; no byte behind the last is read.
  ///   - result: room for the result, or nil if it is not wanted.
  @unsafe package func forward(
    _ frame: UnsafeRawPointer, _ result: UnsafeMutableRawPointer?
  ) -> Bool {
    var delivery = unsafe fwd_delivery()
    unsafe delivery.frame = frame
    unsafe delivery.result = result
    return unsafe withUnsafeMutablePointer(to: &delivery) {
      unsafe fwd_fan_out(core, entry, $0) == FWD_OK
    }
  }

  /// The error of the last fan-out of this thread, which has failed.
  package static func lastError(_ selector: MethodSelector) -> ForwardingError { .last(selector) }
}
