// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation

/// A directory that is removed with this object, whatever stands in it. Names
/// are bytes, as for the system.
final class TemporaryTree {
  let path: String

  init() throws {
    var template = Array(
      (NSTemporaryDirectory() as NSString).appendingPathComponent("fwd-XXXXXX").utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    // Directories that were made unreadable are opened again.
    for command in ["chmod -R u+rwx -- \"$0\"", "rm -rf -- \"$0\""] {
      let process = Process()
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", command, path]
      process.standardError = FileHandle.nullDevice
      try? process.run()
      process.waitUntilExit()
    }
  }

  private func bytes(_ name: [UInt8]) -> [CChar] {
    (Array(path.utf8) + [UInt8(ascii: "/")] + name + [0]).map { CChar(bitPattern: $0) }
  }

  private func check(_ result: Int32) throws {
    if result != 0 { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
  }

  /// Makes a file of a size, which takes no room.
  func makeFile(_ name: [UInt8], size: Int = 0) throws {
    let descriptor = unsafe open(bytes(name), O_CREAT | O_WRONLY | O_EXCL, 0o644)
    guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    defer { close(descriptor) }
    try check(ftruncate(descriptor, off_t(size)))
  }

  func makeFile(_ name: String, size: Int = 0) throws { try makeFile(Array(name.utf8), size: size) }

  func makeDirectory(_ name: String, mode: mode_t = 0o755) throws {
    try check(unsafe mkdir(bytes(Array(name.utf8)), 0o755))
    try changeMode(name, mode)
  }

  func changeMode(_ name: String, _ mode: mode_t) throws {
    try check(unsafe chmod(bytes(Array(name.utf8)), mode))
  }

  func makeLink(_ name: String, to target: String) throws {
    try check(unsafe symlink(target, bytes(Array(name.utf8))))
  }

  /// Gives a file another name.
  func makeName(_ name: String, of file: String) throws {
    try check(unsafe link(bytes(Array(file.utf8)), bytes(Array(name.utf8))))
  }

  func makePipe(_ name: String) throws {
    try check(unsafe mkfifo(bytes(Array(name.utf8)), 0o644))
  }

  func openFile(_ name: String) throws -> FileHandle {
    try makeFile(name)
    return try FileHandle(forWritingTo: URL(filePath: "\(path)/\(name)"))
  }

  func contents(_ name: String) throws -> Data {
    // Not Data(contentsOf:), whose buffers for empty files the leak sanitizer
    // finds.
    try FileHandle(forReadingFrom: URL(filePath: "\(path)/\(name)")).readToEnd() ?? Data()
  }
}

extension TemporaryTree {
  /// A tree with one of everything: links of all kinds, a pipe, and names that
  /// want to break something.
  static func withEverything() throws -> TemporaryTree {
    let tree = try TemporaryTree()
    try tree.makeDirectory("empty")
    try tree.makeDirectory("a")
    try tree.makeDirectory("a/b")
    try tree.makeDirectory("a/b/c.d")
    for (name, size) in [
      ("a/one.txt", 1), ("a/two.txt", 1023), ("a/b/three.txt", 1024), ("a/b/c.d/four.TXT", 4096),
      ("a/.hidden", 5), ("a/.hidden.conf", 6), ("a/archive.tar.gz", 100_000), ("a/ends.", 7),
      ("a/b/c.d/no-extension", 5000), ("zero", 0), ("also zero.txt", 0), ("big.img", 5_000_000_000),
      ("same size 1.dat", 777), ("same size 2.dat", 777), ("a/same size 3.dat", 777),
      ("line\nbreak.txt", 10), ("quote\".txt", 11), ("back\\slash.txt", 12),
      ("escape\u{1B}[31m.txt", 13),
      ("tab\t.t\tt", 14), ("größe 📁.bild", 20_000), ("direction \u{202E}txt.exe", 30_000),
      ("control \u{9B}1m", 15), ("-dash", 16),
    ] {
      try tree.makeFile(name, size: size)
    }
    try tree.makeFile(Array("invalid ".utf8) + [0xFF, 0xFE] + Array(".txt".utf8), size: 2_000_000)
    try tree.makeFile(Array("extension.".utf8) + [0xC3, 0x28], size: 3)
    try tree.makeName("second name.txt", of: "a/two.txt")
    try tree.makeLink("to file", to: "a/one.txt")
    try tree.makeLink("to directory", to: "a")
    try tree.makeLink("to nothing", to: "missing")
    try tree.makeLink("a/to itself", to: "to itself")
    try tree.makeLink("a/b/up", to: "../..")
    try tree.makePipe("pipe")
    return tree
  }
}
