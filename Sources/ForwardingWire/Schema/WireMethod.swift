// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding

/// Where the arguments of one method stand in a record.
///
/// Made from a method that this process declares, never from recorded bytes.
@safe internal final class WireMethod: @unchecked Sendable {
  // Sendable: filled in `init`, and immutable from then on.

  internal let selector: MethodSelector
  internal let name: String
  internal let signature: MethodSignature
  /// The offset of the heap in the record.
  internal let heapStart: Int
  /// The signature's frame size, which would be loaded through two references.
  internal let frameSize: Int

  /// Bytes that are copied from an argument to the frame.
  internal struct Piece {
    /// The index of the argument behind the receiver and the selector.
    var argument: Int
    var source: Int
    /// The offset in the record.
    var place: Int
    var size: Int
  }

  /// The room that an encoder takes from the stack. Longer records are made in allocated
  /// memory.
  @inline(__always)
  internal static var stackRoom: Int { 1024 }

  internal let pieces: UnsafeMutablePointer<Piece>
  internal let pieceCount: Int
  /// Whether the frame has bytes that no argument fills.
  internal let hasPadding: Bool
  /// Whether the frame consists of words and half words of arguments, and of pointers' slots.
  internal let hasPlainFrame: Bool
  /// Whether a record of the method is a header and a plain frame, and not a long one.
  internal let isPlain: Bool

  /// A pointer argument, whose slot in the frame has the offset and the size of its
  /// copy in the heap.
  internal struct Pointer {
    enum Rule: UInt8 {
      case cString = 1
      case counted, fixed, codable
    }

    /// The index of the argument behind the receiver and the selector.
    var argument: Int
    /// The offset of the slot in the record.
    var place: Int
    var rule: Rule
    /// The size of an element; of the whole buffer for `fixed`.
    var size: Int
    /// The padding at the end of an element. A Swift struct ends before it, so it is
    /// not read behind the last element.
    var tail = 0
    var countType: CountType
    /// The index of the argument that counts, and its offset in the record.
    var countArgument: Int
    var countPlace: Int
  }

  internal let pointers: UnsafeMutablePointer<Pointer>
  internal let pointerCount: Int
  /// One for each pointer; nil for those with other rules. Empty if there is none.
  internal let codedTypes: [(any CodedType)?]

  /// The method's part of the schema record.
  internal let entry: [UInt8]

  internal init(
    _ selector: MethodSelector, _ signature: MethodSignature, pieces: [Piece],
    pointers: [Pointer], codedTypes: [(any CodedType)?], entry: [UInt8]
  ) {
    self.selector = selector
    self.signature = signature
    self.entry = entry
    name = selector.name
    frameSize = signature.frameSize
    heapStart = (RecordHeader.size + signature.frameSize + 7) & ~7
    let filled = pieces.reduce(pointers.count * 8) { $0 + $1.size }
    hasPadding = RecordHeader.size + filled != heapStart
    hasPlainFrame = !hasPadding && pieces.allSatisfy { $0.size == 8 || $0.size == 4 }
    isPlain = hasPlainFrame && pointers.isEmpty && heapStart <= Self.stackRoom
    pieceCount = pieces.count
    pointerCount = pointers.count
    self.codedTypes = codedTypes.contains { $0 != nil } ? codedTypes : []
    // SAFETY: each has room for its elements, and is freed in `deinit`.
    unsafe self.pieces = .allocate(capacity: max(pieces.count, 1))
    unsafe self.pointers = .allocate(capacity: max(pointers.count, 1))
    for (index, piece) in pieces.enumerated() { unsafe (self.pieces + index).initialize(to: piece) }
    for (index, pointer) in pointers.enumerated() {
      unsafe (self.pointers + index).initialize(to: pointer)
    }
  }

  deinit {
    // SAFETY: allocated in `init`, freed once. The elements own nothing.
    unsafe pieces.deallocate()
    unsafe pointers.deallocate()
  }

  /// An argument for errors: `argument 0 ("^v") of "write:count:"`.
  internal func place(_ argument: Int) -> String {
    let type = signature.arguments[signature.firstArgumentIndex + argument].encoding
    return "argument \(argument) (\"\(type)\") of \"\(name)\""
  }

  /// The argument of a pointer, for errors.
  internal func place(ofPointer index: Int) -> String {
    // SAFETY: the index is below the count.
    place(unsafe pointers[index].argument)
  }
}
