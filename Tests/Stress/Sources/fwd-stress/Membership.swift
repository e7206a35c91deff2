// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwarding
internal import Forwarding
internal import Synchronization

/// A member's subscription, in one of all the ways.
@safe final class Membership: @unchecked Sendable {
  // Sendable: immutable but for the references that its one owner gives up.

  enum Kind: CaseIterable {
    case weak, weakClosures, strong, tied, token, context, chained, chainedStrong
  }

  let member: Member
  let kind: Kind
  private let proxy: DynamicProxy
  private var subscription: DynamicProxy.Subscription?
  private var token: DynamicProxy.Token?
  private var identifier: fwd_subscription = 0
  /// Between the proxy and the member.
  private var child: DynamicProxy?

  init(
    _ member: Member, _ kind: Kind, in proxy: DynamicProxy,
    at position: DynamicProxy.Position = .last
  ) throws {
    self.member = member
    self.kind = kind
    self.proxy = proxy
    switch kind {
    case .weak: subscription = try proxy.subscribe(member, at: position)
    case .weakClosures:
      let table = member.isPartial ? Member.partialTable : Member.closureTable
      subscription = try proxy.subscribe(member, table: table, at: position)
    case .strong: subscription = try proxy.subscribe(member, at: position, lifetime: .strong)
    case .tied: subscription = try proxy.subscribe(member, at: position, Member.addClosures)
    case .token: token = try proxy.subscribe(at: position) { member.addCaptures(&$0) }
    case .context: identifier = member.subscribeAsContext(to: proxy)
    case .chained, .chainedStrong:
      let child = try DynamicProxy(adopting: Member.protocolTable)
      try child.subscribe(member, lifetime: kind == .chained ? .strong : .weak)
      subscription = try proxy.subscribe(
        child, at: position, lifetime: kind == .chained ? .weak : .strong)
      self.child = child
    }
    member.joinedAt.store(nextMoment(), ordering: .sequentiallyConsistent)
  }

  /// Puts it elsewhere, if it can be.
  func move(to position: DynamicProxy.Position) throws {
    switch kind {
    case .weak, .strong: try proxy.subscribe(member, at: position)
    case .weakClosures where !member.isPartial:
      try proxy.subscribe(member, table: Member.closureTable, at: position)
    case .chained, .chainedStrong:
      if let child { try proxy.subscribe(child, at: position) }
    default: break
    }
  }

  /// Ends the subscription, by naming the object if it has one, or by what
  /// subscribing gave.
  func cancel(byObject isByObject: Bool) {
    member.endingAt.store(nextMoment(), ordering: .sequentiallyConsistent)
    switch kind {
    case .context:
      // SAFETY: the proxy is there.
      let status = unsafe fwd_proxy_unsubscribe(proxy.unsafeHandle, identifier)
      violations.check(status == FWD_OK, "a C context could not be unsubscribed")
    case .token: violations.check(token?.cancel() == true, "a token was cancelled already")
    case .chained, .chainedStrong:
      if isByObject, let child {
        violations.check(proxy.unsubscribe(child), "a proxy was not subscribed")
      } else {
        violations.check(subscription?.cancel() == true, "a proxy's subscription was gone")
      }
    case .weak, .weakClosures, .strong, .tied:
      if isByObject {
        violations.check(proxy.unsubscribe(member), "a member was not subscribed")
      } else {
        violations.check(subscription?.cancel() == true, "a subscription was gone")
      }
    }
    violations.check(subscription?.isLive != true, "a cancelled subscription is live")
    member.endedAt.store(nextMoment(), ordering: .sequentiallyConsistent)
  }

  /// Whether the member's death ends it.
  var endsWithMember: Bool { kind != .strong && kind != .context && kind != .chainedStrong }

  /// Gives up all references: most members die now, or with the fan-outs that
  /// hold them.
  func drop() {
    member.endingAt.store(nextMoment(), ordering: .sequentiallyConsistent)
    token = nil
    child = nil
    subscription = nil
  }
}
