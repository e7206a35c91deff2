// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding

/// A function table joined to a proxy: what the shim calls for each method, by
/// the proxy's index of it.
@safe internal final class DispatchTable: @unchecked Sendable {
  // Sendable: filled in `init`, immutable from then on, and counted by atomics.

  private let handle: OpaquePointer
  /// Kept, since its address names it among a proxy's members.
  private let table: FunctionTable
  /// The methods that are implemented.
  internal let selectors: Set<MethodSelector>

  /// What a joined table keeps alive: the closures that the shim calls.
  private final class Contents {
    var functions: [PackedFunction] = []
  }

  /// Joins a table to methods.
  ///
  /// - Throws: `ForwardingError` if the table has a fault, or a function has
  ///   other types than the method.
  internal init(
    _ table: FunctionTable, _ requirements: [ProtocolTable.Requirement]
  ) throws(ForwardingError) {
    if let fault = table.fault { throw ForwardingError(fault) }
    let contents = Contents()
    var entries: [(index: Int, implementation: fwd_implementation)] = unsafe []
    var selectors: Set<MethodSelector> = []
    for (index, requirement) in requirements.enumerated() {
      guard let method = table.methods[requirement.selector] else { continue }
      do throws(TableError) {
        let implementation = try method.bind(requirement.signature)
        unsafe entries.append((index, implementation.shim(keptBy: contents)))
      } catch {
        throw ForwardingError(error)
      }
      selectors.insert(requirement.selector)
    }
    let owner = unsafe Unmanaged.passRetained(contents)
    let handle = unsafe fwd_dispatch_table_create(requirements.count, owner.toOpaque()) { owner in
      // SAFETY: the reference that was made above is given up once.
      unsafe Unmanaged<Contents>.fromOpaque(owner!).release()
    }
    guard let handle = unsafe handle else {
      unsafe owner.release()
      throw ForwardingError(.outOfMemory, "no memory for a function table")
    }
    for unsafe(index, implementation) in unsafe entries {
      // SAFETY: the index is below the count, and nobody has the table yet.
      unsafe fwd_dispatch_table_entry(handle, index).pointee = implementation
    }
    unsafe self.handle = handle
    self.table = table
    self.selectors = selectors
  }

  deinit {
    unsafe fwd_dispatch_table_release(handle)
  }

  /// A reference of one's own to the shim's table.
  internal func retainedHandle() -> OpaquePointer {
    unsafe fwd_dispatch_table_retain(handle)
  }

  fileprivate static func keep(_ function: PackedFunction, _ contents: AnyObject) {
    (contents as? Contents)?.functions.append(function)
  }
}

extension FunctionTable.Implementation {
  /// The implementation as the shim takes it.
  fileprivate func shim(keptBy contents: AnyObject) -> fwd_implementation {
    switch self {
    case .function(let function):
      // SAFETY: function pointers are of one kind; the shim calls it with the
      // types of the signature.
      return unsafe fwd_implementation(
        function: unsafeBitCast(function.pointer, to: (@convention(c) () -> Void).self),
        packed: nil, context: nil)
    case .shim(let function):
      return unsafe fwd_implementation(
        function: nil, packed: function.function, context: function.context)
    case .packed(let function):
      DispatchTable.keep(function, contents)
      return unsafe fwd_implementation(
        function: nil, packed: callPacked,
        context: UnsafeRawPointer(Unmanaged.passUnretained(function).toOpaque()))
    }
  }
}

/// Calls a packed function for the shim.
private let callPacked: fwd_packed_function = { context, receiver, arguments, result, error in
  // SAFETY: the context is a packed function that the dispatch table keeps
  // alive, and the pointers are what it expects.
  let function = unsafe Unmanaged<PackedFunction>.fromOpaque(context!).takeUnretainedValue()
  do throws(InvocationError) {
    try unsafe function.call(receiver, arguments, result)
    return FWD_OK
  } catch let failure {
    unsafe error.pointee.fill(FWD_DELIVERY_FAILED, failure.description)
    return FWD_DELIVERY_FAILED
  }
}

extension fwd_error {
  /// Puts a status and a message in.
  internal mutating func fill(_ status: fwd_status, _ text: String) {
    self.status = status
    offset = 0
    unsafe withUnsafeMutableBytes(of: &message) { bytes in
      unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0)
      // Cut between characters, with room for the NUL.
      var length = 0
      for character in text {
        let next = length + character.utf8.count
        if next >= bytes.count { break }
        for (index, byte) in character.utf8.enumerated() { unsafe bytes[length + index] = byte }
        length = next
      }
    }
  }
}
