// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import CForwarding
  import ForwardingMacros
  import Testing

  /// Numbers by other names: the macro does not know what they are.
  typealias Seconds = Double
  typealias Flag = Bool

  @Forwarded
  protocol Types: AnyObject {
    func at(_ time: Seconds, _ flag: Flag, row: Row, _ text: String)
    func generic(_ list: [Int], _ result: Result<Int, any Error>, _ pair: Pair<Tracked, Int?>)
    func twenty(
      _ a: Int, _ b: String, _ c: Double, _ d: Tracked, _ e: Int8, _ f: Float, _ g: [Int],
      _ h: Bool, _ i: UInt, _ j: Double, _ k: Double, _ l: Double, _ m: Double, _ n: Double,
      _ o: Double, _ p: Double, _ q: Double, _ r: Tracked?, _ s: Shape, _ t: Int)
  }

  private final class TypesListener: Types {
    var log: [String] = []
    func at(_ time: Seconds, _ flag: Flag, row: Row, _ text: String) {
      log.append("\(time) \(flag) \(row) \(text)")
    }
    func generic(_ list: [Int], _ result: Result<Int, any Error>, _ pair: Pair<Tracked, Int?>) {
      log.append("\(list) \((try? result.get()) ?? -1) \(pair.left.value) \(pair.right ?? -1)")
    }
    func twenty(
      _ a: Int, _ b: String, _ c: Double, _ d: Tracked, _ e: Int8, _ f: Float, _ g: [Int],
      _ h: Bool, _ i: UInt, _ j: Double, _ k: Double, _ l: Double, _ m: Double, _ n: Double,
      _ o: Double, _ p: Double, _ q: Double, _ r: Tracked?, _ s: Shape, _ t: Int
    ) {
      log.append("\(a) \(b) \(c) \(d.value) \(e) \(f) \(g) \(h) \(i)")
      log.append("\([j, k, l, m, n, o, p, q]) \(r?.value ?? -1) \(s) \(t)")
    }
  }

  /// Types whose names do not tell how they are passed, and many of them.
  @Suite(.serialized) struct ForwardedTypesTests {
    private let proxy = TypesProxy()
    private let listener = TypesListener()

    init() throws { try proxy.subscribe(listener) }

    @Test(arguments: [false, true])
    func `numbers by another name are passed as numbers`(_ isLibffi: Bool) {
      fwd_use_libffi(isLibffi)
      defer { fwd_use_libffi(false) }
      proxy.at(-1.5, true, row: -7, "a text that is not small")
      #expect(listener.log == ["-1.5 true -7 a text that is not small"])
      #expect(TypesProxy.protocolTable.requirements[0].signature.text == "v@dBi^{Swift.String}")
    }

    @Test func `generic types with their arguments`() {
      let left = Tracked.left {
        proxy.generic([1, 2], .success(3), Pair(left: Tracked(4), right: nil))
        proxy.generic([], .failure(Failure(1)), Pair(left: Tracked(5), right: 6))
      }
      #expect(left == 0 && listener.log == ["[1, 2] 3 4 -1", "[] -1 5 6"])
    }

    @Test func `twenty arguments`() {
      let left = Tracked.left {
        proxy.twenty(
          1, "two", 3, Tracked(4), -5, 6, [7], true, 9, 10, 11, 12, 13, 14, 15, 16, 17, nil,
          .circle(radius: 19), 20)
      }
      #expect(left == 0)
      #expect(listener.log.first == "1 two 3.0 4 -5 6.0 [7] true 9")
      #expect(
        listener.log.last
          == "[10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0] -1 circle(radius: 19.0) 20")
    }
  }
#endif
