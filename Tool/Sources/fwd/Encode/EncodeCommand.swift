// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import ArgumentParser
import Forwarding
import Foundation

/// `fwd encode`: C declarations as encodings.
struct EncodeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "encode",
    abstract: "Spells C declarations as encodings.",
    discussion: """
      Give a declaration or a type, in quotes:

        fwd encode 'int (*)(void *, int)'
        fwd encode 'double cos(double)'

      or headers, and the names of functions, callbacks and structs in them. Without names, all that the \
      headers themselves declare:

        fwd encode --header sqlite3.h sqlite3_update_hook
        fwd encode --header expat.h --swift --import CExpat

      -I DIRECTORY, -D NAME=VALUE and other flags go to the C compiler, in their order. The output of pkg-config \
      can be given as it is:

        fwd encode --header libxml/parser.h $(pkg-config --cflags libxml-2.0)

      A function's parameters of a function type are callbacks, shown as NAME/PARAMETER, or by the name of \
      their typedef; function pointers in structs are shown as STRUCT.FIELD. `context` marks the parameters of \
      type `void *`, the likeliest first. A struct that its encoding does not describe completely (bit-fields, \
      attributes) comes with the layout to state.

      libclang reads the declarations. It is part of the Swift toolchain and of Debian's libclang-dev; \
      FWD_LIBCLANG can name the file.
      """)

  @Argument(
    help: ArgumentHelp(
      "Declarations, types, or names that a header declares.", valueName: "declaration-or-name"))
  var items: [String] = []

  @Option(
    name: .customLong("header"),
    help: ArgumentHelp(
      "A header to read, in the order in which C would include it.", valueName: "file"))
  var headers: [String] = []

  @Option(
    name: .customLong("flag"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "A flag to pass to the C compiler. Needed for flags that the tool would refuse or take for its own, such as --sysroot=/.",
      valueName: "flag"))
  var flags: [String] = []

  enum Format: String, EnumerableFlag {
    case swift, json

    static func help(for value: Format) -> ArgumentHelp? {
      switch value {
      case .swift: "Write a Swift file of method keys, and a protocol table of them."
      case .json: "Write JSON."
      }
    }
  }

  @Flag(exclusivity: .exclusive)
  var format: Format?

  @Option(
    name: .customLong("import"),
    help: ArgumentHelp(
      "A module that the Swift file imports, with the C types.", valueName: "module"))
  var modules: [String] = []

  @Option(
    help: ArgumentHelp(
      "The name of the enum in the Swift file. By default that of the last header.",
      valueName: "enum"))
  var name: String?

  func validate() throws {
    if items.isEmpty && headers.isEmpty {
      throw ValidationError("Give a declaration, or a header with --header.")
    }
    // libclang would refuse it without saying why, and leak memory.
    if let last = flags.last, Self.flagsWithValues.contains(last) {
      throw ValidationError("The compiler's flag \(last) needs a value.")
    }
    if format != .swift, name != nil || !modules.isEmpty {
      throw ValidationError("\(name == nil ? "--import" : "--name") is for --swift.")
    }
    if let name, !Self.isName(name) {
      throw ValidationError("\"\(name)\" cannot be the name of an enum in the Swift file.")
    }
    if let module = modules.first(where: {
      !$0.split(separator: ".").allSatisfy { Self.isName(String($0)) } || $0.isEmpty
    }) {
      throw ValidationError("\"\(module)\" cannot be the name of a module.")
    }
    if headers.isEmpty, let item = items.first(where: { !Self.isDeclaration($0) }) {
      throw ValidationError(
        "\"\(item)\" is a name: --header tells where it is declared. A type alone is quoted with its blanks."
      )
    }
  }

  /// Whether Swift can have it as the name of a type.
  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.first?.isNumber == false && !SwiftSource.isReserved(text)
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "_" }
  }

  /// Whether an item is C, and not the name of something.
  private static func isDeclaration(_ item: String) -> Bool {
    item.contains { "(* ;{".contains($0) }
  }

  func run() throws {
    try reporting {
      let clang = try Clang.load()
      let options = Source.Options(headers: headers, flags: flags)
      var found = EncodedDeclarations()
      for item in items where Self.isDeclaration(item) {
        try found.add(declaration: item, clang, options)
      }
      let names = items.filter { !Self.isDeclaration($0) }
      if !headers.isEmpty && (!names.isEmpty || items.isEmpty) {
        try found.add(names: names, clang, options)
      }
      switch format {
      case .swift:
        try printOutput(
          SwiftSource(found, name: name, headers: headers, modules: modules).text)
      case .json: try printOutput(found.json() + "\n")
      case nil: try printOutput(found.text(style: .standard))
      }
    }
  }
}

extension EncodeCommand {
  /// Writes the compiler flags among the arguments of `fwd encode` as options that the
  /// parser of arguments knows, so that what pkg-config prints can be given as it is.
  ///
  /// The flags become values of `--flag`, which keep their order: `-U` ends an earlier `-D`.
  static func readingCompilerFlags(_ arguments: [String]) -> [String] {
    guard arguments.first == configuration.commandName else { return arguments }
    let options = arguments.prefix { $0 != "--" }
    var result: [String] = []
    var isValue = false
    for argument in options {
      if result.last == "--flag" {
        result.append(argument)
      } else if isValue {
        result += ["--flag", argument]
        isValue = false
      } else if flagsWithValues.contains(argument) {
        result += ["--flag", argument]
        isValue = true
      } else if flagPrefixes.contains(where: { argument.hasPrefix($0) }) {
        result += ["--flag", argument]
      } else {
        result.append(argument)
      }
    }
    return result + arguments.dropFirst(options.count)
  }

  /// Compiler flags with a value, in the same word or in the next one.
  private static let flagsWithValues = [
    "-D", "-I", "-U", "-L", "-l", "-framework", "-idirafter", "-imacros", "-include", "-iquote",
    "-isysroot", "-isystem", "-mllvm", "-target",
  ]

  /// How compiler flags begin. A word that begins otherwise is likely a misspelled option of the tool.
  private static let flagPrefixes =
    flagsWithValues + ["-f", "-m", "-O", "-W", "-g", "-std=", "-pthread", "-pipe"]
}

/// What a run has found, in the order of the source.
struct EncodedDeclarations {
  private(set) var functions: [EncodedFunction] = []
  private(set) var structs: [EncodedStruct] = []
  private(set) var types: [EncodedType] = []
  /// Types refer to them.
  private var sources: [Source] = []

  mutating func add(
    declaration: String, _ clang: Clang, _ options: Source.Options, spellsPointees: Bool = false
  ) throws {
    let source = try Source.declaration(clang, declaration, options)
    let reader = DeclarationReader(
      source, wanted: [], spellsPointees: spellsPointees, isWhole: false
    ) { $0 == Source.name }
    functions += reader.functions
    structs += reader.structs
    types += reader.types
    sources.append(source)
    if reader.functions.isEmpty && reader.structs.isEmpty && reader.types.isEmpty {
      throw Failure(
        .dataError, "\"\(declaration)\" declares no function, function pointer, struct or type")
    }
  }

  mutating func add(names: [String], _ clang: Clang, _ options: Source.Options) throws {
    let source = try Source.headers(clang, options)
    let files = Set(source.root.children.map(\.file))
    // A header may include another one of its name, in a directory below.
    let own = options.headers.compactMap { header in
      files.filter { ("/" + $0).hasSuffix("/" + header) || $0 == header }
        .min { $0.count < $1.count }
    }
    let reader = DeclarationReader(source, wanted: names, isWhole: names.isEmpty) {
      own.contains($0)
    }
    for name in names where !reader.names.contains(name) {
      let near = nearest(to: name, among: reader.names).map { "; did you mean \"\($0)\"?" } ?? ""
      throw Failure(
        .dataError, "no header declares \"\(name)\"\(near)")
    }
    for name in names
    where !reader.functions.contains(where: { $0.name == name || $0.name.hasPrefix(name + ".") })
      && !reader.structs.contains(where: { $0.name == name })
    {
      throw Failure(.dataError, "\"\(name)\" is no function, callback or complete struct")
    }
    functions += reader.functions
    structs += reader.structs
    sources.append(source)
  }
}
