// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Forwarding
import Foundation
import Testing

@Suite struct LibraryTests {
  private func expect(
    _ code: ForwardingError.Code, _ parts: String..., when body: () throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(sourceLocation: sourceLocation) {
      try body()
    } throws: { error in
      let isRight = (error as? ForwardingError)?.code == code
      return isRight && parts.allSatisfy { "\(error)".contains($0) }
    }
  }

  #if os(Linux)
    @Test func `functions of a library`() throws {
      let math = try Library("libm.so.6")
      let cosine = try unsafe math.function("cos", as: ((Double) -> Double).self)
      #expect(try cosine(0) == 1)
      let power = try unsafe math.function("pow", as: ((Double, Double) -> Double).self)
      #expect(try power(2, 10) == 1024)
      let floored: @Sendable (Float) throws(ForwardingError) -> Float = try unsafe math.function(
        "floorf")
      #expect(try floored(-1.5) == -2)
    }

    @Test func `a version of a symbol`() throws {
      let library = try Library("libc.so.6")
      let copy = try unsafe library.symbol("memcpy@GLIBC_2.14")
      #expect(try unsafe copy == library.symbol("memcpy@@GLIBC_2.14"))
      expect(.symbolNotFound, "\"libc.so.6\"", "memcpy@GLIBC_9") {
        _ = try unsafe library.symbol("memcpy@GLIBC_9")
      }
    }

    @Test func `a variable is no function`() throws {
      expect(.symbolNotFound, "\"libc.so.6\"", "\"environ\"", "a variable, not a function") {
        _ = try unsafe Library("libc.so.6").symbol("environ")
      }
    }

    @Test func `a file that is no library`() throws {
      let path = FileManager.default.temporaryDirectory.appendingPathComponent(
        "text-\(UUID().uuidString).so"
      ).path
      try "This is text, and no library at all. It is long enough for a header.".write(
        toFile: path, atomically: true, encoding: .utf8)
      defer { try? FileManager.default.removeItem(atPath: path) }
      expect(.libraryNotLoaded, path, "invalid ELF header") { _ = try Library(path) }
    }
  #endif

  @Test func `functions of the program itself`() throws {
    let length = try unsafe Library().function("strlen", as: ((String) -> Int).self)
    #expect(try length("four") == 4)
    #expect(try length("") == 0)
    expect(.valueNotRepresentable, "NUL") { _ = try length("fo\0ur") }
  }

  @Test func `strings and optionals as results`() throws {
    let variable = try unsafe Library().function("getenv", as: ((String) -> String?).self)
    #expect(try variable("PATH") == ProcessInfo.processInfo.environment["PATH"])
    #expect(try variable("NO SUCH VARIABLE") == nil)
    let required = try unsafe Library().function("getenv", as: ((String) -> String).self)
    expect(.nullPointer, "null") { _ = try required("NO SUCH VARIABLE") }
  }

  @Test func `functions without arguments or result`() throws {
    let identifier = try unsafe Library().function("getpid", as: (() -> Int32).self)
    #expect(try identifier() == getpid())
    let free = try unsafe Library().function("free", as: ((UnsafeMutableRawPointer?) -> Void).self)
    try unsafe free(malloc(10))
    try free(nil)
  }

  @Test func `errno after a call`() throws {
    let open = try unsafe Library().function("open", as: ((String, Int32) -> Int32).self)
    errno = 0
    #expect(try open("/no such file", O_RDONLY) == -1)
    #expect(errno == ENOENT)
  }

  @Test func `functions are called on many threads`() async throws {
    let absolute = try unsafe Library().function("labs", as: ((Int) -> Int).self)
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask { (0..<1000).allSatisfy { (try? absolute(-$0 - task)) == $0 + task } }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  @Test func `names that do not exist`() throws {
    expect(.libraryNotLoaded, "\"libno-such.so.1\"", "No such file") {
      _ = try Library("libno-such.so.1")
    }
    expect(.symbolNotFound, "the program itself", "\"no_such_function\"") {
      _ = try unsafe Library().symbol("no_such_function")
    }
    expect(.invalidName, "empty") { _ = try unsafe Library().symbol("") }
    expect(.invalidName, "empty") { _ = try Library("") }
    expect(.invalidName, "NUL") { _ = try Library("libm\0.so.6") }
    expect(.invalidName, "NUL") { _ = try unsafe Library().symbol("co\0s") }
  }

  @Test func `types without an encoding`() throws {
    expect(.noEncoding, "parameter 2 of the function \"labs\"", "Array<Int>") {
      _ = try unsafe Library().function("labs", as: ((Int, [Int]) -> Int).self)
    }
    expect(.noEncoding, "the result of the function \"labs\"") {
      _ = try unsafe Library().function("labs", as: ((Int) -> [Int]).self)
    }
  }
}
