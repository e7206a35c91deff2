// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A function table joined to a proxy: what the shim calls for each method, by
/// the proxy's index of it. The shim's table and this object live and die
/// together: each subscription has a reference.
@safe internal final class DispatchTable: @unchecked Sendable {
  // Sendable: filled in `init`, and immutable from then on.

  /// The shim's table; valid as long as this object.
  internal let handle: OpaquePointer
  /// Names it: one object with tables of one key is one subscriber.
  internal let key: UnsafeRawPointer
  /// Whether an object may come with a table of this key again.
  internal let mayRepeat: Bool
  /// The methods that are implemented.
  internal let selectors: Set<MethodSelector>
  /// Kept, since its address is the key.
  private let table: FunctionTable
  /// What the shim calls, kept alive.
  private let functions: [PackedFunction]

  /// Joins a table to methods.
  ///
  /// - Parameters:
  ///   - key: what names the table instead of its own identity.
  ///   - isSingle: whether there will be one subscription with it only.
  /// - Throws: `ForwardingError` if the table has a fault, or a function has
  ///   other types than the method.
  internal init(
    _ table: FunctionTable, _ requirements: [ProtocolTable.Requirement],
    key: ObjectIdentifier?, isSingle: Bool
  ) throws(ForwardingError) {
    if let fault = table.fault { throw fault }
    var functions: [PackedFunction] = []
    var entries: [(index: Int, implementation: fwd_implementation)] = unsafe []
    var selectors: Set<MethodSelector> = []
    for (index, requirement) in requirements.enumerated() {
      guard let method = table.methods[requirement.selector] else { continue }
      let implementation = try method.bind(requirement.signature)
      unsafe entries.append((index, implementation.shim(&functions)))
      selectors.insert(requirement.selector)
    }
    let name = unsafe (key ?? ObjectIdentifier(table)).address
    // The owner is named below: there is no `self` yet.
    guard let handle = unsafe fwd_dispatch_table_create(requirements.count, name) else {
      throw ForwardingError(.outOfMemory, "no memory for a function table")
    }
    for unsafe(index, implementation) in unsafe entries {
      // SAFETY: the index is below the count, and nobody has the table yet.
      unsafe fwd_dispatch_table_entry(handle, index).pointee = implementation
    }
    unsafe self.handle = handle
    unsafe self.key = name
    self.mayRepeat = !isSingle || key != nil
    self.table = table
    self.functions = functions
    self.selectors = selectors
    // SAFETY: this object destroys the table.
    unsafe fwd_dispatch_table_adopt(handle, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    // SAFETY: references to the table are references to this object.
    unsafe fwd_dispatch_table_destroy(handle)
  }
}

extension FunctionTable.Implementation {
  /// The implementation as the shim takes it. Enters what is to be kept alive.
  fileprivate func shim(_ functions: inout [PackedFunction]) -> fwd_implementation {
    switch self {
    case .function(let function):
      // SAFETY: function pointers are of one kind; the shim calls it with the
      // types of the signature.
      return unsafe fwd_implementation(
        function: unsafeBitCast(function.pointer, to: (@convention(c) () -> Void).self),
        packed: nil, context: nil, closure: nil)
    case .shim(let function):
      return unsafe fwd_implementation(
        function: nil, packed: function.function, context: function.context,
        closure: nil)
    case .thunk(let function, let packed):
      // SAFETY: as above; whoever wrote the thunk knows that it gets a context.
      return unsafe fwd_implementation(
        function: unsafeBitCast(function.pointer, to: (@convention(c) () -> Void).self),
        packed: packed.function, context: packed.context, closure: nil)
    case .packed(let function):
      functions.append(function)
      return unsafe function.implementation
    }
  }
}

extension PackedFunction {
  /// The implementation as the shim takes it. It points to this object.
  internal var implementation: fwd_implementation {
    unsafe fwd_implementation(
      function: nil, packed: callPacked,
      context: UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()),
      closure: called?.closure)
  }
}

/// Calls a packed function for the shim, which finds a failure in the thread's
/// last error.
private let callPacked: fwd_packed_function = { context, receiver, arguments, result, error in
  // SAFETY: the context is a packed function that the dispatch table keeps
  // alive, and the pointers are what it expects.
  unsafe Unmanaged<PackedFunction>.fromOpaque(context!)._withUnsafeGuaranteedRef { function in
    do throws(ForwardingError) {
      try unsafe function.call(receiver, arguments, result)
      return FWD_OK
    } catch let failure {
      return unsafe fail(error, FWD_DELIVERY_FAILED, failure.description)
    }
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
