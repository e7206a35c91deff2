// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CForwarding
import Testing

@testable import Forwarding

/// Bad input gets a typed error, calls nobody and changes nothing.
@Suite struct DynamicProxyErrorsTests {
  let journal = Journal()

  private static let table = ProtocolTable.table("Faulty") {
    $0.optional("mix:of:", "d@:id")
    $0.optional("nothing", "v@:")
    $0.optional("one:", "v@:c")
  }

  private func proxy(
    _ configure: (inout DynamicProxy.Configuration) -> Void = { _ in }
  ) throws -> (DynamicProxy, DynamicProxy.Token) {
    var configuration = DynamicProxy.Configuration()
    configure(&configuration)
    let proxy = try DynamicProxy(adopting: Self.table, configuration: configuration)
    let journal = journal
    let token = try proxy.subscribe {
      $0.on("mix:of:") { (number: Int32, factor: Double) -> Double in
        journal.note("mix")
        return Double(number) * factor
      }
      $0.on("nothing") { journal.note("nothing") }
      $0.on("one:") { (_: Int8) in journal.note("one") }
    }
    return (proxy, token)
  }

  // MARK: Selectors

  @Test func `an unknown selector is an error that names it`() throws {
    let (proxy, token) = try proxy()
    let expected = "no protocol of the proxy declares \"unknown:\"; "
    var errors: [ForwardingError?] = []
    errors.append(#expect(throws: ForwardingError.self) { try proxy.send("unknown:", Int32(1)) })
    errors.append(
      #expect(throws: ForwardingError.self) {
        let _: Int32 = try proxy.send("unknown:", Int32(1))
      })
    errors.append(
      #expect(throws: ForwardingError.self) {
        _ = try proxy.collect("unknown:", as: Int32.self, Int32(1))
      })
    errors.append(#expect(throws: ForwardingError.self) { _ = try proxy.method(for: "unknown:") })
    errors.append(
      #expect(throws: ForwardingError.self) { _ = try proxy.functionPointer(for: "unknown:") })
    errors.append(
      #expect(throws: ForwardingError.self) {
        try proxy.forward(try Invocation("unknown:", try MethodSignature("v@:i")))
      })
    for error in errors {
      #expect(error?.code == .unknownSelector)
      #expect(error?.selector == "unknown:")
      #expect(error?.description.hasPrefix(expected) == true)
    }
    #expect(journal.take().isEmpty)
    #expect(!proxy.responds(to: "unknown:"))
    withExtendedLifetime(token) {}
  }

  @Test func `a name from outside that is unknown is not interned`() throws {
    let (proxy, token) = try proxy()
    for name in ["never seen anywhere:", "", String(repeating: "x", count: 70_000)] {
      #expect(MethodSelector(known: name) == nil)
    }
    #expect(unsafe fwd_selector_find("never seen anywhere:") == nil)
    #expect(MethodSelector(known: "mix:of:") == (try proxy.method(for: "mix:of:").selector))
    withExtendedLifetime(token) {}
  }

  @Test func `an unknown selector may be ignored`() throws {
    let (proxy, token) = try proxy { $0.unknownSelectors = .ignore }
    try proxy.send("unknown:", Int32(1))
    try proxy.send("unknown")
    let invocation = try Invocation("unknown:", try MethodSignature("i@:i"))
    try proxy.forward(invocation)
    #expect(try invocation.result(as: Int32.self) == 0)
    // The result is zero, whatever stood there.
    #expect(try proxy.send("unknown") == Int32(0))
    #expect(try proxy.send("unknown") == 0.0)
    #expect(try proxy.send("unknown") == false)
    let pointer: UnsafeRawPointer? = unsafe try proxy.send("unknown")
    #expect(unsafe pointer == nil)
    let object: Journal? = try proxy.send("unknown")
    #expect(object == nil)
    #expect(try proxy.send("unknown", Int32(3)) == Zero.none)
    // Of references there is no zero.
    let error = #expect(throws: ForwardingError.self) { let _: Journal = try proxy.send("unknown") }
    #expect(error?.code == .unknownSelector)
    #expect(throws: ForwardingError.self) { let _: Nonzero = try proxy.send("unknown") }
    #expect(throws: ForwardingError.self) { let _: Kept = try proxy.send("unknown") }
    #expect(throws: ForwardingError.self) { _ = try proxy.functionPointer(for: "unknown:") }
    #expect(journal.take().isEmpty)
    withExtendedLifetime(token) {}
  }

  // MARK: Sizes

  @Test("a frame of another size is not read", arguments: [0, 1, 8, 15, 17, 32])
  func frames(size: Int) throws {
    let (proxy, token) = try proxy()
    let bytes = [UInt8](repeating: 0, count: size)
    let error = #expect(throws: ForwardingError.self) {
      try unsafe bytes.withUnsafeBytes { bytes in
        try unsafe proxy.method(for: "mix:of:").forward(frame: bytes)
      }
    }
    #expect(error?.code == .wrongSize)
    #expect(error?.selector == "mix:of:")
    #expect(
      error?.description
        == "the argument frame of \"mix:of:\" has \(size) bytes, expected 16 for d@:id")
    #expect(journal.take().isEmpty)
    withExtendedLifetime(token) {}
  }

  @Test("a result buffer of another size is not written", arguments: [0, 1, 4, 7, 9, 16])
  func results(size: Int) throws {
    let (proxy, token) = try proxy()
    let frame = [UInt8](repeating: 0, count: 16)
    let place = UnsafeMutableRawBufferPointer.allocate(byteCount: max(size, 1), alignment: 16)
    defer { unsafe place.deallocate() }
    unsafe place.initializeMemory(as: UInt8.self, repeating: 0xAA)
    let result = unsafe UnsafeMutableRawBufferPointer(rebasing: place.prefix(size))
    var (number, factor): (Int32, Double) = (2, 3)
    unsafe withUnsafeMutablePointer(to: &number) { number in
      unsafe withUnsafeMutablePointer(to: &factor) { factor in
        let pointers = unsafe [UnsafeMutableRawPointer(number), UnsafeMutableRawPointer(factor)]
        for form in ["frame", "arguments"] {
          let error = #expect(throws: ForwardingError.self) {
            if form == "frame" {
              try unsafe frame.withUnsafeBytes {
                try unsafe proxy.method(for: "mix:of:").forward(
                  frame: $0, result: result)
              }
            } else {
              try unsafe pointers.withUnsafeBufferPointer {
                try unsafe proxy.method(for: "mix:of:").forward(arguments: $0, result: result)
              }
            }
          }
          #expect(error?.code == .wrongSize)
          #expect(
            error?.description
              == "the result buffer of \"mix:of:\" has \(size) bytes, expected 8")
        }
      }
    }
    #expect(unsafe place.allSatisfy { $0 == 0xAA })
    #expect(journal.take().isEmpty)
    withExtendedLifetime(token) {}
  }

  @Test func `a void method has no result buffer, or an empty one`() throws {
    let (proxy, token) = try proxy()
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    try unsafe proxy.method(for: "nothing").forward(
      frame: none)
    try unsafe proxy.method(for: "nothing").forward(
      frame: none, result: UnsafeMutableRawBufferPointer(start: nil, count: 0))
    #expect(journal.take() == ["nothing", "nothing"])
    var byte: UInt8 = 7
    unsafe withUnsafeMutableBytes(of: &byte) { byte in
      let error = #expect(throws: ForwardingError.self) {
        try unsafe proxy.method(for: "nothing").forward(
          frame: none, result: byte)
      }
      #expect(error?.code == .wrongSize)
    }
    #expect(byte == 7)
    withExtendedLifetime(token) {}
  }

  @Test("another number of argument pointers is not read", arguments: [0, 1, 3])
  func pointers(count: Int) throws {
    let (proxy, token) = try proxy()
    var value = 0.0
    unsafe withUnsafeMutablePointer(to: &value) { value in
      let pointers = unsafe Array(repeating: UnsafeMutableRawPointer(value), count: count)
      let error = #expect(throws: ForwardingError.self) {
        try unsafe pointers.withUnsafeBufferPointer {
          try unsafe proxy.method(for: "mix:of:").forward(arguments: $0)
        }
      }
      #expect(error?.code == .wrongArgumentCount)
      #expect(
        error?.description == "\"mix:of:\" got \(count) arguments, expected 2 (d@:id)")
    }
    #expect(journal.take().isEmpty)
    withExtendedLifetime(token) {}
  }

  // MARK: Types

  @Test func `arguments of other types are not sent`() throws {
    let (proxy, token) = try proxy()
    let wrongArgument = #expect(throws: ForwardingError.self) {
      let _: Double = try proxy.send("mix:of:", 1.0, 2.0)
    }
    #expect(wrongArgument?.code == .signatureMismatch)
    #expect(wrongArgument?.selector == "mix:of:")
    #expect(
      wrongArgument?.description
        == """
        the method key "mix:of:" of type (Double, Double) -> Double does not fit "d@:id": \
        parameter 1 of "mix:of:" is 'i' (Int32), got Double
        """)
    let wrongResult = #expect(throws: ForwardingError.self) {
      let _: Int32 = try proxy.send("mix:of:", Int32(1), 2.0)
    }
    #expect(wrongResult?.code == .signatureMismatch)
    #expect(
      wrongResult?.description
        == """
        the method key "mix:of:" of type (Int32, Double) -> Int32 does not fit "d@:id": \
        the result of "mix:of:" is 'd' (Double), got Int32
        """)
    let tooFew = #expect(throws: ForwardingError.self) {
      let _: Double = try proxy.send("mix:of:", Int32(1))
    }
    #expect(tooFew?.code == .signatureMismatch)
    #expect(
      tooFew?.description
        == """
        the method key "mix:of:" of type (Int32) -> Double does not fit "d@:id": \
        "mix:of:" takes 2 arguments (d@:id), got 1
        """)
    let tooMany = #expect(throws: ForwardingError.self) {
      try proxy.send("mix:of:", Int32(1), 2.0, 3.0)
    }
    #expect(tooMany?.code == .signatureMismatch)
    #expect(tooMany?.description.contains("takes 2 arguments (d@:id), got 3") == true)
    let string = #expect(throws: ForwardingError.self) { try proxy.send("mix:of:", "1", 2.0) }
    #expect(string?.description.contains("got String") == true)
    let collected = #expect(throws: ForwardingError.self) {
      _ = try proxy.collect("mix:of:", as: Float.self, Int32(1), 2.0)
    }
    #expect(collected?.code == .signatureMismatch)
    #expect(journal.take().isEmpty)
    withExtendedLifetime(token) {}
  }

  @Test func `an invocation of other types is not sent`() throws {
    let (proxy, token) = try proxy()
    let invocation = try Invocation("mix:of:", try MethodSignature("d@:qd"))
    let error = #expect(throws: ForwardingError.self) { try proxy.forward(invocation) }
    #expect(error?.code == .signatureMismatch)
    #expect(error?.description.contains("\"d@:qd\"") == true)
    #expect(error?.description.contains("\"d@:id\"") == true)
    #expect(!invocation.hasResult)
    let inBatch = try proxy.withBatch {
      #expect(throws: ForwardingError.self) { try proxy.forward(invocation) }
    }
    #expect(inBatch?.code == .signatureMismatch)
    #expect(journal.take().isEmpty)
    // Each delivery has a selector of its own, so an invocation needs none.
    try proxy.forward(Invocation("mix:of:", try MethodSignature("d@id")))
    #expect(journal.take() == ["mix"])
    withExtendedLifetime(token) {}
  }

  // MARK: Deliveries that fail

  private enum Kind: Int32 {
    case file = 1
    case directory = 2
  }

  @Test func `a subscriber that cannot take its arguments is passed over and reported`() throws {
    let errors = Box<[ForwardingError]>([])
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { error in errors.update { $0.append(error) } }
    let proxy = try DynamicProxy(
      adopting: .table("Kinds") {
        $0.required("visit:", "v@:i")
        $0.optional("ask:", "i@:i")
        $0.optional("take:", "v@:@")
        $0.optional("read:", "v@:*")
      }, configuration: configuration)
    let journal = journal
    let strict = try proxy.subscribe {
      $0.on("visit:") { (kind: Kind) in journal.note("strict \(kind)") }
      $0.on("ask:") { (kind: Kind) -> Int32 in kind.rawValue }
      $0.on("take:") { (object: Listener) in journal.note(object.name) }
      unsafe $0.on("read:") { (text: UnsafePointer<CChar>) in
        journal.note(unsafe String(cString: text))
      }
    }
    let lax = try proxy.subscribe {
      $0.on("visit:") { (number: Int32) in journal.note("lax \(number)") }
    }
    try proxy.send("visit:", Int32(2))
    #expect(journal.take() == ["strict directory", "lax 2"])
    try proxy.send("visit:", Int32(3))
    #expect(journal.take() == ["lax 3"])
    #expect(errors.value.map(\.code) == [.valueNotRepresentable])
    #expect(errors.value.first?.argumentIndex == 2)
    #expect(errors.value.first?.selector == "visit:")
    #expect(
      errors.value.first?.description
        == #"parameter 1 of "visit:" has raw value 3, which is no Kind: expected the raw value of a case"#
    )
    errors.value = []
    // With nobody else, the caller is told too.
    let only = #expect(throws: ForwardingError.self) {
      let _: Int32 = try proxy.send("ask:", Int32(7))
    }
    #expect(only?.code == .valueNotRepresentable)
    #expect(errors.value == [only])
    #expect(try proxy.send("ask:", Int32(2)) == Int32(2))
    errors.value = []
    let wrongClass = #expect(throws: ForwardingError.self) { try proxy.send("take:", Bystander()) }
    #expect(wrongClass?.code == .typeMismatch)
    #expect(wrongClass?.description.contains("class Bystander") == true)
    let null = #expect(throws: ForwardingError.self) {
      try unsafe proxy.send("read:", UnsafePointer<CChar>?.none)
    }
    #expect(null?.code == .nullPointer)
    #expect(null?.description.contains("is null") == true)
    #expect(errors.value == [wrongClass, null])
    #expect(journal.take().isEmpty)
    withExtendedLifetime((strict, lax)) {}
  }

  @Test func `where one fails, the next one answers`() throws {
    let errors = Box<[ForwardingError]>([])
    let proxy = try DynamicProxy.pinging {
      $0.conformance = .lenient
      $0.onError = { error in errors.update { $0.append(error) } }
    }
    let first = try proxy.subscribe { $0.on("score:") { (kind: Kind) -> Int32 in kind.rawValue } }
    let second = try proxy.subscribe { $0.on("score:") { (number: Int32) -> Int32 in -number } }
    #expect(try proxy.send("score:", Int32(1)) == Int32(1))
    #expect(try proxy.send("score:", Int32(9)) == Int32(-9))
    #expect(errors.value.count == 1)
    let answers = try proxy.collect("score:", as: Int32.self, Int32(9))
    #expect(answers.map(\.value) == [-9])
    #expect(errors.value.count == 2)
    withExtendedLifetime((first, second)) {}
  }

  @Test func `long messages are cut between characters`() throws {
    let name = String(repeating: "ä", count: 300) + ":"
    let proxy = try DynamicProxy(
      adopting: .table("Long") { $0.required(name, "i@:i") })
    let error = #expect(throws: ForwardingError.self) {
      let _: Int32 = try proxy.send(Method(MethodSelector(validating: name)), Int32(1))
    }
    #expect(error?.code == .noResponder)
    #expect(error?.selector == name)
    #expect(error?.description.utf8.count ?? 0 < 256)
    #expect(error?.description.contains("\u{FFFD}") == false)
  }

  @Test func `an error handler may use the proxy`() throws {
    let holder = Box<DynamicProxy?>(nil)
    let journal = journal
    let proxy = try DynamicProxy.pinging {
      $0.noResponder = .report
      $0.onError = { error in
        journal.note("\(error.code)")
        guard let proxy = holder.value else { return }
        holder.value = nil
        #expect(throws: Never.self) { try proxy.ping() }
      }
    }
    holder.value = proxy
    try proxy.ping()
    #expect(journal.take() == ["noResponder", "noResponder"])
  }

  // MARK: Making a proxy

  @Test func `protocols that disagree about a method cannot be adopted together`() throws {
    let left = ProtocolTable.table("Left") { $0.required("go:", "v@:i") }
    let right = ProtocolTable.table("Right") { $0.required("go:", "v@:q") }
    let error = #expect(throws: ForwardingError.self) {
      _ = try DynamicProxy(adopting: left, right)
    }
    #expect(error?.code == .conflict)
    #expect(error?.selector == "go:")
    #expect(
      error?.description
        == #""go:" is "v@:i" in protocol "Left", but "v@:q" in protocol "Right""#)
  }

  @Test func `the configuration's policies must fit`() throws {
    let unknown = #expect(throws: ForwardingError.self) {
      _ = try DynamicProxy.pinging { $0.results["unknown"] = .first }
    }
    #expect(unknown?.code == .unknownSelector)
    #expect(unknown?.selector == "unknown")
    let wrong = #expect(throws: ForwardingError.self) {
      _ = try DynamicProxy.pinging { $0.results["score:"] = .any }
    }
    #expect(wrong?.code == .policyMismatch)
    #expect(
      wrong?.description
        == #"the configuration: the result of "score:" must be 'B' (Bool) for the policy "any", got 'i' (Int32)"#
    )
  }

  @Test func `a proxy for no protocol knows no method`() throws {
    var configuration = DynamicProxy.Configuration()
    configuration.unknownFunctions = .ignore
    let proxy = try DynamicProxy(adopting: [], configuration: configuration)
    let a = Bystander()
    try proxy.subscribe(a) { _ in }
    #expect(proxy.count == 1)
    let error = #expect(throws: ForwardingError.self) { try proxy.ping() }
    #expect(error?.code == .unknownSelector)
  }

  // MARK: Faulty tables

  @Test func `a table with a fault is refused, and the fault told`() throws {
    let proxy = try DynamicProxy.pinging { $0.conformance = .lenient }
    let owner = Bystander()
    let builds: [@Sendable (inout FunctionTable.Builder<Bystander>) -> Void] = [
      { unsafe $0.function("", "v@:", calling: UnsafeRawPointer(bitPattern: 8)) },
      { unsafe $0.function("a\0b", "v@:", calling: UnsafeRawPointer(bitPattern: 8)) },
      {
        $0.on("ping:") { (_: Bystander, _: Int32) in }
        $0.on("ping:") { (_: Bystander, _: Int32) in }
      },
      { unsafe $0.function("ping:", "v@:i", calling: UnsafeRawPointer?.none) },
      { unsafe $0.function("ping:", "v@:{", calling: UnsafeRawPointer(bitPattern: 8)) },
      { unsafe $0.function("ping:", "v@:i", calling: "no function") },
    ]
    let faults: [(ForwardingError.Code, String)] = [
      (.invalidName, "1 to 65535 bytes"), (.invalidName, "1 to 65535 bytes"), (.duplicate, "twice"),
      (.nullPointer, "null pointer"), (.malformed, "offset 4"), (.signatureMismatch, "String"),
    ]
    for (build, (code, word)) in zip(builds, faults) {
      let error = #expect(throws: ForwardingError.self) { try proxy.subscribe(owner, build) }
      #expect(error?.code == code)
      #expect(error?.description.contains(word) == true, "\(error?.description ?? "")")
      #expect(proxy.count == 0 && !proxy.contains(owner))
    }
  }
}

private enum Zero: Int32 { case none }
private enum Nonzero: Int32 { case one = 1 }

/// Says that it is bytes, which it is not.
private struct Kept: TypeEncodable {
  static let typeEncoding = "{Kept=^v}"
  let object: Journal
}
