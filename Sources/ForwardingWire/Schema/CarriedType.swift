// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

// Which types can be carried by their bytes.
extension TypeEncoding {
  /// Why the bytes of a value mean nothing to another process; nil if they can be
  /// carried.
  internal var obstacle: String? {
    switch kind {
    case .object: "an object belongs to this process"
    case .block: "a block belongs to this process"
    case .classReference: "a class belongs to this process"
    case .selector: "a selector belongs to this process"
    case .cString, .pointer:
      isFunction ? "a function belongs to this process" : "a pointer in it has no rule"
    case .longDouble: "long double has another form on other processors"
    case .unknown, .function, .void: "its form is unknown"
    case .structure where isOpaque, .union where isOpaque:
      "its members are not in the encoding"
    case .structure, .union: fields.lazy.compactMap(\.obstacle).first
    case .array, .complex: element.flatMap(\.obstacle)
    default: nil
    }
  }

  /// Whether the type is a C function pointer.
  internal var isFunction: Bool { kind == .pointer && pointee?.kind == .unknown }

  /// The bytes of a value that are data and not padding; the whole value if they
  /// are not known.
  internal func dataRanges(stated: [StatedLayout]) -> [Range<Int>] {
    guard let size = try? layout().size else { return [] }
    guard kind == .structure, !stated.contains(where: { $0.name == name }) else {
      return [0..<size]
    }
    var ranges: [Range<Int>] = []
    for field in fields {
      // Bit-fields have no layout of their own.
      guard let layout = try? field.layout() else { return [0..<size] }
      for range in field.dataRanges(stated: stated) {
        let start = range.lowerBound + layout.offset
        let end = range.upperBound + layout.offset
        if let last = ranges.last, last.upperBound == start {
          ranges[ranges.count - 1] = last.lowerBound..<end
        } else {
          ranges.append(start..<end)
        }
      }
    }
    return ranges
  }
}

/// The type of an integer argument that counts elements.
internal enum CountType: UInt8 {
  case int8, uint8, int16, uint16, int32, uint32, int64, uint64

  /// Nil if the type is no integer of at most 64 bits.
  internal init?(_ kind: TypeEncoding.Kind) {
    switch kind {
    case .char: self = .int8
    case .unsignedChar: self = .uint8
    case .short: self = .int16
    case .unsignedShort: self = .uint16
    case .int, .long: self = .int32
    case .unsignedInt, .unsignedLong: self = .uint32
    case .longLong: self = .int64
    case .unsignedLongLong: self = .uint64
    default: return nil
    }
  }

  /// Reads a count. Nil if it is negative or too large for any buffer.
  @inline(__always)
  @unsafe internal func load(_ place: UnsafeRawPointer) -> Int? {
    // SAFETY: the argument has this type.
    switch self {
    case .int8: Self.clamp(Int64(unsafe place.loadUnaligned(as: Int8.self)))
    case .uint8: Int(unsafe place.loadUnaligned(as: UInt8.self))
    case .int16: Self.clamp(Int64(unsafe place.loadUnaligned(as: Int16.self)))
    case .uint16: Int(unsafe place.loadUnaligned(as: UInt16.self))
    case .int32: Self.clamp(Int64(unsafe place.loadUnaligned(as: Int32.self)))
    case .uint32: Self.clamp(Int64(unsafe place.loadUnaligned(as: UInt32.self)))
    case .int64: Self.clamp(unsafe place.loadUnaligned(as: Int64.self))
    case .uint64: Self.clamp(Int64(clamping: unsafe place.loadUnaligned(as: UInt64.self)))
    }
  }

  /// A count above the largest heap fits no buffer. So its product with the size of
  /// an element cannot overflow, since sizes are below 2^32.
  private static func clamp(_ count: Int64) -> Int? {
    count < 0 || count > WireLimits.heapSize ? nil : Int(count)
  }
}
