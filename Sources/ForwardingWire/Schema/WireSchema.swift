// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

public import Forwarding

/// The methods whose calls become records, and what their pointers point to.
///
/// ```swift
/// let schema = try WireSchema(of: proxy) {
///   $0.rule("write:count:", argument: 0, .counted(by: 1))
///   $0.leaveOut("compare:with:")
/// }
/// ```
///
/// Numbers, structs of numbers and C strings need no rule. Other pointers need one:
/// see ``WirePointerRule``. An argument that belongs to this process (an object, a
/// block, a function, a class, a selector) cannot be carried.
///
/// The writer and the reader each make a schema from their own protocols. The reader
/// never interprets a recorded schema. It only compares it with its own: a record
/// cannot make it read a buffer that its own rules do not allow.
///
/// A schema is immutable and may be shared between threads.
public final class WireSchema: Sendable {
  /// The schema record. Write it before the first record of a file, of a message, or
  /// of any other piece that is decoded on its own.
  public let bytes: [UInt8]

  /// The CRC-32C of the schema record behind its header.
  package let identifier: UInt32
  internal let methods: [WireMethod]
  /// The names of the methods, in the order of their indices.
  package var methodNames: [String] { methods.map(\.name) }
  internal let indices: [MethodSelector: Int]
  /// The names that are left out.
  internal let leftOut: Set<String>

  /// Creates the schema of the methods of a proxy.
  ///
  /// - Parameters:
  ///   - proxy: the proxy. The schema does not keep it alive.
  ///   - build: states rules, and the methods to leave out.
  /// - Throws: `WireError` with the code `notCarried` if an argument cannot be carried;
  ///   the description names the method, the argument and its encoding, and says what
  ///   to write. With the codes `invalidRule`, `limitExceeded`, `unsupportedPlatform`.
  /// - Complexity: O(*n*) in the length of the encodings.
  public convenience init(
    of proxy: DynamicProxy, _ build: (inout Builder) -> Void = { _ in }
  ) throws(WireError) {
    try self.init(proxy.requirements, build)
  }

  /// Creates the schema of the methods of protocols, those that they inherit
  /// included.
  ///
  /// - Throws: `WireError`, as `init(of:_:)`; with the code `notForwarded` if two
  ///   protocols declare a method with different signatures.
  public convenience init(
    of protocols: ProtocolTable..., build: (inout Builder) -> Void = { _ in }
  ) throws(WireError) {
    let merged: [ProtocolTable.Requirement]
    do throws(ForwardingError) {
      merged = try ProtocolTable.merge(protocols)
    } catch {
      throw WireError(.notForwarded, error.description, forwardingError: error)
    }
    try self.init(merged, build)
  }

  private init(
    _ requirements: [ProtocolTable.Requirement], _ build: (inout Builder) -> Void
  ) throws(WireError) {
    guard 1.littleEndian == 1, MemoryLayout<Int>.size == 8 else {
      throw WireError(
        .unsupportedPlatform, "the wire form needs a little-endian processor with 64-bit pointers")
    }
    var builder = Builder()
    build(&builder)
    if let fault = builder.fault { throw fault }
    var methods: [WireMethod] = []
    var indices: [MethodSelector: Int] = [:]
    for requirement in requirements where !builder.leftOut.contains(requirement.selector.name) {
      let rules = builder.rules.removeValue(forKey: requirement.selector.name) ?? [:]
      indices[requirement.selector] = methods.count
      methods.append(try WireMethod(requirement.selector, requirement.signature, rules))
    }
    if let name = builder.rules.keys.sorted().first {
      let isLeftOut = builder.leftOut.contains(name)
      throw WireError(
        .invalidRule,
        isLeftOut
          ? "\"\(name)\" has a rule, but is left out"
          : "there is a rule for \"\(name)\", which no protocol declares", selector: name)
    }
    guard methods.count <= WireLimits.methodCount else {
      throw WireError(
        .limitExceeded,
        "the schema has \(methods.count) methods, expected at most \(WireLimits.methodCount)")
    }
    self.methods = methods
    self.indices = indices
    leftOut = builder.leftOut
    (bytes, identifier) = try SchemaRecord.make(methods)
  }
}

extension WireSchema {
  /// Takes the statements of a schema.
  public struct Builder {
    internal var rules: [String: [Int: WirePointerRule]] = [:]
    internal var leftOut: Set<String> = []
    /// The first statement that contradicts an earlier one.
    internal var fault: WireError?

    /// States what a pointer argument points to.
    ///
    /// - Parameters:
    ///   - selector: the name of the method.
    ///   - argument: the index of the argument. Index 0 is the first argument behind
    ///     the receiver and the selector.
    ///   - rule: the rule.
    public mutating func rule(_ selector: String, argument: Int, _ rule: WirePointerRule) {
      let earlier = rules[selector, default: [:]].updateValue(rule, forKey: argument)
      if earlier != nil && fault == nil {
        fault = WireError(
          .invalidRule, "argument \(argument) of \"\(selector)\" has two rules", selector: selector)
      }
    }

    /// Leaves a method out. Its calls are not recorded, and a decoder skips its
    /// records. To read older records, also leave out methods that no protocol
    /// declares any more.
    public mutating func leaveOut(_ selector: String) {
      leftOut.insert(selector)
    }
  }
}

extension WireSchema {
  /// The index of a method.
  internal func index(of selector: MethodSelector) -> Int? {
    // Comparing a few selectors is faster than hashing one.
    methods.count <= 8 ? methods.firstIndex { $0.selector == selector } : indices[selector]
  }
}

extension WireSchema: CustomStringConvertible {
  /// The methods with their canonical encodings.
  public var description: String {
    "wire schema { " + methods.map { "\($0.name) \($0.signature)" }.joined(separator: "; ") + " }"
  }
}
