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
  /// `downloadDidReceiveOf`, `moveToBy`.
  ///
  /// A signature has a receiver and no selector. Arguments:
  ///
  /// | Swift type | encoding |
  /// |---|---|
  /// | numbers of up to 64 bits, `Bool` | as C's |
  /// | pointers, and optionals of them | `^v`, `*`, `^i`, `^{name}` … |
  /// | classes, `AnyObject`, and optionals of them | `@` |
  /// | all others | `^{Module.Type}`: the address of a value |
  ///
  /// Results of the first three kinds are returned, objects retained for the
  /// caller. For others the function returns a `Bool`, true, and takes one more
  /// argument, `^{Swift.Optional<Module.Type>}`: the address of an optional, which
  /// the caller has initialised to nil, and to which the function assigns. A
  /// method that throws takes, last, the address of an optional error in the same
  /// way, and if it has no result returns whether it has thrown.
  ///
  /// ### What is not forwarded
  ///
  /// Properties, subscripts, initializers, `static`, generic and `async` methods,
  /// those of an actor, `inout` and variadic parameters, closures that do not
  /// escape, typed errors, and inherited protocols but `AnyObject` and `Sendable`
  /// are errors where they stand.
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
