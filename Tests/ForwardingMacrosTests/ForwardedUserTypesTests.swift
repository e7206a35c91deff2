// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Testing

  /// The user's own types of the names that the standard library has.
  enum Own {
    struct String: Equatable { var text: Swift.String }
    struct Result: Equatable { var value = 1 }
    struct Error: Equatable { var code = 2 }
    struct Set { var list = [3] }

    @Forwarded
    protocol Shadowing: AnyObject {
      func take(_ text: String, _ result: Result, _ error: Error, _ sets: [Set])
      func make(_ text: String) throws -> String
      @DefaultResult(Result(value: 9)) func result(_ error: Error?) -> Result
      @Optional func maybe(_ text: String)
      func label(`inout`: Int, `self`: Int) -> Int
      func closure(_ body: @escaping (String) -> Result)
      func type(_ type: AnyClass)
    }

    /// In a module where all is isolated, one that is not.
    @Forwarded
    nonisolated protocol Free: AnyObject, Sendable {
      func free(_ row: Int) -> Int
      @Optional func maybe(_ row: Int)
    }
  }

  private final class ShadowingListener: Own.Shadowing {
    var log: [Swift.String] = []
    func take(_ text: Own.String, _ result: Own.Result, _ error: Own.Error, _ sets: [Own.Set]) {
      log.append("\(text.text) \(result.value) \(error.code) \(sets.map(\.list))")
    }
    func make(_ text: Own.String) throws -> Own.String { Own.String(text: text.text + "!") }
    func result(_ error: Own.Error?) -> Own.Result { Own.Result(value: error?.code ?? 0) }
    func label(`inout`: Int, `self`: Int) -> Int { `inout` * 10 + `self` }
    func closure(_ body: @escaping (Own.String) -> Own.Result) {
      log.append("\(body(Own.String(text: "")).value)")
    }
    func type(_ type: AnyClass) { log.append("\(type)") }
  }

  private final class FreeListener: Own.Free {
    func free(_ row: Int) -> Int { row + 1 }
  }

  @Forwarded
  private protocol FirstOptional: AnyObject {
    @Optional func moved(_ row: Int)
    @Optional func shared() -> Int
  }

  @Forwarded
  private protocol SecondOptional: AnyObject {
    @Optional func moved(_ text: String)
    @Optional func shared() -> Int
  }

  private final class BothListener: FirstOptional, SecondOptional {
    var log: [String] = []
    func moved(_ text: String) { log.append(text) }
    func shared() -> Int { 3 }
  }

  @Suite struct ForwardedUserTypesTests {
    @Test func `types that are named as those of the standard library`() throws {
      let (proxy, listener) = (Own.ShadowingProxy(), ShadowingListener())
      #expect(proxy.result(nil).value == 9)
      try proxy.subscribe(listener)
      proxy.take(Own.String(text: "a text that is not small"), .init(), .init(), [.init()])
      proxy.closure { _ in Own.Result(value: 7) }
      proxy.type(Tracked.self)
      #expect(listener.log == ["a text that is not small 1 2 [[3]]", "7", "Tracked"])
      #expect(try proxy.make(Own.String(text: "b")).text == "b!")
      #expect(proxy.result(Own.Error(code: 4)).value == 4 && !proxy.responds(to: .maybe))
      #expect(proxy.label(`inout`: 2, self: 3) == 23)
    }

    @Test func `a class of two protocols with optional methods of one name`() throws {
      let (first, second) = (FirstOptionalProxy(), SecondOptionalProxy())
      let listener = BothListener()
      try first.subscribe(listener)
      try second.subscribe(listener)
      #expect(!first.responds(to: .moved) && second.responds(to: .moved))
      first.moved(1)
      second.moved("b")
      #expect(listener.log == ["b"] && first.shared() == 3 && second.shared() == 3)
    }

    @Test func `a protocol that is nonisolated`() async throws {
      let (proxy, listener) = (Own.FreeProxy(), FreeListener())
      try proxy.subscribe(listener)
      #expect(await Task.detached { proxy.free(1) }.value == 2)
      #expect(!proxy.responds(to: .maybe))
    }
  }
#endif
