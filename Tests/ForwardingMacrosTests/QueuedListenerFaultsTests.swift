// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import Dispatch
  import Forwarding
  import ForwardingDelivery
  import ForwardingMacros
  import Synchronization
  import Testing

  /// Methods that a listener that is called later cannot have, all optional.
  @Forwarded(sendable: true)
  protocol Awkward: AnyObject {
    func plain(_ number: Int)
    @Optional func load(_ path: String) throws
    @Optional func wait() async
    @Optional func change(_ number: inout Int)
    @Optional func count(_ number: Int) -> Int
    @Optional func title() -> String?
    @Optional func take(_ seen: Seen)
  }

  @globalActor actor OtherActor { static let shared = OtherActor() }

  @MainActor private class Plain {
    var numbers: [Int] = []
    func plain(_ number: Int) { numbers.append(number) }
  }
  @MainActor private final class Nothing: Plain, @MainActor Awkward {}
  @MainActor private final class Loading: Plain, @MainActor Awkward {
    func load(_ path: String) throws {}
  }
  @MainActor private final class Waiting: Plain, @MainActor Awkward {
    func wait() async {}
  }
  @MainActor private final class Changing: Plain, @MainActor Awkward {
    func change(_ number: inout Int) {}
  }
  @MainActor private final class Counting: Plain, @MainActor Awkward {
    func count(_ number: Int) -> Int {
      numbers.append(number)
      return 1
    }
  }
  @MainActor private final class Titled: Plain, @MainActor Awkward {
    func title() -> String? { nil }
  }

  @MainActor private final class Taking: Plain, @MainActor Awkward {
    func take(_ seen: Seen) { numbers.append(0) }
  }

  private final class Unseen: Sendable {}

  private final class Reported: Sendable {
    let texts = Mutex<[String]>([])
  }

  private struct Smuggled<Value>: @unchecked Sendable {
    let value: Value
  }

  @MainActor @Suite struct QueuedListenerFaultsTests {
    private func error(_ body: () throws -> Void) -> ForwardingError? {
      do {
        try body()
        return nil
      } catch {
        return error as? ForwardingError
      }
    }

    @Test func `methods that give something back are refused when subscribing`() async throws {
      let proxy = AwkwardProxy()
      let cases: [(any Awkward, String)] = [
        (Loading(), "\"load:\" throws, so a listener that is called later cannot have it"),
        (Waiting(), "\"wait\" is async, so"),
        (Changing(), "\"change:\" has an inout parameter, so"),
        (Counting(), "\"count:\" has a result"),
        (Titled(), "\"title\" returns its result, Swift.Optional<Swift.String>, in memory, so"),
      ]
      for (listener, message) in cases {
        let error = error { try proxy.subscribe(listener, on: MainActor.shared) }
        #expect(error?.code == .notMailable)
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "none")")
      }
      #expect(proxy.count == 0)
      // Whoever leaves them out is called.
      let listener = Nothing()
      let subscription = try proxy.subscribe(listener, on: MainActor.shared)
      proxy.plain(1)
      await proxy.wait()
      await subscription.drained()
      #expect(listener.numbers == [1])
    }

    @Test func `a result is left out if the policy calls all`() async throws {
      var configuration = DynamicProxy.Configuration()
      configuration.results[AwkwardProxy.selector(for: .count)] = .callAll(pick: .last)
      let proxy = try AwkwardProxy(configuration: configuration)
      let counting = Counting()
      let subscription = try proxy.subscribe(counting, on: MainActor.shared)
      #expect(proxy.count(7) == 0)
      await subscription.drained()
      #expect(counting.numbers == [7])
    }

    @Test func `an untyped caller's object of another class is reported`() async throws {
      let reported = Reported()
      var configuration = DynamicProxy.Configuration()
      configuration.onError = { error in reported.texts.withLock { $0.append("\(error)") } }
      let proxy = try AwkwardProxy(configuration: configuration)
      let taking = Taking()
      let subscription = try proxy.subscribe(taking, on: MainActor.shared)
      try proxy.proxy.send("take:", Unseen())
      try proxy.proxy.send("take:", Seen())
      await subscription.drained()
      #expect(taking.numbers == [0])
      let texts = reported.texts.withLock { $0 }
      #expect(texts.count == 1)
      #expect(texts.first?.contains("parameter 1 of \"take:\" must be") == true, "\(texts)")
    }

    @Test func `an actor cannot be waited for, and limits are checked`() {
      let proxy = AwkwardProxy()
      let listener = Nothing()
      let block = error {
        try proxy.subscribe(listener, on: MainActor.shared, overflow: .block(limit: 1))
      }
      #expect(block?.code == .notMailable)
      #expect(
        block?.description.contains("the listener's calls cannot wait for an actor") == true)
      let none = error {
        try proxy.subscribe(listener, on: MainActor.shared, overflow: .dropOldest(limit: 0))
      }
      #expect(none?.code == .invalidLimit)
      let never = error { try proxy.subscribe(listener, on: MainActor.shared, times: 0) }
      #expect(never?.code == .invalidLimit)
      #expect(proxy.count == 0)
    }

    /// The compiler only warns of these.
    @Test func `a class that conforms on an actor is refused elsewhere`() async {
      let proxy = AwkwardProxy()
      let listener = Nothing()
      let message = "Nothing conforms to the protocol on a global actor only"
      let smuggled = Smuggled(value: listener as any Awkward)
      let onQueue = error { try proxy.subscribe(smuggled.value, on: DispatchQueue.main) }
      #expect(onQueue?.code == .notMailable)
      #expect(onQueue?.description.contains(message) == true)
      let onOther = await { @OtherActor () -> ForwardingError? in
        do throws(ForwardingError) {
          try proxy.subscribe(smuggled.value, on: OtherActor.shared)
          return nil
        } catch {
          return error
        }
      }()
      #expect(onOther?.code == .notMailable)
      #expect(onOther?.description.contains(message) == true)
    }

    @Test func `a class that conforms on an actor is not called directly`() throws {
      var errors: [ForwardingError] = []
      let proxy = AwkwardProxy()
      let error = error { try proxy.subscribe(Nothing(), at: .last) }
      #expect(error?.code == .typeMismatch)
      #expect(
        error?.description.contains("on a global actor only, but any thread may call the proxy")
          == true)
      do throws(ForwardingError) {
        try proxy.setForwardTarget(Nothing())
      } catch {
        errors.append(error)
      }
      #expect(errors.map(\.code) == [.typeMismatch])
      #expect(proxy.count == 0)
    }
  }
#endif
