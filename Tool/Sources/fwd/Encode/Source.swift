// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CClangIndex
import Foundation

/// C source that libclang has read without an error.
@safe final class Source {
  struct Options {
    var headers: [String] = []
    /// Flags of the compiler, in its order.
    var flags: [String] = []
  }

  /// What libclang complains of.
  struct Complaint: Error {
    let place: String
    let line: Int
    let column: Int
    let message: String
  }

  let clang: Clang
  private let index: UnsafeMutableRawPointer
  private let unit: UnsafeMutableRawPointer
  let root: Cursor

  /// The name of the source itself.
  static let name = "declaration"

  /// Reads source.
  ///
  /// - Throws: the first `Complaint` that is an error. After an error, types can
  ///   be wrong: an unknown `size_t` would be read as an int. A `Failure` if the
  ///   error is in the flags.
  init(_ clang: Clang, _ text: String, _ options: Options) throws {
    self.clang = clang
    let functions = clang.functions
    guard let index = functions.createIndex(0, 0) else {
      throw Failure(.software, "libclang has no memory")
    }
    var arguments = ["-xc", "-std=gnu17", "-w"]
    if let directory = clang.resourceDirectory { arguments += ["-resource-dir", directory] }
    arguments += options.flags
    let copies = unsafe arguments.map { unsafe strdup($0) }
    defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
    let pointers = unsafe copies.map { unsafe UnsafePointer($0) }
    var unit: UnsafeMutableRawPointer?
    let status = unsafe text.withCString { contents in
      unsafe Self.name.withCString { name in
        var file = unsafe clang_unsaved_file(
          name: name, contents: contents, length: UInt(strlen(contents)))
        // Bodies of functions are skipped: CXTranslationUnit_SkipFunctionBodies is 0x40.
        return unsafe functions.parseTranslationUnit2(
          index, name, pointers, Int32(pointers.count), &file, 1, 0x40, &unit)
      }
    }
    guard status == 0, let unit = unsafe unit else {
      unsafe functions.disposeIndex(index)
      let reason = "libclang cannot read the source (its status \(status))"
      // A flag without its value gives no diagnostic.
      throw options.flags.isEmpty
        ? Failure(.software, reason)
        : Failure(.usage, "\(reason) with the flags \(options.flags.joined(separator: " "))")
    }
    unsafe self.index = index
    unsafe self.unit = unit
    root = unsafe Cursor(clang, functions.getTranslationUnitCursor(unit))
    guard let complaint = firstError() else { return }
    // Only what is wrong with the flags has no place.
    if complaint.place.isEmpty && !options.flags.isEmpty {
      throw Failure(.usage, "the compiler refuses its flags: \(complaint.message)")
    }
    throw complaint
  }

  deinit {
    unsafe clang.functions.disposeTranslationUnit(unit)
    unsafe clang.functions.disposeIndex(index)
  }

  private func firstError() -> Complaint? {
    let functions = clang.functions
    for number in unsafe 0..<functions.getNumDiagnostics(unit) {
      let diagnostic = unsafe functions.getDiagnostic(unit, number)
      defer { unsafe functions.disposeDiagnostic(diagnostic) }
      // CXDiagnostic_Error is 3, and worse follows.
      guard unsafe functions.getDiagnosticSeverity(diagnostic) >= 3 else { continue }
      let place = unsafe clang.place(of: functions.getDiagnosticLocation(diagnostic))
      return unsafe Complaint(
        place: place.file, line: place.line, column: place.column,
        message: clang.text(functions.getDiagnosticSpelling(diagnostic)))
    }
    return nil
  }
}

extension Source {
  /// Reads headers.
  static func headers(_ clang: Clang, _ options: Options) throws -> Source {
    do {
      return try Source(clang, includes(options.headers), options)
    } catch let complaint as Complaint {
      throw failure(complaint, among: options.headers, included: name)
    }
  }

  /// The failure to read a header. `included` is the name of the text that includes the headers,
  /// each on a line.
  private static func failure(
    _ complaint: Complaint, among headers: [String], included: String
  ) -> Failure {
    let place =
      complaint.place == included
      ? headers[min(max(complaint.line, 1), headers.count) - 1]
      : "\(complaint.place):\(complaint.line):\(complaint.column)"
    // Clang proposes quotes, which the user cannot write here.
    let isInDirectory = complaint.message.contains("use \"quotes\"")
    let message =
      isInDirectory ? "to read the file in this directory, write ./\(place)" : complaint.message
    let isMissing = isInDirectory || complaint.message.hasSuffix("file not found")
    return Failure(
      isMissing ? .noInput : .dataError,
      "\(place): \(message)\n  nothing was encoded, since types could be wrong after an error; "
        + "--header can name headers that must come first, -I their directories, -D NAME=VALUE macros"
    )
  }

  /// Reads a declaration, or a type alone, such as `int (*)(void *, int)`.
  static func declaration(_ clang: Clang, _ text: String, _ options: Options) throws -> Source {
    // What declarations are most often made of. A function that these declare must
    // have the same types.
    let usual = [
      "stddef.h", "stdint.h", "stdbool.h", "stdarg.h", "stdio.h", "stdlib.h", "string.h", "math.h",
      "time.h", "unistd.h", "sys/types.h",
    ]
    let headers = usual + options.headers
    let included = "headers"
    let start = "# 1 \"\(included)\"\n" + includes(headers)
    let bare = text.trimmingCharacters(in: CharacterSet(charactersIn: "; \n\t"))
    // As a type first: a declaration is none.
    let forms = [
      "typedef __typeof__(\n# 1 \"\(name)\"\n\(bare)\n) \(typeName);\n",
      "\n# 1 \"\(name)\"\n\(bare)\n;\n",
    ]
    var furthest: Complaint?
    for form in forms {
      do {
        return try Source(clang, start + form, options)
      } catch let complaint as Complaint {
        if complaint.place != name && !complaint.place.isEmpty {
          throw failure(complaint, among: headers, included: included)
        }
        let isFurther = furthest.map { (complaint.line, complaint.column) >= ($0.line, $0.column) }
        if isFurther ?? true { furthest = complaint }
      }
    }
    guard let furthest else { throw Failure(.software, "nothing was read") }
    let lines = bare.split(separator: "\n", omittingEmptySubsequences: false)
    let line = lines[min(max(furthest.line, 1), lines.count) - 1]
    let caret = String(repeating: " ", count: max(furthest.column - 1, 0)) + "^"
    throw Failure(
      .dataError, "the C declaration cannot be read: \(furthest.message)\n  \(line)\n  \(caret)")
  }

  /// The name that the type of a declaration gets.
  static let typeName = "fwd_encoded_type"

  private static func includes(_ headers: [String]) -> String {
    headers.map { header in
      let isPath = header.hasPrefix(".") || header.hasPrefix("/")
      return isPath ? "#include \"\(header)\"\n" : "#include <\(header)>\n"
    }.joined()
  }
}
