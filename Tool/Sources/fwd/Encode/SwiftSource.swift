// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CClangIndex
import Foundation

/// A Swift file with a method key for each callback, a protocol table, and functions that
/// fill structs of callbacks.
struct SwiftSource {
  let text: String

  /// - Throws: `Failure` if nothing that was found is a callback, or if the name is that of a C type in the
  ///   file.
  init(
    _ found: EncodedDeclarations, name: String?, headers: [String], modules: [String]
  ) throws {
    // Headers that others need come before them.
    let base = headers.last.map { URL(filePath: $0).deletingPathExtension().lastPathComponent }
    var keys: [(function: EncodedFunction, title: String, key: Result<Key, Problem>)] = []
    for function in found.functions where function.kind != .function {
      let title = function.name == Source.typeName ? "callback" : function.name
      let key = Result { () throws(Problem) in try Key(function, title) }
      keys.append((function, title, key))
    }
    if keys.isEmpty { throw Self.withoutCallbacks(found) }
    // A member of the enum hides a type of its name, and so does the enum.
    let typeNames = keys.reduce(into: Set(found.structs.map(\.name))) {
      if case .success(let key) = $1.key { $0.formUnion(key.typeNames) }
    }
    let namespace = try Self.namespace(name, base ?? "", typeNames)
    var identifiers = SwiftName.Pool(taken: typeNames)
    let tableName = identifiers.take("table")
    var declarations: [String] = []
    var required: [String] = []
    var enums = EnumConformances()
    var tables = CallbackTables(of: found.structs)
    let owners = Dictionary(grouping: found.functions) { Self.owner(of: $0.name) ?? "" }
    for (function, title, key) in keys {
      do {
        let key = try key.get()
        // A function's only callback without a name has the function's name.
        let owner = Self.owner(of: title).flatMap { owners[$0]?.count == 1 ? $0 : nil }
        let identifier = identifiers.take(SwiftName.lowerCamel(owner ?? title))
        declarations.append(key.declaration(identifier))
        try enums.add(function)
        required.append("      $0.optional(\(identifier))")
        tables.add(function, key, identifier)
      } catch {
        declarations.append("  // \(title): no key, since \(error.text)")
      }
    }
    var lines = ["// Written by fwd encode --swift. Do not edit; write it again instead.", ""]
    lines += (modules + ["Forwarding"]).map { "import \($0)" }
    lines += [
      "", "/// The callbacks of \(headers.isEmpty ? "C" : headers.joined(separator: ", ")).",
    ]
    lines += ["enum \(namespace) {"]
    lines.append(declarations.joined(separator: "\n\n"))
    if !required.isEmpty {
      lines += [
        "",
        "  /// A protocol of all of them, none of which a subscriber must have. A callback with a result",
        "  /// calls its first subscriber only, unless `Configuration.results` has another policy for its key.",
        "  static func \(tableName)() throws(ForwardingError) -> ProtocolTable {",
        "    try ProtocolTable(\"\(namespace)\") {",
      ]
      lines += required + ["    }", "  }"]
    }
    // Without the module of the header, its structs cannot be named.
    if !modules.isEmpty { lines += tables.functions { identifiers.take($0) } }
    lines += ["}"] + enums.declarations + [""]
    text = lines.joined(separator: "\n")
  }

  /// The error if there is nothing to write.
  private static func withoutCallbacks(_ found: EncodedDeclarations) -> Failure {
    let names = found.functions.map(\.name) + found.structs.map(\.name)
    let place = 1...3 ~= names.count ? names.joined(separator: ", ") : "what was found"
    return Failure(
      .dataError,
      "there is no callback in \(place), so there is nothing to write: --swift writes keys of "
        + "function pointers, of function types, and of members of structs")
  }

  /// The name of the enum: the given one, or one for a header.
  private static func namespace(
    _ given: String?, _ header: String, _ typeNames: Set<String>
  ) throws(Failure) -> String {
    if let given {
      guard !typeNames.contains(given) else {
        throw Failure(
          .usage, "\"\(given)\" is a C type in the file: choose another --name")
      }
      return given
    }
    var name = SwiftName.upperCamel(header)
    if name.first?.isNumber == true { name = "Header" + name }
    if name.isEmpty || isReserved(name) || typeNames.contains(name) { name += "Callbacks" }
    var free = SwiftName.Pool(taken: typeNames)
    return free.take(name)
  }

  /// Whether a name is a keyword, or one that the Swift file uses.
  static func isReserved(_ name: String) -> Bool {
    let used: Set = [
      "Any", "Self", "Type", "Protocol", "Method", "ProtocolTable", "ForwardingError", "Forwarding",
      "Swift", "Void", "Bool", "Int", "UInt", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16",
      "UInt32", "UInt64", "Float", "Double", "CChar", "OpaquePointer", "UnsafePointer",
      "UnsafeMutablePointer", "UnsafeRawPointer", "UnsafeMutableRawPointer", "Set", "CaseIterable",
      "String", "DynamicProxy", "AnyObject", "TypeEncodable",
    ]
    return used.contains(name) || SwiftName.isKeyword(name)
  }

  /// `f` of `f/2`, a callback without a name; nil for others.
  private static func owner(of name: String) -> String? {
    let parts = name.split(separator: "/")
    guard parts.count == 2, parts[1].allSatisfy(\.isNumber) else { return nil }
    return String(parts[0])
  }
}

extension SwiftSource {
  /// Functions that fill the structs of callbacks.
  private struct CallbackTables {
    /// A member of a struct, with a key.
    private struct Member {
      /// The name in C.
      let field: String
      /// The name in Swift, which no other member of the struct has.
      let name: String
      let key: String
      let context: String
      /// The Swift type of the result; nil for void.
      let result: String?

      var escaped: String { SwiftName.escaped(name) }
      var failure: String { name + "OnFailure" }
    }

    private let names: Set<String>
    private var structs: [(name: String, members: [Member], pool: SwiftName.Pool)] = []

    init(of structs: [EncodedStruct]) {
      names = Set(structs.filter(\.isCallbackTable).map(\.name))
    }

    /// Adds a member of a struct of callbacks.
    mutating func add(_ function: EncodedFunction, _ key: Key, _ identifier: String) {
      let parts = function.name.split(separator: ".", omittingEmptySubsequences: false)
      guard function.kind == .member, parts.count == 2, names.contains(String(parts[0])) else {
        return
      }
      let field = String(parts[1])
      if structs.last?.name != String(parts[0]) {
        structs.append((String(parts[0]), [], SwiftName.Pool(taken: ["self", "allCases"])))
      }
      let name = structs[structs.count - 1].pool.take(
        SwiftName.lowerCamel(field).filter { $0 != "`" })
      structs[structs.count - 1].members.append(
        Member(
          field: field, name: name, key: identifier,
          context: function.context.map { ", context: \(Key.position($0, of: function))" } ?? "",
          result: key.result == "Void" ? nil : key.result))
    }

    func functions(_ take: (String) -> String) -> [String] {
      structs.flatMap { name, members, _ in
        let camel = SwiftName.lowerCamel(name)
        let function = take(camel == name ? name + "Table" : camel)
        let cases = take(SwiftName.upperCamel(name) + "Member")
        let failing = members.filter { $0.result != nil }
        var lines = [
          "", "  /// The members of `\(name)`, for `nullIfUnimplemented`.",
          "  enum \(cases): Swift.CaseIterable {",
          "    case \(members.map(\.escaped).joined(separator: ", "))", "  }", "",
          "  /// A `\(name)` whose members forward to the proxy. Keep the owner and the proxy as long as",
          "  /// the library uses it.",
          "  ///",
          "  /// Members in `nullIfUnimplemented` are null while no subscriber implements them.",
        ]
        if let first = failing.first {
          lines += [
            "  /// A parameter such as `\(first.failure)` is the result of `\(first.field)` for each",
            "  /// subscriber that fails, and for calls that fail as a whole.",
            "  /// If it is nil, the result is the one that the method declares.",
          ]
        }
        lines += ["  static func \(function)("]
        lines.append("    _ proxy: DynamicProxy, owner: AnyObject,")
        let parameters =
          ["nullIfUnimplemented: Swift.Set<\(cases)> = []"]
          + failing.map { "\($0.failure): \(Self.optional($0.result ?? "")) = nil" }
        lines.append(parameters.map { "    \($0)" }.joined(separator: ",\n"))
        lines += [
          "  ) throws(ForwardingError) -> UnsafeMutablePointer<\(name)> {",
          "    try proxy.callbackTable(\(name).self, owner: owner) {",
        ]
        return lines + members.flatMap(Self.setting) + ["    }", "  }"]
      }
    }

    /// The type of a parameter that may be nil. Most pointers are optional already.
    private static func optional(_ type: String) -> String {
      type.hasSuffix("?") ? type : type + "?"
    }

    private static func setting(_ member: Member) -> [String] {
      func set(_ failure: String) -> [String] {
        [
          "$0.set(",
          "  \\.\(SwiftName.escaped(member.field)), to: Self.\(member.key)\(member.context)\(failure),",
          "  nullIfUnimplemented: nullIfUnimplemented.contains(.\(member.escaped)))",
        ]
      }
      let plain = set("")
      guard member.result != nil else { return plain.map { "      " + $0 } }
      let failing = set(", onFailure: \(member.failure)")
      return ["      if let \(member.failure) {"] + failing.map { "        " + $0 }
        + ["      } else {"] + plain.map { "        " + $0 } + ["      }"]
    }
  }

  /// Conformances of the C enums that callbacks pass or return. Swift leaves the conformance of a C enum to
  /// `RawRepresentable` out of programs that do not use it themselves, so a key would not find it at run time.
  private struct EnumConformances {
    private var encodings: [String: String] = [:]

    mutating func add(_ function: EncodedFunction) throws(Problem) {
      let kept = function.parameters.indices.filter { $0 != function.context }
      for type in kept.map({ function.parameters[$0].type }) + [function.result] {
        guard let name = try SwiftType.enumName(of: type) else { continue }
        var encoder = TypeEncoder()
        guard (try? encoder.add(type)) != nil else { continue }
        encodings[name] = encoder.text
      }
    }

    var declarations: [String] {
      encodings.sorted { $0.key < $1.key }.flatMap { name, encoding in
        [
          "", "extension \(name): @retroactive TypeEncodable {",
          "  public static var typeEncoding: String { \"\(encoding)\" }", "}",
        ]
      }
    }
  }

  /// Why something has no Swift spelling.
  struct Problem: Error {
    let text: String
  }

  /// A method key.
  private struct Key {
    private let comment: [String]
    private let parameterCount: Int
    private let types: String
    /// The Swift type of the result.
    let result: String
    /// The names in the key's types.
    let typeNames: Set<String>

    init(_ function: EncodedFunction, _ title: String) throws(Problem) {
      if let problem = function.encoding.problem {
        throw Problem(text: "\(problem.prefix { $0 != "\n" })")
      }
      if function.isVariadic { throw Problem(text: "it is variadic") }
      if !function.encoding.stated.isEmpty {
        throw Problem(text: "a struct that is passed by value has a layout to state")
      }
      let context = function.context
      var types: [String] = []
      for (index, parameter) in function.parameters.enumerated() where index != context {
        types.append(try SwiftType.spelling(of: parameter.type))
      }
      result = try SwiftType.spelling(of: function.result)
      let whole = "(\(types.joined(separator: ", "))) -> \(result)"
      self.types = "(\(whole)).self"
      typeNames = Set(
        whole.replacing("@convention(c)", with: "")
          .split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
      parameterCount = types.count
      var comment = ["`\(title)`: `\(function.encoding.text ?? "")`."]
      if let context {
        comment.append(
          "\(Self.name(context, of: function)) is taken for the context, and left out: "
            + "`context: \(Self.position(context, of: function))`.")
      } else if function.contexts.isEmpty {
        comment.append("It has no context.")
      } else {
        let names = function.contexts.sorted().map { Self.name($0, of: function) }
        let position = Self.position(function.contexts[0], of: function)
        comment.append(
          "\(names.joined(separator: " or ")) may be the context. The key has it as a parameter, so it needs no"
        )
        comment.append(
          "`context:`. A key without it would need, for example, `context: \(position)`.")
      }
      if function.kind == .member { comment.append("Field: `\\\(function.name)`.") }
      self.comment = comment
    }

    /// `Parameter 4 (userdata)`.
    private static func name(_ parameter: Int, of function: EncodedFunction) -> String {
      let name = function.parameters[parameter].name
      return "Parameter \(parameter + 1)" + (name.isEmpty ? "" : " (`\(name)`)")
    }

    /// The `ContextPosition` of a parameter.
    fileprivate static func position(_ parameter: Int, of function: EncodedFunction) -> String {
      switch parameter {
      case 0: ".first"
      case function.parameters.count - 1: ".last"
      default: ".at(\(parameter))"
      }
    }

    func declaration(_ identifier: String) -> String {
      let selector = identifier.filter { $0 != "`" } + String(repeating: ":", count: parameterCount)
      let lines =
        comment.map { "  /// \($0)" } + [
          "  static let \(identifier) = Method(", "    \"\(selector)\",", "    \(types))",
        ]
      return lines.joined(separator: "\n")
    }
  }
}

// MARK: - Types

/// How Swift spells a type that it imports from C.
private enum SwiftType {
  static func spelling(of type: CType) throws(SwiftSource.Problem) -> String {
    if let name = named(type) { return name }
    let bare = type.canonical
    if let number = number(bare) { return number }
    switch bare.kind {
    case clang_type_void: return "Void"
    case clang_type_pointer: return try pointer(type)
    case clang_type_array, clang_type_incomplete_array, clang_type_variable_array:
      return pointer(to: try spelling(of: bare.element), bare.element, "?")
    case clang_type_enum:
      let name = TypeEncoder.name(bare)
      return name == "?" ? try spelling(of: bare.declaration.enumType) : name
    case clang_type_record:
      throw SwiftSource.Problem(
        text: "\(type.spelling) is passed by value: conform it to TypeEncodable")
    default: throw SwiftSource.Problem(text: "\(type.spelling) has no spelling in Swift")
    }
  }

  /// The name of a C enum; nil for other types, and for an enum without a name.
  static func enumName(of type: CType) throws(SwiftSource.Problem) -> String? {
    guard type.canonical.kind == clang_type_enum else { return nil }
    let name = try spelling(of: type)
    return name == TypeEncoder.name(type.canonical) ? name : nil
  }

  /// Typedefs that Swift imports as types of its own.
  private static func named(_ type: CType) -> String? {
    let names = [
      "size_t": "Int", "ssize_t": "Int", "ptrdiff_t": "Int", "intptr_t": "Int",
      "uintptr_t": "UInt", "int8_t": "Int8", "uint8_t": "UInt8", "int16_t": "Int16",
      "uint16_t": "UInt16", "int32_t": "Int32", "uint32_t": "UInt32", "int64_t": "Int64",
      "uint64_t": "UInt64",
    ]
    var type = type
    while type.kind == clang_type_typedef || type.kind == clang_type_elaborated {
      let declaration = type.declaration
      guard declaration.kind == clang_cursor_typedef else { return nil }
      if let name = names[declaration.name] { return name }
      type = declaration.underlyingType
    }
    return nil
  }

  private static func number(_ type: CType) -> String? {
    switch type.kind {
    case clang_type_bool: "Bool"
    case clang_type_char_s, clang_type_char_u: "CChar"
    case clang_type_schar: "Int8"
    case clang_type_uchar: "UInt8"
    case clang_type_short: "Int16"
    case clang_type_ushort: "UInt16"
    case clang_type_int: "Int32"
    case clang_type_uint: "UInt32"
    case clang_type_long: type.size == 8 ? "Int" : "Int32"
    case clang_type_ulong: type.size == 8 ? "UInt" : "UInt32"
    case clang_type_longlong: "Int64"
    case clang_type_ulonglong: "UInt64"
    case clang_type_float: "Float"
    case clang_type_double: "Double"
    default: nil
    }
  }

  private static func pointer(_ type: CType) throws(SwiftSource.Problem) -> String {
    let written = type.desugared
    let pointee = written.kind == clang_type_pointer ? written.pointee : type.canonical.pointee
    let mark = type.isNonNull ? "" : "?"
    let bare = pointee.canonical
    switch bare.kind {
    case clang_type_void:
      return (pointee.isConst ? "UnsafeRawPointer" : "UnsafeMutableRawPointer") + mark
    case clang_type_function:
      guard let function = type.function, !function.type.isVariadic else {
        throw SwiftSource.Problem(text: "\(type.spelling) is variadic")
      }
      var types: [String] = []
      for argument in function.type.arguments { types.append(try spelling(of: argument)) }
      let result = try spelling(of: function.type.result)
      return "(@convention(c) (\(types.joined(separator: ", "))) -> \(result))\(mark)"
    case clang_type_record:
      if bare.size == nil { return "OpaquePointer" + mark }
      let name = TypeEncoder.name(pointee)
      if name == "?" {
        throw SwiftSource.Problem(text: "\(type.spelling) points to a struct without a name")
      }
      return pointer(to: name, pointee, mark)
    default:
      return pointer(to: try spelling(of: pointee), pointee, mark)
    }
  }

  private static func pointer(to name: String, _ pointee: CType, _ mark: String) -> String {
    "\(pointee.isConst ? "UnsafePointer" : "UnsafeMutablePointer")<\(name)>\(mark)"
  }
}

// MARK: - Names

/// Names of Swift made of names of C.
private enum SwiftName {
  /// Names that have not been given to anything else.
  struct Pool {
    private var taken: Set<String>

    init(taken: Set<String>) { self.taken = taken }

    mutating func take(_ name: String) -> String {
      var candidate = name
      var number = 1
      while !taken.insert(candidate).inserted {
        number += 1
        candidate = "\(name)\(number)"
      }
      return candidate
    }
  }

  /// `sqlite3_exec/callback` is `sqlite3ExecCallback`.
  static func lowerCamel(_ name: String) -> String {
    let parts = words(name)
    let first = parts.first ?? "callback"
    // An acronym in front is lowercased as a whole: `XMLParse`, `xmlParse`.
    let upper = first.prefix { $0.isUppercase }
    let head =
      upper.count <= 1 || upper.count == first.count
      ? upper.lowercased() : upper.dropLast().lowercased() + String(upper.suffix(1))
    let joined = head + first.dropFirst(upper.count) + parts.dropFirst().map(capitalized).joined()
    return escaped(joined)
  }

  static func upperCamel(_ name: String) -> String { words(name).map(capitalized).joined() }

  private static func words(_ name: String) -> [String] {
    name.split { !$0.isASCII || !($0.isLetter || $0.isNumber) }.map(String.init)
  }

  private static func capitalized(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }

  static func escaped(_ name: String) -> String {
    if name.first?.isNumber ?? true { return "_" + name }
    return isKeyword(name) ? "`\(name)`" : name
  }

  static func isKeyword(_ name: String) -> Bool {
    let keywords: Set = [
      "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
      "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
      "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil",
      "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows",
      "return",
      "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
      "typealias", "var", "where", "while",
    ]
    return keywords.contains(name)
  }
}
