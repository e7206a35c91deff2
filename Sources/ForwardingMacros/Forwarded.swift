// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  @_exported public import Forwarding

  /// Makes a typed proxy of a protocol: a class `<Name>Proxy` that conforms to the
  /// protocol and forwards each call to any number of listeners. A listener is any
  /// object that conforms to the protocol.
  ///
  /// ```swift
  /// @Forwarded
  /// protocol DownloadDelegate: AnyObject {
  ///   func download(_ download: Download, didReceive bytes: Int64, of total: Int64?)
  ///   func download(_ download: Download, shouldContinueAfter error: any Error) -> Bool
  ///   @Optional func downloadDidFinish(_ download: Download, at path: String) throws
  /// }
  ///
  /// let delegates = DownloadDelegateProxy()
  /// try delegates.subscribe(listener)
  /// download.delegate = delegates
  /// ```
  ///
  /// The class's other members are those of `ForwardedProxy`.
  ///
  /// ### Listeners of a call
  ///
  /// - A method without a result calls all listeners, in order of subscription.
  /// - A method with a result calls the first listener that responds.
  /// - A method that throws and has no result calls the listeners until one throws.
  ///   `DynamicProxy.Configuration.listenerErrors` has other policies: call all
  ///   listeners, and collect or report their errors.
  /// - If no listener responds, a method returns the value of `@DefaultResult`. If
  ///   there is none, it returns zero, `false` or `nil`. A method that throws and
  ///   has a result without `@DefaultResult` throws a `ForwardingError`.
  /// - An `inout` argument goes from one listener to the next. Each sees the value
  ///   that the one before it has left. The type may be noncopyable.
  /// - A property is a method without arguments, and a second method if it can be
  ///   set. It is read from the first listener, and set in all.
  /// - An `async` method calls one listener after the other, of those that were
  ///   subscribed when the call began and still are. The call keeps a listener alive
  ///   only while it calls that listener. An actor can call a proxy that is not
  ///   `Sendable` if the method is declared `nonisolated(nonsending)`.
  ///
  /// `DynamicProxy.Configuration.results` sets other policies for the results of
  /// methods, by `ForwardedProxy.selector(for:)`. It does not apply to results that C
  /// has no type for, nor to methods that throw and have no result.
  ///
  /// ### Any thread
  ///
  /// With `@Forwarded(sendable: true)` any thread may call the proxy, although the
  /// protocol does not inherit from `Sendable`. So a class may conform to the protocol on
  /// an actor, which a protocol that inherits from `Sendable` does not allow:
  ///
  /// ```swift
  /// @Forwarded(sendable: true)
  /// protocol Feed: AnyObject {
  ///   func tick(_ price: Double, _ symbol: String)
  /// }
  ///
  /// extension Ticker: @MainActor Feed { … }            // a class of the main actor
  /// try feed.subscribe(ticker, on: MainActor.shared)   // by the module ForwardingDelivery
  /// ```
  ///
  /// Listeners that are called directly have the type `any Feed & Sendable`. Arguments
  /// must be `Sendable`, except those of methods that throw, are `async`, or have an
  /// `inout` parameter. Inherited protocols need `sendable: true`, too. See
  /// <doc:TypedProxies>.
  ///
  /// ### Global actors
  ///
  /// A protocol or requirement of a global actor is forwarded on that actor. A macro
  /// sees names only: the name of a global actor must end in `Actor`. Declare a type
  /// alias for an actor of another name: `typealias DatabaseActor = Database`, and
  /// write `@DatabaseActor`. In a module whose default isolation is an actor, mark
  /// the protocol `@MainActor` or `nonisolated`.
  ///
  /// The proxy of a protocol with a global actor is created and used on that actor. Its
  /// listeners belong to the actor. So all requirements, inherited ones too, must have the
  /// same actor, unless the protocol inherits from `Sendable`.
  ///
  /// ### For untyped callers
  ///
  /// The selector of a method is its name, then a colon for each argument with its
  /// label before it. The first label is joined to the name with a capital letter:
  /// `download(_:didReceive:of:)` is `download:didReceive:of:`, and `move(to:by:)` is
  /// `moveTo:by:`. The case of `Requirement` joins all labels in this way:
  /// `downloadDidReceiveOf`, `moveToBy`. A property `row` has the selectors `row` and
  /// `setRow:`, and the cases `row` and `setRow`. An `async` method has a case, but it
  /// is not in the table, since C cannot wait.
  ///
  /// A signature has a receiver and no selector. Its arguments are:
  ///
  /// | Swift type | encoding |
  /// |---|---|
  /// | numbers of up to 64 bits, `Bool` | as C's |
  /// | pointers, and optionals of them | `^v`, `*`, `^i`, `^{name}` … |
  /// | classes, `AnyObject`, and optionals of them | `@` |
  /// | all others | `^{Module.Type}`: the address of a value |
  /// | `inout` | `N^` and the type: the address of a value that may be changed |
  ///
  /// Results of the first three kinds are returned, objects with a reference for the
  /// caller. For other results the function returns `true` and takes one more
  /// argument, `^{Swift.Optional<Module.Type>}`: the address of an optional that the
  /// caller has initialised to nil, and that the function assigns. A method that
  /// throws takes one more argument, the last: the address of an optional error. If
  /// it has no result, it returns whether it has thrown.
  ///
  /// ### Method keys
  ///
  /// The proxy's class has a nested type `Keys` with a method key for each method, which
  /// is named as the case of `Requirement`:
  ///
  /// ```swift
  /// try delegates.proxy.send(DownloadDelegateProxy.Keys.downloadDidReceiveOf, download, 512, nil)
  /// ```
  ///
  /// A key has the selector and the encoding of the protocol's table. Methods that are
  /// `async` or throw, that have an `inout` parameter, or whose result is returned in
  /// memory have no key. See <doc:TypedProxies>.
  ///
  /// ### Protocols that inherit
  ///
  /// A protocol may inherit from others that have `@Forwarded`, of this module or
  /// another, also through a type alias. Its proxy conforms to all of them, and its
  /// table has theirs as parents. Its `Requirement` has the protocol's own methods;
  /// `responds(to:)` also takes the requirements of the parents' proxies.
  ///
  /// ### Requirements that cannot be forwarded
  ///
  /// The macro reports these at the requirement:
  ///
  /// - `static` members, subscripts, initializers, associated types, and `Self`.
  /// - Generic methods. Generic types with arguments, such as `Box<String>`, are
  ///   forwarded.
  /// - Closures that do not escape, autoclosures, variadic parameters, `borrowing` and
  ///   `consuming`. A call stores its arguments while it runs.
  /// - Typed errors, since a call may also throw a `ForwardingError`.
  /// - Inherited protocols of the standard library, such as `Hashable`.
  /// - `@Optional` at a property.
  ///
  /// The macro does not see types. The compiler checks them in the expansion, and
  /// reports these at the line of the requirement or of the inherited type:
  ///
  /// - Arguments and results that cannot be copied or kept, such as `Span`.
  /// - An inherited class, or an inherited protocol without `@Forwarded`.
  /// - A result without `@DefaultResult` whose type only has the name of a standard
  ///   type with a zero value, such as a `Bool` of your own.
  /// - A type alias of a closure type that is not marked `@escaping`.
  /// - A global actor whose name does not end in `Actor`.
  ///
  /// A requirement may be deprecated: the expansion uses it without a warning.
  /// - Parameter sendable: `true` or `false`. Whether any thread may call the proxy of
  ///   a protocol that does not inherit from `Sendable`.
  @attached(peer, names: suffixed(Proxy))
  @attached(member, names: arbitrary)
  @attached(extension, names: arbitrary)
  public macro Forwarded(sendable: Bool = false) =
    #externalMacro(module: "ForwardingMacrosPlugin", type: "ForwardedMacro")

  /// Marks a method of a protocol with `@Forwarded` that a conformer may leave out.
  /// The conformer then does not respond to the method.
  ///
  /// The compiler decides where a class declares its conformance: a subclass that
  /// adds the method does not respond. A method of the same name with other types is
  /// another method.
  ///
  /// A class that conforms to two protocols with the same optional method must have
  /// the method, since there would be two ways to leave it out.
  @attached(peer)
  public macro Optional() =
    #externalMacro(module: "ForwardingMacrosPlugin", type: "OptionalMacro")

  /// Sets the result of a method of a protocol with `@Forwarded` for calls that no
  /// listener responds to.
  ///
  /// The expression is evaluated for each such call. A number or `Bool` is evaluated
  /// once, and is the default for untyped callers too. The expression must name its
  /// type: `Mode.fast`, not `.fast`.
  @attached(peer)
  public macro DefaultResult<Value>(_ value: Value) =
    #externalMacro(module: "ForwardingMacrosPlugin", type: "DefaultResultMacro")

  /// Lets one call through of all closures that a call of the method passes to its
  /// listeners.
  ///
  /// The first call of any of the closures, on any thread, is let through. A later one
  /// only reports an error to the configuration's `onError`. The attribute applies to
  /// parameters that are escaping closures without a result, or optionals of them.
  @attached(peer)
  public macro ReplyOnce() =
    #externalMacro(module: "ForwardingMacrosPlugin", type: "ReplyOnceMacro")

  /// Lets one call through of all closures that a call of the method passes to its
  /// listeners, and replies itself if the listeners release the closures without a
  /// call. That reply is made on the thread that releases the last closure.
  ///
  /// - Parameter value: the arguments of the reply, in parentheses if there are
  ///   several.
  @attached(peer)
  public macro ReplyOnce<Value>(default value: Value) =
    #externalMacro(module: "ForwardingMacrosPlugin", type: "ReplyOnceMacro")
#endif
