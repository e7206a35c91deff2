// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Macros
  import ForwardingMacros
  import Testing

  @Forwarded
  protocol Questioned: AnyObject {
    func must(_ row: Int)
    @Optional func may(_ row: Int) -> Int
    @Optional func wait(_ row: Int) async -> Int
  }

  @Forwarded
  protocol QuestionedMore: Questioned {
    func more()
  }

  private final class LackingAnswerer: Questioned {
    func must(_ row: Int) {}
  }

  private final class FullAnswerer: QuestionedMore {
    func must(_ row: Int) {}
    func may(_ row: Int) -> Int { row }
    func wait(_ row: Int) async -> Int { row }
    func more() {}
  }

  /// What a service learns that asks whether its delegate, a typed proxy, responds.
  @Suite struct RespondingProxyTests {
    @Test func `an empty proxy responds to nothing`() {
      let proxy = QuestionedProxy()
      for requirement in QuestionedProxy.Requirement.allCases {
        #expect(!QuestionedProxy.responds(proxy, to: requirement))
      }
    }

    @Test func `a proxy responds to what its listeners respond to`() throws {
      let proxy = QuestionedProxy()
      let lacking = LackingAnswerer()
      try proxy.subscribe(lacking)
      #expect(QuestionedProxy.responds(proxy, to: .must))
      #expect(!QuestionedProxy.responds(proxy, to: .may))
      #expect(!QuestionedProxy.responds(proxy, to: .wait))
      let full = FullAnswerer()
      let subscription = try proxy.subscribe(full)
      for requirement in QuestionedProxy.Requirement.allCases {
        #expect(QuestionedProxy.responds(proxy, to: requirement))
      }
      subscription.cancel()
      #expect(!QuestionedProxy.responds(proxy, to: .may))
      withExtendedLifetime(lacking) {}
    }

    @Test func `a proxy of an inheriting protocol, and a proxy in a proxy`() throws {
      let (outer, inner) = (QuestionedProxy(), QuestionedMoreProxy())
      try outer.subscribe(inner)
      #expect(!QuestionedProxy.responds(inner, to: .wait))
      #expect(!QuestionedProxy.responds(outer, to: .may))
      let full = FullAnswerer()
      try inner.subscribe(full)
      #expect(QuestionedProxy.responds(inner, to: .wait))
      #expect(QuestionedProxy.responds(outer, to: .may))
      #expect(QuestionedMoreProxy.responds(inner, to: .more))
      withExtendedLifetime(full) {}
    }
  }
#endif
