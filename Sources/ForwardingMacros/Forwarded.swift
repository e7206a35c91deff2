// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  @_exported public import Forwarding

  /// Makes a typed proxy of a protocol: a class `<Name>Proxy` that conforms to it
  /// and forwards each call to any number of listeners, who need write nothing but
  /// their conformance.
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
  /// delegates.subscribe(listener)
  /// download.delegate = delegates
  /// ```
  ///
  /// What the class has besides its methods is in `ForwardedProxy`.
  ///
  /// ### Who is called
  ///
  /// A method without a result: all listeners, in order. One with a result: the
  /// first that responds. One that throws and has no result: all, until one
  /// throws. If nobody responds, a method gives what `@DefaultResult` says, else
  /// what a message to nil would (zero, false or nil); one of another type that
  /// throws, throws a `ForwardingError`.
  ///
  /// `DynamicProxy.Configuration.errors` has other ways to deal with what
  /// listeners throw: calling all, and collecting or reporting the errors.
  ///
  /// An `inout` argument is handed from one listener to the next, each of whom
  /// sees what the one before it has left.
  ///
  /// A property is a method without arguments, and if it can be set a second one.
  /// It is read from the first listener, and set in all.
  ///
  /// An `async` method waits for one listener after the other. Those are called
  /// that were there when it began and have not left when it is their turn. A
  /// listener is kept alive during its own call only. A proxy that is not
  /// `Sendable` can be called from an actor if the method is declared
  /// `nonisolated(nonsending)`, as any object can.
  ///
  /// A protocol or a method of a global actor is forwarded there.
  /// A macro does not see what a module's default isolation is: where that is the
  /// main actor, write `@MainActor` or `nonisolated` at the protocol.
  ///
  /// `DynamicProxy.Configuration.results` has other policies by
  /// `ForwardedProxy.selector(for:)`, but for methods with a result that C has no
  /// type for, and those that throw and have none.
  ///
  /// ### For untyped callers
  ///
  /// The selector of a method is its name, then a colon for each argument with
  /// its label before it. The label of the first argument is joined to the name
  /// in capitals: `download(_:didReceive:of:)` is `download:didReceive:of:`,
  /// `move(to:by:)` is `moveTo:by:`. The case of `Requirement` has all labels so:
  /// `downloadDidReceiveOf`, `moveToBy`. A property `row` is `row` and `setRow:`,
  /// with cases `row` and `setRow`. An `async` method has a case, but no place in
  /// the table: C cannot wait.
  ///
  /// A signature has a receiver and no selector. Arguments:
  ///
  /// | Swift type | encoding |
  /// |---|---|
  /// | numbers of up to 64 bits, `Bool` | as C's |
  /// | pointers, and optionals of them | `^v`, `*`, `^i`, `^{name}` … |
  /// | classes, `AnyObject`, and optionals of them | `@` |
  /// | all others | `^{Module.Type}`: the address of a value |
  /// | `inout` | `N^` and the type: the address of a value that may be changed |
  ///
  /// Results of the first three kinds are returned, objects retained for the
  /// caller. For others the function returns a `Bool`, true, and takes one more
  /// argument, `^{Swift.Optional<Module.Type>}`: the address of an optional, which
  /// the caller has initialised to nil, and to which the function assigns. A
  /// method that throws takes, last, the address of an optional error in the same
  /// way, and if it has no result returns whether it has thrown.
  ///
  /// ### Protocols that inherit
  ///
  /// A protocol may inherit from others that have `@Forwarded`, of this module or
  /// another. Its proxy conforms to all of them, its table has theirs as parents,
  /// and its `Requirement` names its own methods: `responds(to:)` takes those of
  /// the parents' proxies as well. That a parent has no `@Forwarded` is an error in
  /// the expansion, which does not find the parent's proxy.
  ///
  /// ### What is not forwarded
  ///
  /// These are errors where they stand:
  ///
  /// - `static` members: listeners are objects, not types. Subscripts,
  ///   initializers, associated types, and `Self`.
  /// - Generic methods: a thunk has one type. Generic types with their arguments,
  ///   like `Box<String>`, are arguments as any others.
  /// - Closures that do not escape, and autoclosures: a call keeps its arguments
  ///   behind pointers. Variadic parameters, `borrowing` and `consuming`.
  /// - Typed errors, since that nobody responds is an error too.
  /// - Inherited protocols that cannot have `@Forwarded`, such as `Hashable`.
  /// - `@Optional` on a property: it has no call that could be left out.
  @attached(peer, names: suffixed(Proxy))
  @attached(member, names: arbitrary)
  @attached(extension, names: arbitrary)
  public macro Forwarded() =
    #externalMacro(module: "ForwardingMacrosPlugin", type: "ForwardedMacro")

  /// Marks a method of a protocol with `@Forwarded` that a conformer may leave out.
  /// It then does not respond to it, and has nothing to write.
  ///
  /// Whether a conformer has the method is seen where it declares the conformance:
  /// a subclass that adds the method does not respond. A method of the same name
  /// with other types is another method.
  ///
  /// A class of two protocols that have the same optional method has to have it:
  /// there would be two ways to leave it out.
  @attached(peer)
  public macro Optional() =
    #externalMacro(module: "ForwardingMacrosPlugin", type: "OptionalMacro")

  /// Says what a method of a protocol with `@Forwarded` gives if nobody responds.
  ///
  /// The expression is evaluated for each such call; that of a number or a `Bool`
  /// once, and untyped callers get it too. Its type is that of the result:
  /// `Mode.fast`, not `.fast`.
  @attached(peer)
  public macro DefaultResult<Value>(_ value: Value) =
    #externalMacro(module: "ForwardingMacrosPlugin", type: "DefaultResultMacro")

  /// Says that of the closures that a method of a protocol with `@Forwarded` takes
  /// one may be called, and once, however many listeners get them.
  ///
  /// The first call of any of them, from any thread, is let through. Others do
  /// nothing but tell the configuration's `onError`. It concerns parameters that
  /// are escaping closures without a result, or optionals of them.
  @attached(peer)
  public macro ReplyOnce() =
    #externalMacro(module: "ForwardingMacrosPlugin", type: "ReplyOnceMacro")

  /// Says that of the closures that a method takes one may be called, and once, and
  /// what is replied by the first of them if all have died without a call, on the
  /// thread of the last: the arguments, in parentheses if there are several.
  @attached(peer)
  public macro ReplyOnce<Value>(default value: Value) =
    #externalMacro(module: "ForwardingMacrosPlugin", type: "ReplyOnceMacro")

  /// What stands in the place of an optional method that is left out.
  @_documentation(visibility: internal)
  public struct ForwardedMissing: Sendable {
    /// Stands for a method.
    public init() {}

    /// The error of a method that nobody has.
    public static func error(_ selector: String) -> ForwardingError {
      ForwardingError(
        .noResponder, selector: selector, "\"\(selector)\" is optional, and left out here")
    }
  }
#endif
