// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Synchronization
  import Testing

  /// The typed proxy and the untyped one.
  @Suite struct ForwardedUntypedTests {
    /// A subscriber by closures.
    final class Untyped: Sendable {
      let log = Mutex<[String]>([])
      func note(_ text: String) { log.withLock { $0.append(text) } }
    }

    private let proxy = DownloadDelegateProxy()
    private let typed = FullListener<Int>()
    private let untyped = Untyped()

    @Test func `subscribers of both kinds are in one list`() throws {
      let other = Listener()
      try proxy.subscribe(typed)
      try unsafe proxy.proxy.subscribe(untyped) {
        unsafe $0.on("download:didReceive:of:") {
          (self: Untyped, download: Download, bytes: Int64, total: UnsafePointer<Int64?>) in
          self.note("\(download.name) \(bytes) \(unsafe total.pointee ?? 0)")
        }
        unsafe $0.on("download:shouldContinueAfter:") {
          (self: Untyped, _: Download, error: UnsafePointer<any Error>) -> Bool in
          self.note("\(unsafe error.pointee)")
          return true
        }
      }
      try proxy.subscribe(other, at: .first)
      proxy.download(Download("a"), didReceive: 1, of: 2)
      #expect(other.log == ["a 1/2"] && typed.log == ["Int 1"])
      #expect(untyped.log.withLock { $0 } == ["a 1 2"])
      #expect(proxy.count == 3)
      proxy.unsubscribe(other)
      proxy.unsubscribe(typed)
      #expect(proxy.download(Download(), shouldContinueAfter: Failure(3)))
      #expect(untyped.log.withLock { $0.last } == "Failure(code: 3)")
    }

    @Test func `untyped subscribers take part in throwing`() throws {
      try unsafe proxy.proxy.subscribe(untyped) {
        unsafe $0.on("download:didReceive:of:") {
          (_: Untyped, _: Download, _: Int64, _: UnsafeRawPointer) in
        }
        unsafe $0.on("download:shouldContinueAfter:") {
          (_: Untyped, _: Download, _: UnsafeRawPointer) -> Bool in true
        }
        unsafe $0.on("downloadDidFinish:at:") {
          (
            self: Untyped, _: Download, path: UnsafePointer<String>,
            error: UnsafeMutablePointer<(any Error)?>
          ) -> Bool in
          self.note(unsafe path.pointee)
          unsafe error.pointee = Failure(4)
          return true
        }
      }
      try proxy.subscribe(typed)
      #expect(throws: Failure(4)) { try proxy.downloadDidFinish(Download(), at: "/") }
      #expect(typed.log.isEmpty && untyped.log.withLock { $0 } == ["/"])
    }

    @Test func `subscribers with other types are refused`() {
      let error = #expect(throws: ForwardingError.self) {
        try unsafe proxy.proxy.subscribe(untyped) {
          $0.on("download:didReceive:of:") { (_: Untyped, _: Download, _: Int64, _: Int64) in }
        }
      }
      #expect(error?.code == .signatureMismatch)
      #expect(error?.description.contains("Swift.Optional<Swift.Int64>") == true)
    }

    @Test func `untyped callers reach typed listeners`() throws {
      try proxy.subscribe(typed)
      var total: Int64? = 7
      try unsafe withUnsafeMutablePointer(to: &total) { total in
        try unsafe proxy.proxy.send("download:didReceive:of:", Download("u"), 5 as Int64, total)
      }
      #expect(typed.log == ["Int 5"])
    }

    @Test func `a C function pointer reaches typed listeners`() throws {
      let observers = Space.ObserverProxy()
      let counters = [Counter(), Counter()]
      for counter in counters { try observers.subscribe(counter) }
      let pointer = try observers.proxy.functionPointer(for: "moved::")
      let function = unsafe pointer.unsafeCast() as @convention(c) (Double, Bool) -> Void
      function(2, true)
      #expect(counters.allSatisfy { $0.count.load(ordering: .relaxed) == 1 })
      withExtendedLifetime(pointer) {}
    }

    /// Typed listeners, and closures that are typed by generic code.
    @Test func `a Bool of 2 is an error of the delivery`() throws {
      let errors = Errors()
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { errors.append($0) }
      let observers = try Space.ObserverProxy(configuration: configuration)
      let counter = Counter()
      try observers.subscribe(counter)
      let taps = Counter()
      let tap = try observers.before(.moved) { x, isFirst in taps.moved(x, isFirst) }
      let pointer = try observers.proxy.functionPointer(for: "moved::")
      let function = unsafe pointer.unsafeCast() as @convention(c) (Double, Bool) -> Void
      let unchecked = unsafe unsafeBitCast(
        function, to: (@convention(c) (Double, UInt8) -> Void).self)
      unchecked(2, 1)
      #expect(errors.descriptions.isEmpty && taps.count.load(ordering: .relaxed) == 1)
      unchecked(2, 2)
      #expect(counter.count.load(ordering: .relaxed) == 1)
      #expect(taps.count.load(ordering: .relaxed) == 1)
      let sentence = "parameter 2 of \"moved::\" has the byte 2, which is no Bool: expected 0 or 1"
      // The closure's and the listener's.
      #expect(errors.descriptions.count == 2)
      #expect(errors.descriptions.allSatisfy { $0.contains(sentence) })
      withExtendedLifetime((pointer, tap)) {}
    }

    @Test func `a batch reaches typed listeners`() throws {
      let observers = Space.ObserverProxy()
      let counter = Counter()
      try observers.subscribe(counter)
      try observers.proxy.withBatch {
        observers.moved(2, true)
        try observers.proxy.send("moved::", 2.0, true)
      }
      #expect(counter.count.load(ordering: .relaxed) == 2)
    }

    /// The encoding of an object does not tell its class, nor that it is there.
    @Test func `objects of another class are not delivered`() throws {
      let errors = Errors()
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { errors.append($0) }
      let proxy = try DownloadDelegateProxy(configuration: configuration)
      try proxy.subscribe(typed)
      let other = Tracked()
      #expect(throws: ForwardingError.self) {
        try unsafe proxy.proxy.send(
          "download:didReceive:of:", other, 1 as Int64, nil as UnsafeRawPointer?)
      }
      #expect(throws: ForwardingError.self) {
        try unsafe proxy.proxy.send(
          "download:didReceive:of:", nil as AnyObject?, 1 as Int64, nil as UnsafeRawPointer?)
      }
      #expect(throws: ForwardingError.self) {
        try unsafe proxy.proxy.send(
          "download:didReceive:of:", Download(), 1 as Int64, nil as UnsafeRawPointer?)
      }
      #expect(
        typed.log.isEmpty && errors.codes == [.typeMismatch, .nullPointer, .nullPointer])
      #expect(
        errors.descriptions[0].contains(
          "must be an object of class Download, got one of class Tracked"))
      #expect(errors.descriptions[1].contains("parameter 1 of \"download:didReceive:of:\" is null"))
      #expect(errors.descriptions[2].contains("expected Optional<Int64>"))
    }

    @Test func `results of another class are reported`() throws {
      let errors = Errors()
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { errors.append($0) }
      configuration.conformance = .lenient
      let proxy = try KindsProxy(configuration: configuration)
      try unsafe proxy.proxy.subscribe(untyped) {
        $0.on("object:") { (_: Untyped, _: Int) -> AnyObject in Download() }
        unsafe $0.on("made") { (_: Untyped, _: UnsafeRawPointer) -> AnyObject? in nil }
      }
      #expect(proxy.object(1) == nil)
      #expect(errors.codes == [.typeMismatch])
      #expect(throws: ForwardingError.self) { try proxy.made() }
    }
  }
#endif
