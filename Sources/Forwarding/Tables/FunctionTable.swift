// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// What a type of subscribers implements: a function for each of some
/// selectors.
///
/// A function is a Swift closure, whose types are checked against the protocol,
/// or a C function pointer with the encoding that it was written for:
///
/// ```swift
/// final class LargestFiles: Subscriber {
///   static let functionTable = FunctionTable(for: LargestFiles.self) {
///     $0.on("visit:kind:") { (self: LargestFiles, path: UnsafePointer<CChar>, kind: Int32) -> Int32 in
///       self.visit(path, kind)
///     }
///   }
/// }
/// ```
///
/// Mistakes in a table are kept and reported where it is first used: by
/// `validate(for:)`, or when a subscriber with it is refused.
///
/// A proxy refuses a table with a function that none of its protocols declares,
/// since that is most often a misspelt selector. A table that serves several
/// proxies, such as the one of a ``Subscriber`` class, has functions that each
/// proxy declares in part: set `undeclaredFunctions` of these proxies'
/// configurations to `.ignore`.
///
/// A table is immutable and may be shared between threads.
public final class FunctionTable: Sendable {
  /// One method, and how it is joined to a signature.
  internal struct Method: Sendable {
    let selector: MethodSelector
    /// Makes what the shim calls for a method of this signature.
    let bind: @Sendable (MethodSignature) throws(TableError) -> Implementation
  }

  /// A method joined to a signature.
  internal enum Implementation: Sendable {
    /// A C function of that signature.
    case function(FunctionAddress)
    /// A closure that takes the arguments behind pointers.
    case packed(PackedFunction)
    /// A function of the shim that takes the arguments behind pointers, with
    /// its context.
    case shim(ShimFunction)
    /// The same, and a C function of that signature for void methods, which gets
    /// the context behind the arguments.
    case thunk(FunctionAddress, ShimFunction)
  }

  internal let methods: [MethodSelector: Method]

  /// The selectors that the table implements, in no order.
  public var selectors: [MethodSelector] { Array(methods.keys) }

  /// What was wrong with the table when it was made.
  internal let fault: TableError?

  /// Whether an object is one that the functions take as their receiver: typed
  /// closures do not ask again.
  private let accepts: @Sendable (AnyObject) -> Bool
  private let owner: Any.Type

  internal init(
    methods: [Method], fault: TableError?, owner: Any.Type = Void.self,
    accepts: @escaping @Sendable (AnyObject) -> Bool = { _ in true }
  ) {
    self.owner = owner
    self.accepts = accepts
    var fault = fault
    var bySelector: [MethodSelector: Method] = [:]
    for method in methods where bySelector.updateValue(method, forKey: method.selector) != nil {
      fault =
        fault
        ?? TableError(
          .duplicate, selector: method.selector.name,
          "the function table implements \"\(method.selector)\" twice")
    }
    self.methods = bySelector
    self.fault = fault
  }

  /// Makes a table for subscribers of a class.
  public convenience init<Owner: AnyObject>(
    for owner: Owner.Type, _ build: (inout Builder<Owner>) -> Void
  ) {
    var builder = Builder<Owner>()
    build(&builder)
    self.init(
      methods: builder.methods, fault: builder.fault, owner: owner, accepts: { $0 is Owner })
  }

  /// Checks that an object is one that the table is for.
  internal func check(_ object: AnyObject) throws(ForwardingError) {
    if accepts(object) { return }
    throw ForwardingError(
      .typeMismatch,
      "the function table is for objects of class \(owner), got one of class \(type(of: object))")
  }

  /// Checks that the functions have the types that a protocol declares, and
  /// that none that it requires is missing. A proxy does the same at
  /// subscription; this is for tests and for start-up.
  ///
  /// - Throws: `TableError`, for the first method that does not fit, both types
  ///   shown.
  public func validate(for table: ProtocolTable) throws(TableError) {
    if let fault { throw fault }
    for requirement in try ProtocolTable.merge([table]) {
      if let method = methods[requirement.selector] {
        _ = try method.bind(requirement.signature)
      } else if requirement.isRequired {
        throw .missing(requirement.selector, of: table)
      }
    }
  }
}

extension TableError {
  internal static func missing(_ selector: MethodSelector, of table: ProtocolTable) -> TableError {
    TableError(
      .missingMethod, table: table.name, selector: selector.name,
      "the function table lacks \"\(selector)\", which protocol \"\(table.name)\" requires")
  }
}

// MARK: - Building

extension FunctionTable {
  /// Takes the functions of a table. `Owner` is the class of the subscribers,
  /// or `Void` where functions have no receiver.
  public struct Builder<Owner> {
    internal private(set) var methods: [Method] = []
    internal private(set) var fault: TableError?

    internal init() {}

    /// Adds a method unless its name cannot be one; the first fault is kept.
    internal mutating func add(
      _ selector: String,
      _ bind:
        @escaping @Sendable (MethodSelector, MethodSignature) throws(TableError) ->
        Implementation
    ) {
      do throws(InvocationError) {
        let selector = try MethodSelector(validating: selector)
        methods.append(
          Method(selector: selector) { signature throws(TableError) in
            try bind(selector, signature)
          })
      } catch {
        keep(TableError(.invalidName, selector: selector, error.description))
      }
    }

    internal mutating func keep(_ fault: TableError) {
      self.fault = self.fault ?? fault
    }
  }
}

// MARK: - C functions

/// The address of a C function.
@safe internal struct FunctionAddress: @unchecked Sendable {
  // Sendable: code does not change.
  internal let pointer: UnsafeRawPointer
}

/// A function of the shim, and what it gets as its context, which whoever made
/// it keeps alive.
@safe internal struct ShimFunction: @unchecked Sendable {
  // Sendable: the shim's functions may be called on any thread, with contexts
  // that do not change.
  internal let function: fwd_packed_function
  internal let context: UnsafeRawPointer?
}

extension FunctionTable.Builder {
  /// Adds a C function, which gets the receiver, then the selector if the
  /// encoding has `:` there, then the arguments.
  ///
  /// The caller promises that the function has these types and may be called on
  /// any thread; neither can be checked. That the encoding fits the protocol's
  /// is checked.
  ///
  /// - Parameters:
  ///   - selector: the method's name.
  ///   - encoding: the types that the function was written for.
  ///   - function: the address, such as that of a `@convention(c)` function.
  @unsafe public mutating func function(
    _ selector: String, _ encoding: String, _ function: UnsafeRawPointer?
  ) {
    guard let function = unsafe function else {
      keep(
        TableError(
          .nullPointer, selector: selector, "the function for \"\(selector)\" is a null pointer"))
      return
    }
    let own: MethodSignature
    do throws(EncodingError) {
      own = try MethodSignature(encoding)
    } catch {
      keep(
        TableError(
          .invalidEncoding, selector: selector, "the function for \"\(selector)\": \(error)",
          encodingError: error))
      return
    }
    let code = unsafe FunctionAddress(pointer: function)
    add(selector) { selector, signature throws(TableError) in
      guard own.isCompatible(with: signature) else {
        throw TableError(
          .signatureMismatch, selector: selector.name,
          """
          the function for "\(selector)" is "\(own)", but the protocol declares "\(signature)"
          """)
      }
      return .function(code)
    }
  }

  /// Adds a C function by value: any `@convention(c)` function or closure.
  ///
  /// - Parameters:
  ///   - selector: the method's name.
  ///   - encoding: the types that the function was written for.
  ///   - function: the function, such as `{ receiver, path in ... } as
  ///     @convention(c) (…) -> …`.
  @unsafe public mutating func function<CFunctionType>(
    _ selector: String, _ encoding: String, calling function: CFunctionType
  ) {
    guard MemoryLayout<CFunctionType>.size == MemoryLayout<UInt>.size else {
      keep(
        TableError(
          .signatureMismatch, selector: selector,
          "the function for \"\(selector)\" is \(CFunctionType.self), expected a @convention(c) function"
        ))
      return
    }
    // SAFETY: a C function's value is its address; the caller promises that it
    // is one.
    unsafe self.function(selector, encoding, unsafeBitCast(function, to: UnsafeRawPointer?.self))
  }
}
