// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// How to fill one member of a struct of callbacks.
internal struct CallbackMember {
  let method: ResolvedMethod
  let context: DynamicProxy.ContextPosition
  let failure: StoredValue?
  let offset: Int
  let isNullable: Bool
}

extension DynamicProxy {
  /// Makes a struct of zeros, or a copy of one, and stores the functions in it.
  ///
  /// - Throws: `ForwardingError`: `indexOutOfRange` for a member outside of the
  ///   struct, `unsupported` for a struct that is aligned to more than 16 bytes,
  ///   `typeMismatch` for an alignment that a store of one word cannot have,
  ///   `conflict` for members that overlap.
  @unsafe internal func callbackStruct(
    of size: Int, alignment: Int, copying preset: UnsafeRawPointer? = nil,
    _ members: [CallbackMember], owner: AnyObject
  ) throws(ForwardingError) -> UnsafeMutableRawPointer {
    try check(members, size)
    guard alignment <= 16 else {
      throw ForwardingError(
        .unsupported,
        "the struct of callbacks is aligned to \(alignment) bytes, expected at most 16")
    }
    var functions: [UnsafeRawPointer] = unsafe []
    for member in members {
      unsafe functions.append(
        try ownedFunctions.function(
          for: member.method, member.context, onFailure: member.failure, owner: owner))
    }
    let weakOwner = try WeakOwner(owner === self ? nil : owner)
    // Last, since it is never freed.
    guard let address = unsafe fwd_callback_struct_create(size) else {
      throw ForwardingError(.outOfMemory, "no memory for a struct of callbacks")
    }
    if let preset = unsafe preset { unsafe address.copyMemory(from: preset, byteCount: size) }
    var watched: [WatchedMember] = []
    for index in members.indices {
      let member = members[index]
      // SAFETY: the member lies within the struct, and is aligned.
      let place = unsafe WatchedMember(
        weakOwner, member.method, address + member.offset, functions[index])
      if member.isNullable { watched.append(place) } else { place.store(true) }
    }
    if !watched.isEmpty { try subscribers.watch(watched) }
    return unsafe address
  }

  private func check(_ members: [CallbackMember], _ size: Int) throws(ForwardingError) {
    let word = MemoryLayout<UInt>.size
    var ends: [(offset: Int, selector: MethodSelector)] = []
    for member in members {
      let selector = member.method.selector
      // As C gives it: not below zero.
      let offset = UInt(bitPattern: member.offset)
      let name = "the member for \"\(selector)\" at offset \(offset)"
      guard member.offset >= 0, member.offset <= size - word else {
        throw ForwardingError(
          .indexOutOfRange, selector: selector.name,
          "\(name) has \(word) bytes, but the struct has \(size)")
      }
      guard member.offset % word == 0 else {
        throw ForwardingError(
          .typeMismatch, selector: selector.name,
          "\(name): expected a multiple of \(word), since the library may read the member at any time"
        )
      }
      if let other = ends.first(where: { abs($0.offset - member.offset) < word }) {
        throw ForwardingError(
          .conflict, selector: selector.name,
          "\(name) overlaps the one for \"\(other.selector)\" at offset \(other.offset)")
      }
      ends.append((member.offset, selector))
    }
  }
}
