// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A proxy whose listeners are called where they live: on an actor, a queue or an
/// executor.
///
/// `@Forwarded(sendable: true)` of the module ForwardingMacros makes such classes. The
/// module ForwardingDelivery subscribes the listeners.
public protocol DeliveringProxy: AnyObject, Sendable {
  /// `any` of the protocol. Its values need not be `Sendable`.
  associatedtype DeliveredListener

  /// Returns the values that a delivery to a listener needs.
  @_documentation(visibility: internal)
  func _delivery(to listener: DeliveredListener) throws(ForwardingError) -> _ListenerDelivery
}

/// The values that deliveries to a listener need. For the modules of this package.
@_documentation(visibility: internal)
public struct _ListenerDelivery {
  /// Where a listener's methods may be called.
  package enum Isolation: Sendable {
    /// The class conforms to the protocol on any thread.
    case none
    /// It conforms on a global actor, on which the calling thread is.
    case here
    /// It conforms on a global actor, on which the calling thread is not.
    case elsewhere
  }

  /// How one method is called later.
  package struct Method {
    package let selector: MethodSelector
    /// For each argument, the receiver not counted, the type of the Swift value
    /// that it is the address of; nil for other arguments.
    package let values: [Any.Type?]

    package init(_ selector: MethodSelector, _ values: [Any.Type?]) {
      self.selector = selector
      self.values = values
    }
  }

  package let isolation: Isolation
  /// The listener.
  package let object: AnyObject
  private let proxy: DynamicProxy
  private let table: FunctionTable
  private let methods: [Method]

  /// - Parameters:
  ///   - object: the listener.
  ///   - isolation: where its methods may be called.
  ///   - table: its functions.
  ///   - methods: the methods of the table.
  ///   - proxy: the untyped proxy.
  package init(
    to object: AnyObject, _ isolation: Isolation, _ table: FunctionTable, _ methods: [Method],
    by proxy: DynamicProxy
  ) {
    self.object = object
    self.isolation = isolation
    self.table = table
    self.methods = methods
    self.proxy = proxy
  }

  /// Subscribes the listener. Its methods are called when the mailbox is drained.
  ///
  /// Only the drain touches the object, since it need not be `Sendable`: the list of
  /// subscribers does not know it.
  ///
  /// - Returns: the subscription, and the account of its messages.
  /// - Throws: `ForwardingError`: `notMailable` for a method with a result, unless its
  ///   policy calls all responders; `invalidLimit`, `dead`, `outOfMemory`.
  package func mail(
    to mailbox: Mailbox, _ options: MailOptions
  ) throws(ForwardingError) -> (DynamicProxy.Subscription, MailAccount) {
    try proxy.mail(table, methods, of: object, to: mailbox, options)
  }
}

extension DynamicProxy {
  fileprivate func mail(
    _ table: FunctionTable, _ methods: [_ListenerDelivery.Method], of object: AnyObject,
    to mailbox: Mailbox, _ options: MailOptions
  ) throws(ForwardingError) -> (Subscription, MailAccount) {
    let joined = try JoinedTable(table, core.plan)
    var carried: [CarriedArguments?] = []
    for number in 0..<(unsafe joined.implementations.count) {
      let index = unsafe joined.implementations[number].index
      try checkIsMailable(index)
      let selector = core.plan.requirements[index].selector
      let values = methods.first { $0.selector == selector }?.values ?? []
      // The first argument is the receiver.
      carried.append(CarriedArguments([nil] + values))
    }
    return try mail(joined, carried, of: object, isListed: false, to: mailbox, options)
  }
}
