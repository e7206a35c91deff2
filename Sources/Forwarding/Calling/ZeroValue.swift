// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

/// The value of a Swift type that stands for C's zero: 0, false, nil, or a
/// struct of zeros. Nil if there is none, as of a class.
internal func zeroValue<Value>(of _: Value.Type) -> Value? {
  if Value.self == Void.self { return () as? Value }
  if let type = Value.self as? any ExpressibleByNilLiteral.Type {
    return type.init(nilLiteral: ()) as? Value
  }
  guard scalarKinds(of: Value.self) != nil || statedType(Value.self) != nil else {
    return (Value.self as? any RawRepresentable.Type).flatMap { zeroCase(of: $0) as? Value }
  }
  // A type with references has no zero, even if it states an encoding.
  guard _isPOD(Value.self) else { return nil }
  return unsafe withUnsafeTemporaryAllocation(
    byteCount: max(MemoryLayout<Value>.size, 1), alignment: MemoryLayout<Value>.alignment
  ) { memory in
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
    // SAFETY: all bytes of a number or a Bool may be zero, and those of a type
    // that states its encoding may be whatever C writes.
    return unsafe memory.baseAddress!.load(as: Value.self)
  }
}

private func zeroCase<Representable: RawRepresentable>(
  of _: Representable.Type
) -> Representable? {
  // No raw values of raw values: they might never end.
  if Representable.RawValue.self is any RawRepresentable.Type { return nil }
  return zeroValue(of: Representable.RawValue.self).flatMap(Representable.init(rawValue:))
}
