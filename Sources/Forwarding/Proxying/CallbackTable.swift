// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Makes a C struct of function pointers, such as a library's table of
  /// callbacks, whose functions forward into the proxy.
  ///
  /// ```swift
  /// let callbacks = try unsafe proxy.callbackTable(parser_callbacks.self, owner: parser) {
  ///   $0.set(\.on_start, to: Key.started, context: .first)
  ///   $0.set(\.on_error, to: Key.failed, onFailure: 1)
  ///   $0.set(\.on_text, to: Key.text, context: .last, nullIfUnimplemented: true)
  /// }
  /// unsafe callbacks.pointee.version = 3
  /// unsafe parser_set_callbacks(parser.handle, callbacks)
  /// ```
  ///
  /// Keep the owner and the proxy. The struct has a stable address and is never freed.
  /// Members that `build` does not set are zeros. Set them through the pointer
  /// before the library reads the struct. A library that copies the struct may be
  /// given `callbacks.pointee`.
  ///
  /// The functions forward as long as the owner and the proxy live, and may be
  /// called for the life of the process, see
  /// ``functionPointer(for:context:onFailure:owner:)-(MethodSelector,_,_,_)``.
  /// Members with the same method, context and result share one function. Each call of
  /// this method makes another struct.
  ///
  /// - Parameters:
  ///   - type: the struct.
  ///   - owner: the object that owns the functions. It may be the proxy.
  ///   - build: names the methods for the members.
  /// - Returns: the struct, valid for the life of the process.
  /// - Throws: `ForwardingError`, as `functionPointer`; `typeMismatch` for a member
  ///   that is not a C function pointer, or whose type has another shape, see
  ///   ``FunctionPointer/unsafeCast(to:)``; `conflict` for two methods in one
  ///   member.
  @unsafe public func callbackTable<Table: BitwiseCopyable>(
    _ type: Table.Type = Table.self, owner: AnyObject,
    _ build: (inout CallbackTable<Table>) -> Void
  ) throws(ForwardingError) -> UnsafeMutablePointer<Table> {
    var builder = CallbackTable<Table>(proxy: self)
    build(&builder)
    if let fault = builder.fault { throw fault }
    let address = try unsafe callbackStruct(
      of: MemoryLayout<Table>.size, alignment: MemoryLayout<Table>.alignment, builder.members,
      owner: owner)
    return unsafe address.bindMemory(to: Table.self, capacity: 1)
  }

  /// Names the methods for the members of a C struct of function pointers.
  public struct CallbackTable<Table: BitwiseCopyable> {
    fileprivate let proxy: DynamicProxy
    fileprivate var members: [CallbackMember] = []
    /// The first member that could not be set.
    fileprivate var fault: ForwardingError?

    fileprivate init(proxy: DynamicProxy) { self.proxy = proxy }
  }
}

// MARK: - Setting members

extension DynamicProxy.CallbackTable {
  /// Sets a member to a function that forwards a method.
  ///
  /// - Parameters:
  ///   - member: the member of the struct, a C function pointer.
  ///   - selector: the method.
  ///   - context: where the library passes its context pointer.
  ///   - failure: the result of a delivery that fails, and of a call that fails. If
  ///     it is left out, it is the one that the method declares.
  ///   - nullIfUnimplemented: whether the member is null while no subscriber
  ///     implements the method, for libraries that do less work without a callback.
  ///
  ///     The proxy stores the function when the first subscriber that implements
  ///     the method joins, before `subscribe` returns, and null when the last one
  ///     has left, before `cancel` returns. The death of a weak subscriber is
  ///     noticed as for ``DynamicProxy/Configuration/onCapabilityChange``: by a
  ///     fan-out or a query that meets it, or by a later subscription, which checks
  ///     for dead subscribers. An interceptor or a forward target that responds counts as a
  ///     subscriber. A subscriber that is a proxy counts as implementing every
  ///     method. Each store is one atomic word with release ordering, made by
  ///     the thread of the change while it holds the proxy's lock. So the library
  ///     may read the member at any time, on any thread, and the last store always
  ///     reflects the current state. A library that has read the function may still
  ///     call it: the call finds no responder. Each change of membership is O(*k*)
  ///     in the number of such members.
  public mutating func set<Failure>(
    _ member: PartialKeyPath<Table>, to selector: MethodSelector,
    context: DynamicProxy.ContextPosition = .none, onFailure failure: Failure = Never?.none,
    nullIfUnimplemented: Bool = false
  ) {
    add(member, context, nullIfUnimplemented) { proxy throws(ForwardingError) in
      let method = try proxy.method(for: selector)
      return (method, try Failure.self == Never?.self ? nil : method.failureResult(failure))
    }
  }

  /// Sets a member to a function that forwards the method of a key; see
  /// ``set(_:to:context:onFailure:nullIfUnimplemented:)-(_,MethodSelector,_,_,_)``.
  public mutating func set<Output, each Argument>(
    _ member: PartialKeyPath<Table>, to key: Method<Output, repeat each Argument>,
    context: DynamicProxy.ContextPosition = .none,
    onFailure failure: @autoclosure () throws(ForwardingError) -> Output = try leftOut(),
    nullIfUnimplemented: Bool = false
  ) {
    add(member, context, nullIfUnimplemented) { proxy throws(ForwardingError) in
      let method = try proxy.method(for: key)
      let value = try StatedResult.failure.value(failure, of: key.selector)
      return (
        method, try value.map { value throws(ForwardingError) in try method.failureResult(value) }
      )
    }
  }

  private mutating func add(
    _ path: PartialKeyPath<Table>, _ context: DynamicProxy.ContextPosition, _ isNullable: Bool,
    _ find: (DynamicProxy) throws(ForwardingError) -> (ResolvedMethod, StoredValue?)
  ) {
    do throws(ForwardingError) {
      let (method, failure) = try find(proxy)
      members.append(
        CallbackMember(
          method: method, context: context, failure: failure,
          offset: try Self.offset(of: path, for: method, context), isNullable: isNullable))
    } catch {
      if fault == nil { fault = error }
    }
  }

  /// The offset of a member that can hold the function.
  private static func offset(
    of path: PartialKeyPath<Table>, for method: ResolvedMethod,
    _ context: DynamicProxy.ContextPosition
  ) throws(ForwardingError) -> Int {
    let type = type(of: path).valueType
    guard let offset = MemoryLayout<Table>.offset(of: path), let function = CFunctionType(type)
    else {
      // SAFETY: compares types, and reads no pointer.
      let isVariadic = unsafe type == OpaquePointer.self || type == OpaquePointer?.self
      throw ForwardingError(
        .typeMismatch, selector: method.selector.name,
        "the member for \"\(method.selector)\" is \(type), expected a C function pointer"
          + (isVariadic
            ? ": if it is a variadic function in C, no method can have its arguments" : ""))
    }
    let signature = try method.callbackSignature(context)
    if let reason = function.mismatch(with: signature) {
      throw ForwardingError(
        .typeMismatch, selector: method.selector.name,
        "the member for \"\(method.selector)\": a function of \"\(signature)\", \(signature.inWords), is no \(type): \(reason)"
      )
    }
    return offset
  }
}
