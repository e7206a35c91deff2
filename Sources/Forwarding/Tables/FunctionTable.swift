// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The methods that a type of subscribers implements: functions by selector.
///
/// A function is a Swift closure, whose types are checked against the protocol,
/// or a C function pointer with its encoding:
///
/// ```swift
/// final class LargestFiles: DynamicProxy.Subscriber {
///   static let functionTable = FunctionTable(for: LargestFiles.self) {
///     $0.on("visit:kind:") { (self: LargestFiles, path: UnsafePointer<CChar>, kind: Int32) -> Int32 in
///       self.visit(path, kind)
///     }
///   }
/// }
/// ```
///
/// Creating a table does not throw. A mistake in a table is reported when the
/// table is used: subscribing throws an error.
///
/// A proxy refuses a table with a function that none of its protocols declares,
/// since that is most often a misspelt selector. A table for several proxies,
/// such as the one of a ``DynamicProxy/Subscriber`` class, may have functions that a proxy
/// does not declare. To allow this, set `unknownFunctions` of the proxy's
/// configuration to `.ignore`.
///
/// A table is immutable and may be shared between threads.
public final class FunctionTable: Sendable {
  /// Names a table by its address.
  internal final class Identity: Sendable {}

  /// One method of a table, before its signature is known.
  internal struct Method: Sendable {
    let selector: MethodSelector
    /// Checks the function against the signature that a protocol declares, and
    /// returns what the C target calls.
    let bind: @Sendable (MethodSignature) throws(ForwardingError) -> Implementation
  }

  /// A function that has been checked against a signature.
  internal enum Implementation: Sendable {
    /// A C function of that signature.
    case function(FunctionAddress)
    /// A closure that gets pointers to the arguments.
    case packed(PackedFunction)
    /// A C function that gets pointers to the arguments, and its context.
    case shim(ShimFunction)
    /// A handler of a C program.
    case handler(HandlerFunction)
    /// A thunk: a C function for void methods that gets the context behind the
    /// arguments of the signature, and a function as of `shim` for all other
    /// callers.
    case thunk(FunctionAddress, ShimFunction)
  }

  internal let methods: [MethodSelector: Method]

  /// Identifies this table, also after its death.
  internal let identity = Identity()
  /// A cache of the tables that proxies have made of this one; see `FunctionTable.joins`.
  internal let derived = LateObject<AnyObject & Sendable>()

  /// The first mistake in the table; nil if there is none.
  internal let fault: ForwardingError?

  /// Whether an object has the class that the functions take as their receiver.
  /// It is checked at subscription, since typed closures do not check it.
  private let accepts: @Sendable (AnyObject) -> Bool
  internal let owner: Any.Type

  internal init(
    methods: [Method], fault: ForwardingError?, owner: Any.Type = Void.self,
    accepts: @escaping @Sendable (AnyObject) -> Bool = { _ in true }
  ) {
    self.owner = owner
    self.accepts = accepts
    var fault = fault
    var bySelector: [MethodSelector: Method] = [:]
    for method in methods where bySelector.updateValue(method, forKey: method.selector) != nil {
      fault =
        fault
        ?? ForwardingError(
          .duplicate, selector: method.selector.name,
          "the function table implements \"\(method.selector)\" twice")
    }
    self.methods = bySelector
    self.fault = fault
  }

  /// Creates a table for subscribers of a class.
  public convenience init<Owner: AnyObject>(
    for owner: Owner.Type, _ build: (inout Builder<Owner>) -> Void
  ) {
    var builder = Builder<Owner>()
    build(&builder)
    self.init(
      methods: builder.methods, fault: builder.fault, owner: owner, accepts: { $0 is Owner })
  }

  /// Whether an object's class is exactly the class of the table. Most are, and this
  /// takes less time than `accepts`, which casts.
  internal func isForExactClass(of object: AnyObject) -> Bool {
    ObjectIdentifier(type(of: object)) == ObjectIdentifier(owner)
  }

  /// Checks that an object has the class that the table is for.
  internal func check(_ object: AnyObject) throws(ForwardingError) {
    if isForExactClass(of: object) || accepts(object) { return }
    throw ForwardingError(
      .typeMismatch,
      "the function table is for objects of class \(owner), got one of class \(type(of: object))")
  }
}

extension ForwardingError {
  internal static func missing(_ selector: MethodSelector, of table: ProtocolTable)
    -> ForwardingError
  {
    let requirer = table.isAnonymous ? "the proxy" : "protocol \"\(table.name)\""
    return ForwardingError(
      .missingMethod, table: table.name, selector: selector.name,
      "the function table lacks \"\(selector)\", which \(requirer) requires")
  }
}

// MARK: - Building

extension FunctionTable {
  /// Collects the functions of a table. `Owner` is the class of the
  /// subscribers, or `Void` if the functions have no receiver.
  public struct Builder<Owner> {
    internal private(set) var methods: [Method] = []
    internal private(set) var fault: ForwardingError?

    internal init() {}

    /// Adds a method. If the name is invalid, keeps an error instead.
    internal mutating func add(
      _ selector: String,
      _ bind:
        @escaping @Sendable (MethodSelector, MethodSignature) throws(ForwardingError) ->
        Implementation
    ) {
      do throws(ForwardingError) {
        add(try MethodSelector(validating: selector), bind)
      } catch {
        keep(ForwardingError(.invalidName, selector: selector, error.description))
      }
    }

    /// Adds a method.
    internal mutating func add(
      _ selector: MethodSelector,
      _ bind:
        @escaping @Sendable (MethodSelector, MethodSignature) throws(ForwardingError) ->
        Implementation
    ) {
      methods.append(
        Method(selector: selector) { signature throws(ForwardingError) in
          try bind(selector, signature)
        })
    }

    /// Keeps an error unless there is an earlier one.
    internal mutating func keep(_ fault: ForwardingError) {
      self.fault = self.fault ?? fault
    }
  }
}

// MARK: - C functions

extension FunctionTable.Builder {
  /// Reads the encoding of a function.
  fileprivate static func signature(
    of selector: String, _ encoding: String, stating stated: [StatedLayout] = []
  ) throws(ForwardingError) -> MethodSignature {
    do throws(ForwardingError) {
      return try MethodSignature(encoding, stating: stated)
    } catch {
      throw ForwardingError(
        error.code, selector: selector, "the function for \"\(selector)\": \(error)",
        encodingError: error)
    }
  }

  /// Checks that the encoding of a function, with the layouts that the protocol
  /// states, is the one that the protocol declares.
  fileprivate static func check(
    _ selector: MethodSelector, _ encoding: String, declared signature: MethodSignature
  ) throws(ForwardingError) {
    let own = try Self.signature(
      of: selector.name, encoding,
      stating: signature.storage.stated.filter { $0.isNamed(in: encoding) })
    if own.isCompatible(with: signature) { return }
    throw ForwardingError(
      .signatureMismatch, selector: selector.name,
      """
      the function for "\(selector)" is "\(own)", but the protocol declares "\(signature)"
      """)
  }
}

/// The address of a C function.
@safe internal struct FunctionAddress: @unchecked Sendable {
  // Sendable: code does not change.
  internal let pointer: UnsafeRawPointer
}

/// A packed function in C (`fwd_packed_function`) and its context. The creator
/// keeps the context alive.
@safe internal struct ShimFunction: @unchecked Sendable {
  // Sendable: packed functions may be called on any thread, and their contexts
  // do not change.
  internal let function: fwd_packed_function
  internal let context: UnsafeRawPointer?
}

/// A handler of a C program (`fwd_delivery_handler`) and the selector that it
/// gets.
@safe internal final class HandlerFunction: @unchecked Sendable {
  // Sendable: filled in `init`, and immutable from then on. forwarding.h says
  // that handlers may run on any thread.
  private let handling: UnsafeMutablePointer<fwd_handling>

  internal init(_ selector: MethodSelector, _ handler: fwd_delivery_handler) {
    unsafe handling = .allocate(capacity: 1)
    unsafe handling.initialize(to: fwd_handling(selector: selector.handle, handler: handler))
  }

  deinit {
    unsafe handling.deallocate()
  }

  /// The function that the shim calls. It points to memory of this object.
  internal var shim: ShimFunction {
    unsafe ShimFunction(function: fwd_handle_packed, context: UnsafeRawPointer(handling))
  }
}

extension FunctionTable.Builder {
  /// Whether values of a type are addresses, optional or not: C functions and pointers.
  private static func mayBeCode(_ type: Any.Type) -> Bool {
    let base = (type as? any OptionalValue.Type)?.wrapped ?? type
    // Not by `isCFunction`: to describe a type, the runtime takes a lock, which a child of a
    // fork may find closed.
    return CFunctionType(base) != nil || base is any PointerValue.Type
  }

  /// Adds a C function. It gets the receiver, then the selector if the encoding
  /// has `:` behind the receiver, then the arguments.
  ///
  /// ```swift
  /// unsafe $0.function("scale:by:", "d@:id", calling: address)   // an UnsafeRawPointer?
  /// ```
  ///
  /// The function must have the types of its encoding and must be safe to call
  /// on any thread. Neither can be checked. The encoding is checked against the
  /// protocol's, with the layouts that the protocol states.
  ///
  /// - Parameters:
  ///   - selector: the method's name.
  ///   - encoding: the signature of the function.
  ///   - function: a `@convention(c)` function or closure, or a raw pointer to
  ///     one.
  @unsafe public mutating func function<CFunctionType>(
    _ selector: String, _ encoding: String, calling function: CFunctionType
  ) {
    guard Self.mayBeCode(CFunctionType.self) else {
      keep(
        ForwardingError(
          .signatureMismatch, selector: selector,
          "the function for \"\(selector)\" is \(CFunctionType.self), expected a @convention(c) function"
        ))
      return
    }
    // SAFETY: the value of a C function is its address; the caller promises
    // that it is a C function.
    guard let function = unsafe unsafeBitCast(function, to: UnsafeRawPointer?.self) else {
      keep(
        ForwardingError(
          .nullPointer, selector: selector, "the function for \"\(selector)\" is a null pointer"))
      return
    }
    do throws(ForwardingError) {
      _ = try Self.signature(of: selector, encoding)
    } catch {
      // The layouts that a protocol states may support it.
      if error.code != .unsupported { return keep(error) }
    }
    let code = unsafe FunctionAddress(pointer: function)
    add(selector) { selector, signature throws(ForwardingError) in
      try Self.check(selector, encoding, declared: signature)
      return .function(code)
    }
  }

  /// Adds a handler of a C program.
  ///
  /// - Parameters:
  ///   - selector: the method's name.
  ///   - encoding: the signature that the handler expects; nil for the one that
  ///     the protocol declares.
  ///   - handler: gets the addresses of the arguments.
  @unsafe internal mutating func handler(
    _ selector: String, _ encoding: String?, calling handler: fwd_delivery_handler
  ) {
    do throws(ForwardingError) {
      if let encoding { _ = try Self.signature(of: selector, encoding) }
    } catch {
      // The layouts that a protocol states may support it.
      if error.code != .unsupported { return keep(error) }
    }
    // SAFETY: C functions may be called on any thread.
    nonisolated(unsafe) let handler = unsafe handler
    add(selector) { selector, signature throws(ForwardingError) in
      if let encoding { try Self.check(selector, encoding, declared: signature) }
      return .handler(unsafe HandlerFunction(selector, handler))
    }
  }
}
