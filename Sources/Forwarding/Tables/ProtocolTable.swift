// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A named set of method signatures, required and optional: what a proxy
/// forwards, and what it asks of its subscribers.
///
/// ```swift
/// let visitor = try ProtocolTable("FileVisitor") {
///   $0.required("visit:status:kind:position:", "i@:*^{stat=}i^{FTW=ii}", result: .untilNonzero)
///   $0.optional("finished:", "v@:q")
/// }
/// try visitor.register()               // from here on ProtocolTable.named("FileVisitor") finds it
/// ```
///
/// A table is immutable and may be shared between threads.
public final class ProtocolTable: Sendable {
  /// The name, unique among the registered tables.
  public let name: String

  /// Whether the table has been given no name, so that messages leave it out.
  internal var isAnonymous: Bool { Self.isAnonymous(name) }

  fileprivate static func isAnonymous(_ name: String) -> Bool { name == "Anonymous" }

  /// The tables whose methods this one has too.
  package let parents: [ProtocolTable]

  /// The methods that this table declares itself, in order.
  public let requirements: [Requirement]

  /// A cache of the plan that proxies have made of this table; see `ProxyPlan.plan`.
  internal let derived = LateObject<AnyObject & Sendable>()

  /// One method of a protocol.
  public struct Requirement: Sendable {
    /// The name.
    public let selector: MethodSelector
    /// The types.
    public let signature: MethodSignature
    /// Whether a subscriber without the method is refused.
    public let isRequired: Bool
    /// The rule for which responders are called and which result the caller gets.
    internal let resultPolicy: ResultPolicy
    internal let fitted: ResultPolicy.Fitted
    /// The result if there is no responder.
    internal let defaultResult: StoredValue?
    /// The result of a delivery that has failed.
    internal let failureResult: StoredValue?
    /// The key that has declared the method.
    internal let key: DerivedMethod?
    /// The Swift types, if a typed proxy has declared the method.
    package let swiftTypes: SwiftTypes?
  }

  /// The types of a typed proxy's method that its encoding cannot express.
  package struct SwiftTypes: Sendable {
    /// For each argument behind the receiver, the type of the value that it is the
    /// address of; nil for other arguments.
    package let values: [Any.Type?]
    /// Whether the value in the register, if there is one, is not the method's result.
    package let isResultHidden: Bool

    /// Creates the description of a method.
    package init(values: [Any.Type?], isResultHidden: Bool) {
      self.values = values
      self.isResultHidden = isResultHidden
    }
  }

  /// Declares a protocol.
  ///
  /// - Throws: `ForwardingError` if the name or a selector is empty, a method is
  ///   declared twice (here, or here and in a parent with another signature),
  ///   an encoding cannot be read or takes no receiver, or a result policy or a
  ///   default result does not fit the method. The error of an expression for
  ///   `default:` or `onFailure:` that throws.
  /// - Complexity: O(*n*) in the length of the encodings.
  public init(
    _ name: String, inheriting parents: [ProtocolTable] = [], _ build: (inout Builder) -> Void
  ) throws(ForwardingError) {
    guard !name.isEmpty, !name.utf8.contains(0) else {
      throw ForwardingError(.invalidName, "a protocol's name is not empty and has no NUL in it")
    }
    var builder = Builder()
    build(&builder)
    if let fault = builder.fault { throw fault }
    self.name = name
    self.parents = parents
    var requirements: [Requirement] = []
    var seen: [MethodSelector: MethodSignature] = [:]
    for declaration in builder.declarations {
      let requirement = try declaration.resolve(in: name)
      if let earlier = seen.updateValue(requirement.signature, forKey: requirement.selector) {
        throw ForwardingError(
          .duplicate, table: name, selector: declaration.selector,
          "\(Self.isAnonymous(name) ? "the proxy" : "protocol \"\(name)\"") declares \"\(declaration.selector)\" twice"
            + earlier.difference(from: requirement.signature))
      }
      requirements.append(requirement)
    }
    self.requirements = requirements
    // Finds methods that are inherited with another signature.
    _ = try Self.merge([self])
  }
}

// MARK: - Declaring

extension ProtocolTable {
  /// Takes the declarations of a table.
  public struct Builder {
    fileprivate var declarations: [Declaration] = []
    /// The first error of an argument that a declaration could not evaluate.
    fileprivate var fault: ForwardingError?

    /// Declares a method that every subscriber must implement.
    ///
    /// ```swift
    /// // A hook that answers 0 to allow and 1 to deny.
    /// $0.required("authorize:table:", "i^vi*", result: .untilNonzero, onFailure: Int32(1))
    /// ```
    ///
    /// - Parameters:
    ///   - selector: the name, such as `visit:kind:`.
    ///   - encoding: the types: the result, a receiver (`@`, or a pointer),
    ///     then `:` if functions also take the selector, then the arguments.
    ///   - stated: the layouts of structs and unions in the encoding that it does
    ///     not give: see ``StatedLayout``. The functions that implement the method
    ///     are read with them, too.
    ///   - result: the subscribers that are called, and what becomes of their
    ///     results.
    ///   - value: the result if no subscriber responds. If it is left out, there
    ///     is none.
    ///   - failure: counts as the result of a subscriber that was called but
    ///     could not take its arguments: the policy treats it as if the
    ///     subscriber had returned it. The failure is reported to the error
    ///     handler all the same. If it is left out, such a subscriber does not
    ///     count as a responder. The caller of a C function pointer gets it
    ///     whenever the forwarding fails. A function pointer can state another one.
    public mutating func required<Default: Sendable, Failure: Sendable>(
      _ selector: String, _ encoding: String, stating stated: [StatedLayout] = [],
      result: ResultPolicy = .standard,
      default value: Default = Never?.none, onFailure failure: Failure = Never?.none
    ) {
      declarations.append(
        Declaration(
          selector, encoding, stated, true, result, default: Self.stored(value),
          onFailure: Self.stored(failure)))
    }

    /// Declares a method that subscribers may implement; the parameters are those
    /// of ``required(_:_:stating:result:default:onFailure:)``.
    public mutating func optional<Default: Sendable, Failure: Sendable>(
      _ selector: String, _ encoding: String, stating stated: [StatedLayout] = [],
      result: ResultPolicy = .standard,
      default value: Default = Never?.none, onFailure failure: Failure = Never?.none
    ) {
      declarations.append(
        Declaration(
          selector, encoding, stated, false, result, default: Self.stored(value),
          onFailure: Self.stored(failure)))
    }

    /// Adds to the last declaration what its encoding does not say.
    package mutating func describeLast(_ types: SwiftTypes) {
      declarations[declarations.count - 1].swiftTypes = types
    }

    /// Declares what a C program gave.
    internal mutating func add(
      _ selector: String, _ encoding: String, _ stated: [StatedLayout], isRequired: Bool
    ) {
      declarations.append(Declaration(selector, encoding, stated, isRequired, .standard))
    }

    /// Declares what a key says.
    internal mutating func declare(_ declaration: Declaration) {
      declarations.append(declaration)
    }

    /// Keeps an error for the table, which throws the first one.
    internal mutating func keep(_ error: ForwardingError) {
      if fault == nil { fault = error }
    }

    /// The maker of a result; nil if the argument was left out.
    private static func stored<Value: Sendable>(_ value: Value) -> Declaration.MakeResult? {
      Value.self == Never?.self ? nil : store(value)
    }

    internal static func store(_ value: some Sendable) -> Declaration.MakeResult {
      { type throws(ValueMismatch) in try StoredValue(value, as: type) }
    }
  }

  /// A requirement as it was written.
  internal struct Declaration {
    typealias MakeResult = (TypeEncoding) throws(ValueMismatch) -> StoredValue

    let selector: String
    let types: Types
    let isRequired: Bool
    let result: ResultPolicy
    let makeDefault: MakeResult?
    let makeFailure: MakeResult?
    var swiftTypes: SwiftTypes?

    enum Types {
      case encoding(String, stating: [StatedLayout])
      case key(DerivedMethod)
    }

    init(
      _ selector: String, _ encoding: String, _ stated: [StatedLayout], _ isRequired: Bool,
      _ result: ResultPolicy, default makeDefault: MakeResult? = nil,
      onFailure makeFailure: MakeResult? = nil
    ) {
      self.selector = selector
      types = .encoding(encoding, stating: stated)
      self.isRequired = isRequired
      self.result = result
      self.makeDefault = makeDefault
      self.makeFailure = makeFailure
    }

    init(
      _ selector: MethodSelector, _ key: DerivedMethod, _ isRequired: Bool,
      _ result: ResultPolicy, default makeDefault: MakeResult?, onFailure makeFailure: MakeResult?
    ) {
      self.selector = selector.name
      types = .key(key)
      self.isRequired = isRequired
      self.result = result
      self.makeDefault = makeDefault
      self.makeFailure = makeFailure
    }

    func resolve(in table: String) throws(ForwardingError) -> Requirement {
      let isAnonymous = ProtocolTable.isAnonymous(table)
      let place = "\"\(selector)\"" + (isAnonymous ? "" : " of protocol \"\(table)\"")
      let name: MethodSelector
      do throws(ForwardingError) {
        name = try MethodSelector(validating: selector)
      } catch {
        throw ForwardingError(.invalidName, table: table, selector: selector, "\(place): \(error)")
      }
      let signature = try signature(place, in: table)
      do throws(ValueMismatch) {
        return Requirement(
          selector: name, signature: signature, isRequired: isRequired, resultPolicy: result,
          fitted: try result.fit(signature.result),
          defaultResult: try Self.make(makeDefault, signature.result, "a default of type"),
          failureResult: try Self.make(
            makeFailure, signature.result, "a result for failures of type"),
          key: key, swiftTypes: swiftTypes)
      } catch {
        let reason = ForwardingError(error, selector: name, signature: signature)
        throw ForwardingError(
          .policyMismatch, table: table, selector: selector,
          (isAnonymous ? "" : "protocol \"\(table)\": ") + "\(reason)")
      }
    }

    private static func make(
      _ makeResult: MakeResult?, _ type: TypeEncoding, _ role: String
    ) throws(ValueMismatch) -> StoredValue? {
      do throws(ValueMismatch) {
        return try makeResult?(type)
      } catch {
        throw error.given(as: role)
      }
    }

    private var key: DerivedMethod? {
      if case .key(let key) = types { key } else { nil }
    }

    private func signature(
      _ place: String, in table: String
    ) throws(ForwardingError) -> MethodSignature {
      let encoding: String
      let stated: [StatedLayout]
      switch types {
      case .key(let key):
        do throws(ForwardingError) {
          return try key.signature.get()
        } catch {
          // It names the key.
          throw ForwardingError(
            error.code, table: table, selector: selector,
            (ProtocolTable.isAnonymous(table) ? "" : "protocol \"\(table)\": ") + "\(error)",
            encodingError: error)
        }
      case .encoding(let text, let layouts): (encoding, stated) = (text, layouts)
      }
      let signature: MethodSignature
      do throws(ForwardingError) {
        signature = try MethodSignature(encoding, stating: stated)
      } catch {
        throw ForwardingError(
          error.code, table: table, selector: selector, "\(place): \(error)",
          encodingError: error)
      }
      guard signature.hasReceiver else {
        throw ForwardingError(
          .noReceiver, table: table, selector: selector,
          "\(place): the first argument of \"\(encoding)\" must be an object or a pointer, to take the receiver"
        )
      }
      return signature
    }
  }
}

// MARK: - Parents

extension ProtocolTable {
  /// Whether this is the other table, or inherits from it.
  ///
  /// - Complexity: O(*n*) in the number of ancestors.
  package func inherits(from other: ProtocolTable) -> Bool {
    lineage.contains { $0 === other }
  }

  /// This table and its ancestors, each once, parents behind their children.
  internal var lineage: [ProtocolTable] {
    var result: [ProtocolTable] = []
    var seen: Set<ObjectIdentifier> = []
    // No recursion: chains of parents may be long.
    var next: [ProtocolTable] = [self]
    while let table = next.popLast() {
      guard seen.insert(ObjectIdentifier(table)).inserted else { continue }
      result.append(table)
      next.append(contentsOf: table.parents.reversed())
    }
    return result
  }

  /// Collects the methods of some tables and their parents. A method that
  /// several tables declare occurs once: the first declaration decides its
  /// policy, and it is required if one of them requires it.
  ///
  /// - Throws: `ForwardingError` with the code `conflict` if two signatures are not
  ///   equivalent; the message shows both. All pairs are compared, since
  ///   equivalence is not transitive: else `{A=i}` and `{B=i}` would conflict or
  ///   not depending on where `{?=i}` is declared.
  package static func merge(_ tables: [ProtocolTable]) throws(ForwardingError) -> [Requirement] {
    var merged: [Requirement] = []
    var places: [MethodSelector: (index: Int, table: ProtocolTable)] = [:]
    // Further declarations of a method that are spelled differently.
    var spellings: [MethodSelector: [(MethodSignature, ProtocolTable)]] = [:]
    var lineage: [ProtocolTable] = []
    var seen: Set<ObjectIdentifier> = []
    for table in tables.flatMap(\.lineage)
    where seen.insert(ObjectIdentifier(table)).inserted {
      lineage.append(table)
    }
    for table in lineage {
      for requirement in table.requirements {
        guard let (index, first) = places[requirement.selector] else {
          places[requirement.selector] = (merged.count, table)
          merged.append(requirement)
          continue
        }
        // Most declarations are spelled alike.
        if merged[index].signature != requirement.signature {
          let earlier = spellings[requirement.selector, default: []]
          for (signature, other) in [(merged[index].signature, first)] + earlier
          where !signature.isEquivalent(to: requirement.signature) {
            throw ForwardingError(
              .conflict, table: table.name, selector: requirement.selector.name,
              """
              "\(requirement.selector)" is "\(signature)" in protocol "\(other.name)", \
              but "\(requirement.signature)" in protocol "\(table.name)"
              """)
          }
          spellings[requirement.selector] = earlier + [(requirement.signature, table)]
        }
        if requirement.isRequired && !merged[index].isRequired {
          merged[index] = merged[index].asRequired()
        }
      }
    }
    return merged
  }
}

extension MethodSignature {
  /// Says in what another declaration of a method differs, for errors: nothing
  /// if the two are equivalent.
  fileprivate func difference(from other: MethodSignature) -> String {
    if isEquivalent(to: other) { return "" }
    return ", as \"\(self)\" and as \"\(other)\", which differ in \(differingPlace(from: other))"
  }

  private func differingPlace(from other: MethodSignature) -> String {
    func differ(_ place: String, _ left: TypeEncoding, _ right: TypeEncoding) -> String {
      "\(place): \(left.inWords) and \(right.inWords)"
    }
    if !result.isEquivalent(to: other.result) {
      return differ("the result", result, other.result)
    }
    let parameters = arguments[firstArgumentIndex...]
    let others = other.arguments[other.firstArgumentIndex...]
    if parameters.count != others.count { return "the number of parameters" }
    for (number, (left, right)) in zip(1..., zip(parameters, others))
    where !left.encoding.isEquivalent(to: right.encoding) {
      return differ("parameter \(number)", left.encoding, right.encoding)
    }
    if firstArgumentIndex != other.firstArgumentIndex {
      return "the selector: only one of them has it"
    }
    return differ("the receiver", arguments[0].encoding, other.arguments[0].encoding)
  }
}

extension ProtocolTable.Requirement {
  fileprivate func asRequired() -> Self {
    Self(
      selector: selector, signature: signature, isRequired: true, resultPolicy: resultPolicy,
      fitted: fitted, defaultResult: defaultResult, failureResult: failureResult, key: key,
      swiftTypes: swiftTypes)
  }
}

// MARK: - Conformances

extension ProtocolTable: CustomStringConvertible {
  /// The name, the parents and the methods with their encodings, `?` behind the
  /// optional ones.
  public var description: String {
    let inherited = parents.isEmpty ? "" : ": " + parents.map(\.name).joined(separator: ", ")
    let methods = requirements.map { "\($0.selector)\($0.isRequired ? "" : "?") \($0.signature)" }
    return "protocol \(name)\(inherited) { \(methods.joined(separator: "; ")) }"
  }
}
