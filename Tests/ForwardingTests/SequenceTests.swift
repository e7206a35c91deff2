// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import CTestFixtures
import Foundation
import Testing

@testable import Forwarding

/// Calls of the library inside each kind of function that a program passes to it.
///
/// The table is in Tests/Support/CTestFixtures: `sequence_calls.c` has the rows, `sequences.c` and
/// `sequence_columns.c` the columns. scripts/library runs the column of failing allocations.
@Suite struct SequenceTests {
  // In processes of their own: rows change what the whole process shares, and a child of a fork
  // would inherit the threads of other tests.
  @Test func `every C function gives its expected status in every situation`() async throws {
    let path = Self.newPath()
    await #expect(processExitsWith: .success) { [path = path as String] in
      Self.writeErrors(to: path)
      #expect(sequences_run() == 0)
    }
    Self.show(path)
  }

  @Test func `every C function gives its expected status in forked children`() async throws {
    let path = Self.newPath()
    await #expect(processExitsWith: .success) { [path = path as String] in
      Self.writeErrors(to: path)
      #expect(sequences_run_forked() == 0)
    }
    Self.show(path)
  }

  // A file, since a process that has failed gives a test nothing of its output.

  private static func newPath() -> String {
    FileManager.default.temporaryDirectory.appending(path: "fwd-sequences-\(UUID())").path
  }

  /// Has the process write its standard error to a file.
  private static func writeErrors(to path: String) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    dup2(file, STDERR_FILENO)
  }

  /// Prints what a process has written about its failures. The testing library writes other bytes to the file, too.
  private static func show(_ path: String) {
    let bytes = FileManager.default.contents(atPath: path) ?? Data()
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    for line in lines where line.contains(/sequences\.c|\[0x/) { print(line) }
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Functions of forwarding.h that have no row, each with the reason.
  private static let exceptions: [String: String] = [:]

  @Test func `every function of forwarding.h has a row`() throws {
    let header = try Self.text("CShims/include/forwarding.h")
    let code = header.split(separator: "\n").filter { !$0.contains(/^\s*(\/\/|#)/) }
      .joined(separator: "\n")
    // The first name before a parenthesis of each exported declaration.
    let declared = Set(
      code.matches(of: /FWD_API\s[^;]*;/).compactMap {
        $0.output.firstMatch(of: /\b(fwd_[a-z0-9_]+)\(/).map { String($0.output.1) }
      })
    #expect(declared.count > 50)

    var named: Set<String> = []
    for index in 0... {
      guard let row = unsafe sequences_row(index) else { break }
      // SAFETY: the name is a literal.
      let name = unsafe String(cString: row)
      named.formUnion(name.matches(of: /\bfwd_[a-z0-9_]+/).map { String($0.output) })
    }
    #expect(declared.subtracting(named).subtracting(Self.exceptions.keys).sorted() == [])
    #expect(named.union(Self.exceptions.keys).subtracting(declared).sorted() == [])
    #expect(named.intersection(Self.exceptions.keys).sorted() == [])

    // A row that names a function calls it.
    let rows = try Self.text("Tests/Support/CTestFixtures/sequence_calls.c")
    let called = Set(rows.matches(of: /\b(fwd_[a-z0-9_]+)\(/).map { String($0.output.1) })
    #expect(named.subtracting(called).sorted() == [])
  }

  /// Returns the contents of a file of the package.
  private static func text(_ path: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// Calls the proxy that is being deinitialised, through a reference that
  /// counts nothing.
  @safe private final class Asker: @unchecked Sendable {
    let errors: Lock<[ForwardingError.Code]>
    let proxy: Unmanaged<DynamicProxy>
    let subscription = Lock<DynamicProxy.Subscription?>(nil)

    init(_ proxy: DynamicProxy, _ errors: Lock<[ForwardingError.Code]>) {
      unsafe self.proxy = Unmanaged.passUnretained(proxy)
      self.errors = errors
    }

    deinit {
      // SAFETY: the proxy has begun to deinitialise, and exists until this
      // subscriber is gone.
      unsafe proxy._withUnsafeGuaranteedRef { proxy in
        note { () throws(ForwardingError) in try proxy.send("ping:", Int32(1)) }
        note { () throws(ForwardingError) in
          try proxy.subscribe(Late.shared) { $0.on("ping:") { (_: Late, _: Int32) in } }
        }
        note { () throws(ForwardingError) in _ = try proxy.functionPointer(for: "ping:") }
        note { () throws(ForwardingError) in
          do {
            try proxy.withBatch {}
          } catch {
            throw error as? ForwardingError ?? ForwardingError(.outOfMemory, "\(error)")
          }
        }
        #expect(proxy.count == 0 && !proxy.responds(to: "ping:"))
        #expect(proxy.liveSubscribers.isEmpty && !proxy.contains(Late.shared))
        #expect(!proxy.unsubscribe(Late.shared))
      }
      let subscription = subscription.withLock { $0 }
      #expect(subscription?.cancel() == false && subscription?.isLive == false)
    }

    private func note(_ body: () throws(ForwardingError) -> Void) {
      do throws(ForwardingError) {
        try body()
        Issue.record("a proxy that is being deinitialised took a call")
      } catch {
        errors.withLock { $0.append(error.code) }
      }
    }
  }

  private final class Late: Sendable {
    static let shared = Late()
  }

  @Test func `a proxy that is being deinitialised refuses calls with an error`() throws {
    let errors = Lock<[ForwardingError.Code]>([])
    do {
      let proxy = try DynamicProxy.pinging()
      for _ in 0..<3 {
        let asker = Asker(proxy, errors)
        let subscription = try proxy.subscribe(asker, lifetime: .strong) {
          $0.on("ping:") { (_: Asker, _: Int32) in }
        }
        asker.subscription.withLock { $0 = subscription }
      }
      #expect(proxy.count == 3)
    }
    #expect(errors.withLock { $0 } == Array(repeating: .dead, count: 12))
  }
}
