// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A function table joined to the methods of a plan: the function of each method, and
/// the methods that either side lacks. Proxies that share the plan share it.
@safe internal final class JoinedTable: @unchecked Sendable {
  // Sendable: filled in `init`, and immutable from then on.

  /// The number of methods of the plan.
  internal let methodCount: Int
  /// The functions, with the plan's index of each method.
  internal let implementations: [(index: Int, implementation: fwd_implementation)]
  /// Names the function table. While this object lives, no other table has the
  /// address.
  internal let identity: FunctionTable.Identity
  /// The functions that the plan does not declare.
  private let unknown: Unknown
  private let conformance: [Conformance]
  /// Keeps the functions alive that the shim calls.
  private let functions: [any AnyObject & Sendable]

  private enum Unknown {
    case none
    /// The table has no function.
    case all
    /// A table is not in order, so the first one by name is named.
    case some(first: String, others: Int)
  }

  /// How a table conforms to one protocol.
  private struct Conformance {
    /// The error that names a missing method; nil if none is missing.
    let fault: ForwardingError?
    /// Whether it implements some method of the protocol.
    let isPartial: Bool
  }

  /// Joins a table.
  ///
  /// - Parameters:
  ///   - protocols: those that it should conform to.
  ///   - dropsResults: whether the functions give no results: they are those of
  ///     methods with the same parameters and without a result.
  /// - Throws: `ForwardingError` if the table has a fault, or a function has
  ///   other types than the method.
  internal init(
    _ table: FunctionTable, _ plan: ProxyPlan, conformingTo protocols: [ProtocolTable] = [],
    dropsResults: Bool = false
  ) throws(ForwardingError) {
    if let fault = table.fault { throw fault }
    var functions: [any AnyObject & Sendable] = []
    var implementations: [(index: Int, implementation: fwd_implementation)] = unsafe []
    for (index, requirement) in plan.requirements.enumerated() {
      guard let method = table.methods[requirement.selector] else { continue }
      let signature = requirement.signature
      let implementation = try method.bind(dropsResults ? signature.withoutResult() : signature)
      unsafe implementations.append((index, implementation.shim(&functions)))
    }
    methodCount = plan.requirements.count
    unsafe self.implementations = implementations
    identity = table.identity
    self.functions = functions
    unknown = unsafe Self.unknown(table, plan, implementations.count)
    var conformance: [Conformance] = []
    for adopted in protocols {
      conformance.append(
        try Self.conformance(table, protocols.count == 1 ? plan.requirements : nil, adopted))
    }
    self.conformance = conformance
  }

  private static func unknown(
    _ table: FunctionTable, _ plan: ProxyPlan, _ declared: Int
  ) -> Unknown {
    if table.methods.isEmpty { return .all }
    if declared == table.methods.count { return .none }
    let known = Set(plan.selectors)
    let unknown = table.methods.keys.filter { !known.contains($0) }.map(\.name)
    return .some(first: unknown.min() ?? "", others: unknown.count - 1)
  }

  private static func conformance(
    _ table: FunctionTable, _ methods: [ProtocolTable.Requirement]?, _ adopted: ProtocolTable
  ) throws(ForwardingError) -> Conformance {
    guard let methods else {
      return try conformance(table, ProtocolTable.merge([adopted]), adopted)
    }
    let missing = methods.first { $0.isRequired && table.methods[$0.selector] == nil }
    guard let missing else { return Conformance(fault: nil, isPartial: false) }
    return Conformance(
      fault: .missing(missing.selector, of: adopted),
      isPartial: methods.contains { table.methods[$0.selector] != nil })
  }
}

// MARK: - Judging

extension JoinedTable {
  /// Checks that a proxy declares every function, and that there is one, unless
  /// its configuration allows others.
  ///
  /// - Throws: `ForwardingError` with the code `unknownSelector` or `emptyTable`.
  internal func checkDeclared(by proxy: DynamicProxy) throws(ForwardingError) {
    switch unknown {
    case .none: return
    case .all where proxy.configuration.unknownFunctions == .fail:
      throw ForwardingError(
        .emptyTable, "the function table has no functions, so the subscriber would never be called")
    case .some(let first, let others) where proxy.configuration.unknownFunctions == .fail:
      throw proxy.unknown(first, others: others)
    case .all, .some: return
    }
  }

  /// Checks that what is required is there.
  ///
  /// - Throws: `ForwardingError` with the code `missingMethod`.
  internal func checkConformance(
    _ rule: DynamicProxy.Configuration.Conformance
  ) throws(ForwardingError) {
    var firstFault: ForwardingError?
    var conformsToSome = conformance.isEmpty
    for each in conformance {
      guard let fault = each.fault else {
        conformsToSome = true
        continue
      }
      firstFault = firstFault ?? fault
      switch rule {
      case .all: throw fault
      case .implemented where each.isPartial: throw fault
      case .implemented, .any, .lenient: continue
      }
    }
    if let firstFault, !conformsToSome, rule != .lenient { throw firstFault }
  }
}

// MARK: - What the shim calls

extension FunctionTable.Implementation {
  /// The implementation as the shim takes it. Enters what is to be kept alive.
  fileprivate func shim(_ functions: inout [any AnyObject & Sendable]) -> fwd_implementation {
    switch self {
    case .function(let function):
      // SAFETY: function pointers are of one kind; the shim calls it with the
      // types of the signature.
      return unsafe fwd_implementation(
        function: unsafeBitCast(function.pointer, to: (@convention(c) () -> Void).self),
        packed: nil, context: nil, closure: nil)
    case .shim(let function):
      return unsafe function.implementation
    case .handler(let function):
      functions.append(function)
      return unsafe function.shim.implementation
    case .thunk(let function, let packed):
      // SAFETY: as above; a thunk takes a context.
      return unsafe fwd_implementation(
        function: unsafeBitCast(function.pointer, to: (@convention(c) () -> Void).self),
        packed: packed.function, context: packed.context, closure: nil)
    case .packed(let function):
      functions.append(function)
      return unsafe function.implementation
    }
  }
}

extension ShimFunction {
  /// The implementation as the shim takes it.
  fileprivate var implementation: fwd_implementation {
    unsafe fwd_implementation(function: nil, packed: function, context: context, closure: nil)
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
      return unsafe failDelivery(error, failure)
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
