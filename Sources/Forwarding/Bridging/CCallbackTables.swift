// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// The names are those of forwarding.h.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

package import CForwarding
internal import CForwardingInternal

// Structs of callbacks for forwarding.h, which documents these functions. A
// `fwd_callback_table` is a `CCallbackTable`, which owns the functions.

/// Makes a struct of callbacks; see `forwarding.h`.
@c @implementation
package func fwd_callback_table_create(
  _ proxy: OpaquePointer?, _ preset: UnsafeRawPointer?, _ size: Int,
  _ callbacks: UnsafePointer<fwd_callback>?, _ count: Int, _ callbackSize: Int,
  _ table: UnsafeMutablePointer<OpaquePointer?>?, _ error: UnsafeMutablePointer<fwd_error>?
) -> fwd_status {
  guard let proxy = unsafe proxy, let table = unsafe table, unsafe callbacks != nil || count == 0
  else {
    let missing =
      unsafe proxy == nil ? "proxy" : unsafe table == nil ? "table to fill" : "callbacks"
    return unsafe fail(error, FWD_NULL_ARGUMENT, "fwd_callback_table_create: no \(missing)")
  }
  for (number, what) in [(count, "count of callbacks"), (size, "size of the struct")] {
    if let tooMany = unsafe failHuge(error, number, "fwd_callback_table_create: the \(what)") {
      return tooMany
    }
  }
  if unsafe fwd_proxy_core_is_closing(proxy) { return unsafe fwd_proxy_core_fail_closing(error) }
  // SAFETY: the caller has a reference to the proxy.
  let target = unsafe DynamicProxy.of(core: proxy)
  do throws(ForwardingError) {
    var members: [CallbackMember] = []
    for index in 0..<count {
      var callback = unsafe fwd_callback()
      // SAFETY: the caller gives `count` callbacks of the size in `callbackSize`.
      let status = unsafe fwd_callback_read(callbacks!, callbackSize, index, &callback, error)
      if status != FWD_OK { return status }
      try members.append(unsafe CallbackMember(callback, index, of: target))
    }
    let made = try unsafe CCallbackTable(target, copying: preset, size, members)
    // SAFETY: the caller owns the reference, and releases it by
    // fwd_callback_table_destroy.
    unsafe table.pointee = OpaquePointer(Unmanaged.passRetained(made).toOpaque())
    return FWD_OK
  } catch let failure {
    return unsafe fail(error, failure)
  }
}

/// Returns the struct; see `forwarding.h`.
@c @implementation
package func fwd_callback_table_struct(_ table: OpaquePointer?) -> UnsafeMutableRawPointer? {
  guard let table = unsafe table else { return nil }
  // SAFETY: the caller has the table.
  return unsafe Unmanaged<CCallbackTable>.fromOpaque(UnsafeRawPointer(table))
    .takeUnretainedValue().address
}

/// Ends a table; see `forwarding.h`.
@c @implementation
package func fwd_callback_table_destroy(_ table: OpaquePointer?) {
  guard let table = unsafe table else { return }
  // SAFETY: the caller has the table, which it gives up.
  unsafe Unmanaged<CCallbackTable>.fromOpaque(UnsafeRawPointer(table)).release()
}

/// The owner of a struct of callbacks.
@safe private final class CCallbackTable {
  private let proxy: DynamicProxy
  /// Set once, since the functions need their owner.
  private(set) var address: UnsafeMutableRawPointer?

  @unsafe init(
    _ proxy: DynamicProxy, copying preset: UnsafeRawPointer?, _ size: Int,
    _ members: [CallbackMember]
  ) throws(ForwardingError) {
    self.proxy = proxy
    unsafe address = unsafe try proxy.callbackStruct(
      of: size, alignment: 1, copying: preset, members, owner: self)
  }

  deinit {
    // Notices that this owner has died.
    proxy.ownedFunctions.collect()
    proxy.subscribers.noteForwarding()
  }
}

extension CallbackMember {
  /// A member that a C program describes.
  ///
  /// - Throws: `ForwardingError`, as `forwarding.h` says.
  @unsafe fileprivate init(
    _ callback: fwd_callback, _ index: Int, of proxy: DynamicProxy
  ) throws(ForwardingError) {
    let name = try unsafe text(callback.selector, "the selector of callback \(index)")
    guard let selector = MethodSelector(known: name) else { throw proxy.unknown(name) }
    let method = try proxy.method(for: selector)
    let flags = unsafe callback.flags
    guard flags & ~UInt64(FWD_CALLBACK_NULL_IF_UNIMPLEMENTED.rawValue) == 0 else {
      throw ForwardingError(
        .indexOutOfRange, selector: name,
        "the callback for \"\(name)\" has the flags \(flags), of which some do not exist")
    }
    let context = DynamicProxy.ContextPosition(unsafe callback.form)
    let signature = try method.callbackSignature(context)
    if unsafe callback.encoding != nil {
      let expected = try MethodSignature(
        unsafe text(callback.encoding, "the encoding of callback \(index)"),
        stating: method.signature.storage.stated)
      guard expected.hasArguments(compatibleWith: signature) else {
        throw ForwardingError(
          .signatureMismatch, selector: name,
          "the callback for \"\(name)\" is a function of \"\(signature)\", but the member has \"\(expected)\""
        )
      }
    }
    let failure = try unsafe StoredValue.stated(
      "failure result", callback.failure_result, callback.failure_result_size, of: method.selector,
      method.signature)
    self.init(
      method: method, context: context, failure: failure,
      offset: unsafe callback.offset, isNullable: flags != 0)
  }
}

extension MethodSignature {
  /// Whether all arguments and the result are compatible, the first argument
  /// included.
  fileprivate func hasArguments(compatibleWith other: MethodSignature) -> Bool {
    arguments.count == other.arguments.count && result.isCompatible(with: other.result)
      && zip(arguments, other.arguments).allSatisfy {
        $0.encoding.isCompatible(with: $1.encoding)
      }
  }
}
