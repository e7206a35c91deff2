// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CClangIndex
import Foundation

/// libclang, which reads C. It is found and loaded at run time.
@safe final class Clang {
  let functions: clang_index
  /// Where it was found.
  let path: String

  private init(_ functions: clang_index, path: String) {
    self.functions = functions
    self.path = path
  }

  /// Loads libclang from the first place that has one: the environment variable
  /// `FWD_LIBCLANG`, the toolchains in the search path, the usual directories.
  static func load() throws -> Clang {
    var tried: [String] = []
    for path in candidates() {
      switch open(path) {
      case .success(let clang): return clang
      case .failure(let failure): tried.append(failure.message)
      }
      // FWD_LIBCLANG names the library that the user wants, so no other one is tried.
      if environment("FWD_LIBCLANG") != nil { break }
    }
    let list = tried.isEmpty ? "" : "\n" + tried.map { "  tried: \($0)" }.joined(separator: "\n")
    throw Failure(
      .unavailable,
      "reading C declarations needs libclang, which was not found. It is part of the Swift toolchain and of "
        + "the Debian package libclang-dev; FWD_LIBCLANG can name the file\(list)")
  }

  private static func open(_ path: String) -> Result<Clang, Failure> {
    var functions = clang_index()
    var reason = [CChar](repeating: 0, count: 1024)
    guard unsafe clang_index_open(path, &functions, &reason, reason.count) else {
      let text = reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      return .failure(Failure(.unavailable, String(decoding: text, as: UTF8.self)))
    }
    return .success(Clang(functions, path: path))
  }

  /// Files that may be libclang, those of the toolchain first.
  private static func candidates() -> [String] {
    if let named = environment("FWD_LIBCLANG") { return [named] }
    var found: [String] = []
    for compiler in ["swiftc", "clang"] {
      guard let program = inSearchPath(compiler) else { continue }
      // .../usr/bin/clang is beside .../usr/lib/libclang.so.
      let root = URL(filePath: program).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent()
      found += libraries(in: root.appending(path: "lib").path)
    }
    for directory in ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64"] {
      found += libraries(in: directory)
    }
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
    for version in versions.filter({ $0.hasPrefix("llvm-") }).sorted(by: isNewer) {
      found += libraries(in: "/usr/lib/\(version)/lib")
    }
    var seen: Set<String> = []
    return found.filter { seen.insert($0).inserted }
  }

  /// The files of a directory that have libclang's name, the one without a
  /// version first, then the newest.
  private static func libraries(in directory: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    return names.filter { $0.hasPrefix("libclang.so") || $0.hasPrefix("libclang-1") }
      .filter { !$0.contains("cpp") }
      .sorted { $1 != "libclang.so" && ($0 == "libclang.so" || isNewer($0, $1)) }
      .map { "\(directory)/\($0)" }
  }

  /// Whether a name has the higher version.
  private static func isNewer(_ name: String, _ other: String) -> Bool {
    name.compare(other, options: .numeric) == .orderedDescending
  }

  /// The first program of a name in the search path.
  static func inSearchPath(_ name: String) -> String? {
    (environment("PATH") ?? "").split(separator: ":").map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// The directory of the compiler's own headers, such as stddef.h.
  var resourceDirectory: String? {
    // The libraries of a toolchain stand beside lib/clang/VERSION.
    let library = URL(filePath: path).resolvingSymlinksInPath().deletingLastPathComponent()
    var roots = [library.appending(path: "clang").path]
    // Debian's are in /usr/lib/llvm-VERSION/lib/clang, or /usr/lib/clang.
    roots.append("/usr/lib/clang")
    for root in roots {
      let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
      for version in versions.sorted(by: Self.isNewer)
      where FileManager.default.fileExists(atPath: "\(root)/\(version)/include/stddef.h") {
        return "\(root)/\(version)"
      }
    }
    return nil
  }

  /// Where something stands, as the source names it.
  func place(of location: clang_location) -> (file: String, line: Int, column: Int) {
    var file = unsafe clang_string()
    var line: UInt32 = 0
    var column: UInt32 = 0
    unsafe functions.getPresumedLocation(location, &file, &line, &column)
    return unsafe (text(file), Int(line), Int(column))
  }

  /// Takes over a string of libclang's.
  func text(_ string: clang_string) -> String {
    defer { unsafe functions.disposeString(string) }
    guard let bytes = unsafe functions.getCString(string) else { return "" }
    return unsafe String(cString: bytes)
  }
}
