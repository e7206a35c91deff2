// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// What a typed send needs of a method whose arguments are all numbers: then
/// the check of their types is a comparison each, and they are written to a
/// frame on the stack. Compiled into the caller, where their types are known.
@usableFromInline
@safe internal struct SendTarget {
  private let core: OpaquePointer
  // Untyped, since clients do not see the shim's internal types: a field of such a
  // type would have no size in the client's view of this struct.
  private let entryAddress: UnsafeRawPointer
  @usableFromInline internal let slots: UnsafePointer<SendSlot>
  @usableFromInline internal let count: Int
  @usableFromInline internal let result: TypeEncoding.Kind

  fileprivate init(
    _ core: ProxyCore, _ entry: UnsafePointer<fwd_proxy_method>, _ shape: SendShape
  ) {
    unsafe self.core = core.handle
    unsafe entryAddress = UnsafeRawPointer(entry)
    unsafe slots = shape.slots
    count = shape.count
    result = shape.result
  }

  private var entry: UnsafePointer<fwd_proxy_method> {
    // SAFETY: the address was that of an entry.
    unsafe entryAddress.assumingMemoryBound(to: fwd_proxy_method.self)
  }

  /// Whether the arguments are of these types.
  @inlinable
  internal func takes<each Argument>(_: repeat (each Argument).Type) -> Bool {
    var index = 0
    repeat take((each Argument).self, at: &index)
    return index == count
  }

  /// Goes on to the next argument, or to one beyond all if it has another type.
  @inlinable
  internal func take<Value>(_: Value.Type, at index: inout Int) {
    guard index < count, let kinds = scalarKinds(of: Value.self) else {
      index = count + 1
      return
    }
    // SAFETY: there are `count` slots.
    let kind = unsafe slots[index].kind
    index = kind == kinds.0 || kind == kinds.1 ? index + 1 : count + 1
  }

  /// Writes an argument to its place.
  @inlinable
  @unsafe internal func write<Value>(
    _ value: Value, to frame: UnsafeMutableRawPointer, at index: inout Int
  ) {
    // SAFETY: `takes` has found that the slot is of the value's type.
    unsafe (frame + Int(slots[index].offset)).initializeMemory(as: Value.self, to: value)
    index += 1
  }

  /// Forwards a frame. False if that failed: the error is the thread's last.
  @usableFromInline
  @unsafe internal func forward(
    _ frame: UnsafeRawPointer, _ result: UnsafeMutableRawPointer?
  ) -> Bool {
    var delivery = unsafe fwd_delivery()
    unsafe delivery.frame = frame
    unsafe delivery.result = result
    return unsafe withUnsafePointer(to: delivery) {
      unsafe fwd_fan_out(core, entry, $0, nil) == FWD_OK
    }
  }
}

/// One argument in the frame.
@usableFromInline
internal struct SendSlot {
  @usableFromInline internal let kind: TypeEncoding.Kind
  @usableFromInline internal let offset: UInt32
}

extension DynamicProxy {
  /// What a typed send needs of a method; nil if it has to go another way.
  @usableFromInline
  internal func sendTarget(_ selector: MethodSelector) -> SendTarget? {
    guard let entry = unsafe core.method(selector) else { return nil }
    let shape = unsafe core.shapes[fwd_proxy_method_index(entry)]
    return unsafe shape.count < 0 ? nil : SendTarget(core, entry, shape)
  }
}

// MARK: - Shapes

/// The arguments of a method, for the life of its proxy.
@safe internal struct SendShape {
  /// -1 if a typed send has to go another way.
  internal let count: Int
  internal let result: TypeEncoding.Kind
  internal let slots: UnsafePointer<SendSlot>
}

extension SendShape {
  /// Makes the shapes of some methods, and their slots in the same order. Both
  /// are the caller's to deallocate.
  @unsafe internal static func make(
    _ requirements: [ProtocolTable.Requirement]
  ) -> (shapes: UnsafeMutablePointer<SendShape>, slots: UnsafeMutablePointer<SendSlot>) {
    let total = requirements.reduce(0) { $0 + $1.signature.arguments.count }
    let slots = UnsafeMutablePointer<SendSlot>.allocate(capacity: max(total, 1))
    let shapes = UnsafeMutablePointer<SendShape>.allocate(capacity: max(requirements.count, 1))
    var next = unsafe slots
    for (index, requirement) in requirements.enumerated() {
      let signature = requirement.signature
      let first = unsafe next
      for argument in signature.arguments.dropFirst(signature.firstArgumentIndex) {
        unsafe next.initialize(
          to: SendSlot(
            kind: argument.encoding.kind, offset: UInt32(argument.frameOffset ?? 0)))
        unsafe next += 1
      }
      let isQuick =
        signature.frameSize <= MemoryLayout<SendFrame>.size
        && signature.frameAlignment <= MemoryLayout<SendFrame>.alignment
      unsafe (shapes + index).initialize(
        to: SendShape(
          count: isQuick ? next - first : -1, result: signature.result.kind, slots: first))
    }
    return unsafe (shapes, slots)
  }
}
