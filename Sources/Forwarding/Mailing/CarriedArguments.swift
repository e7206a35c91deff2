// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// How the arguments of one method that are Swift values behind pointers are
/// copied to a message.
@safe internal final class CarriedArguments: @unchecked Sendable {
  // Sendable: filled in `init`, and immutable from then on.

  /// One for each argument of the signature; nil for those that C can copy.
  internal let types: UnsafeMutablePointer<UnsafePointer<fwd_carried_type>?>
  private let count: Int

  /// - Parameter values: the Swift type behind each argument, in order, the
  ///   hidden ones included; nil where there is none.
  /// - Returns: nil if there is no Swift value among them.
  internal init?(_ values: [Any.Type?]) {
    if values.allSatisfy({ $0 == nil }) { return nil }
    count = values.count
    unsafe types = .allocate(capacity: count)
    for (index, type) in values.enumerated() {
      unsafe (types + index).initialize(to: type.map { unsafe Self.carried($0) })
    }
  }

  deinit {
    for index in 0..<count {
      if let type = unsafe types[index] {
        unsafe Unmanaged<Carrier>.fromOpaque(type.pointee.context!).release()
        unsafe type.deallocate()
      }
    }
    unsafe types.deallocate()
  }

  private static func carried(_ type: Any.Type) -> UnsafePointer<fwd_carried_type> {
    func open<Value>(_: Value.Type) -> Carrier {
      // A value that C may move by its bytes, and that is not aligned to more than
      // a message is, stands in the message. Others stand in memory of their own.
      let isInline = MemoryLayout<Value>.alignment <= 16 && isBitwiseTakable(Value.self)
      return isInline ? InlineCarrier<Value>() : BoxedCarrier<Value>()
    }
    let carrier = _openExistential(type, do: open)
    let made = UnsafeMutablePointer<fwd_carried_type>.allocate(capacity: 1)
    unsafe made.initialize(
      to: fwd_carried_type(
        size: carrier.size, alignment: carrier.alignment, is_boxed: carrier.isBoxed,
        context: UnsafeRawPointer(Unmanaged.passRetained(carrier).toOpaque()),
        copy: { context, to, from in
          unsafe Unmanaged<Carrier>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            unsafe $0.copy(to, from)
          }
        },
        destroy: { context, value in
          unsafe Unmanaged<Carrier>.fromOpaque(context!)._withUnsafeGuaranteedRef {
            unsafe $0.destroy(value)
          }
        }))
    return unsafe UnsafePointer(made)
  }

  /// Whether values of a type can be moved by a copy of their bytes. Those with weak
  /// references cannot.
  private static func isBitwiseTakable(_ type: Any.Type) -> Bool {
    // SAFETY: the word before a type's metadata is the address of its value
    // witness table: eight functions, the size, the stride, then the flags
    // (docs/ABI/TypeMetadata.rst in swiftlang/swift).
    let metadata = unsafe unsafeBitCast(type, to: UnsafePointer<UnsafeRawPointer>.self)
    let flags = unsafe metadata[-1].load(
      fromByteOffset: 10 * MemoryLayout<UInt>.size, as: UInt32.self)
    return flags & 0x0010_0000 == 0
  }
}

/// Copies values of one type to messages.
private class Carrier {
  var size: Int { 0 }
  var alignment: Int { 1 }
  var isBoxed: Bool { false }
  @unsafe func copy(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer) {}
  @unsafe func destroy(_ value: UnsafeMutableRawPointer) {}
}

private final class InlineCarrier<Value>: Carrier {
  override var size: Int { MemoryLayout<Value>.size }
  override var alignment: Int { MemoryLayout<Value>.alignment }

  @unsafe override func copy(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer) {
    // SAFETY: the argument's encoding names the type, and the message has room.
    unsafe to.initializeMemory(
      as: Value.self, to: from.assumingMemoryBound(to: Value.self).pointee)
  }

  @unsafe override func destroy(_ value: UnsafeMutableRawPointer) {
    unsafe value.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
  }
}

private final class BoxedCarrier<Value>: Carrier {
  override var size: Int { unsafe MemoryLayout<UnsafeRawPointer>.size }
  override var alignment: Int { unsafe MemoryLayout<UnsafeRawPointer>.alignment }
  override var isBoxed: Bool { true }

  @unsafe override func copy(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer) {
    let box = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    unsafe box.initialize(to: from.assumingMemoryBound(to: Value.self).pointee)
    unsafe to.storeBytes(of: box, as: UnsafeMutablePointer<Value>.self)
  }

  @unsafe override func destroy(_ value: UnsafeMutableRawPointer) {
    let box = unsafe value.load(as: UnsafeMutablePointer<Value>.self)
    unsafe box.deinitialize(count: 1)
    unsafe box.deallocate()
  }
}
