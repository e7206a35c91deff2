// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

extension FunctionTable.Builder where Owner: AnyObject {
  /// Adds a closure for the method of a key. The closure gets the subscriber and
  /// the arguments, whose types the compiler takes from the key. A literal takes
  /// its types from the closure, which may leave out the last arguments.
  ///
  /// ```swift
  /// $0.on(Visitor.visit) { owner, path, status, kind in owner.visit(path, kind) }
  /// $0.on("finished:") { (owner: Indexer, count: Int64) in owner.finish(count) }
  /// ```
  ///
  /// The types must fit the protocol's encoding: a number must have the same
  /// size, signedness and kind, and a pointer or an object must be encoded as
  /// one. This is checked when the table is joined to a proxy.
  ///
  /// The closure is not called if an argument is not a value of its Swift type:
  /// null for a pointer that is not optional, a raw value without a case, an
  /// object of another class, a `Bool` that is not 0 or 1, or a C string that is not
  /// UTF-8. The proxy's error handler is called instead, with the index of the argument.
  ///
  /// Pointers are valid during the call. A `String` is a copy. An object that is
  /// returned is retained for the caller. The closure of a void method may return
  /// anything if the key is a literal; the value is dropped.
  // Inlinable, so that it is specialized in the caller's module, where the
  // types are known. Otherwise each delivery would construct the metadata of
  // the argument types at run time.
  @inlinable
  public mutating func on<Output, each Argument>(
    _ key: Forwarding.Method<Output, repeat each Argument>,
    _ body: @escaping @Sendable (Owner, repeat each Argument) -> Output
  ) {
    let mayBeFewer = key.hasTypesOfContext
    addPacked(key.selector) { selector, signature throws(ForwardingError) in
      try Self.pack(selector, signature, mayBeFewer: mayBeFewer, body)
    }
  }
}

extension FunctionTable.Builder where Owner: AnyObject {
  /// Adds a closure that leaves out all arguments for the method of a key.
  ///
  /// ```swift
  /// $0.on(Visitor.visit) { owner in owner.count += 1; return 0 }
  /// ```
  // Disfavored, so that a key without arguments, and a literal, take the closure
  // that has all.
  @inlinable @_disfavoredOverload
  public mutating func on<Output, each Argument>(
    _ key: Forwarding.Method<Output, repeat each Argument>,
    _ body: @escaping @Sendable (Owner) -> Output
  ) {
    addPacked(key.selector) { selector, signature throws(ForwardingError) in
      // The types of the key are checked as if the closure took the arguments.
      _ = try Self.coders(selector, signature, Output.self, repeat (each Argument).self)
      return try Self.pack(selector, signature, mayBeFewer: true, body)
    }
  }
}

extension FunctionTable.Builder where Owner == Void {
  /// Adds a closure for the method of a key. The closure gets the arguments,
  /// whose types the compiler takes from the key. A literal takes its types from
  /// the closure, which may leave out the last arguments.
  @inlinable
  public mutating func on<Output, each Argument>(
    _ key: Forwarding.Method<Output, repeat each Argument>,
    _ body: @escaping @Sendable (repeat each Argument) -> Output
  ) {
    let mayBeFewer = key.hasTypesOfContext
    addPacked(key.selector) { selector, signature throws(ForwardingError) in
      try Self.pack(selector, signature, mayBeFewer: mayBeFewer, body)
    }
  }
}

extension FunctionTable.Builder where Owner == Void {
  /// Adds a closure that leaves out all arguments for the method of a key.
  @inlinable @_disfavoredOverload
  public mutating func on<Output, each Argument>(
    _ key: Forwarding.Method<Output, repeat each Argument>,
    _ body: @escaping @Sendable () -> Output
  ) {
    addPacked(key.selector) { selector, signature throws(ForwardingError) in
      _ = try Self.coders(selector, signature, Output.self, repeat (each Argument).self)
      return try Self.pack(selector, signature, mayBeFewer: true, body)
    }
  }
}

extension FunctionTable.Builder {
  /// Adds a C function for the method of a key: any `@convention(c)` function or
  /// closure. It gets the receiver, then the selector if the key's signature has
  /// one, then the arguments.
  ///
  /// ```swift
  /// unsafe $0.function(
  ///   Visitor.finished,
  ///   calling: counter_finished as @convention(c) (UnsafeMutableRawPointer?, Int64) -> Void)
  /// ```
  ///
  /// The number of parameters, and the size and the kind of register of each,
  /// are checked against the key's signature. The caller promises that the types
  /// mean the same, and that the function may be called on any thread.
  @unsafe public mutating func function<CFunctionType, Output, each Argument>(
    _ key: Forwarding.Method<Output, repeat each Argument>, calling function: CFunctionType
  ) {
    let signature: MethodSignature
    do throws(ForwardingError) {
      signature = try key.signature
    } catch {
      return keep(error)
    }
    let name = key.selector.name
    guard let type = Forwarding.CFunctionType(CFunctionType.self) else {
      return keep(
        ForwardingError(
          .signatureMismatch, selector: name,
          "the function for \"\(name)\" is \(CFunctionType.self), expected a @convention(c) function"
        ))
    }
    if let reason = type.mismatch(with: signature) {
      return keep(
        ForwardingError(
          .signatureMismatch, selector: name,
          """
          the function for "\(name)" is \(CFunctionType.self), expected \(signature.inWords): \(reason)
          """))
    }
    unsafe self.function(name, signature.text, calling: function)
  }
}
