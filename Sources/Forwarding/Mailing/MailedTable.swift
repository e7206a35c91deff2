// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// The functions that the messages of one subscription call, and the configuration
/// that reports failures. It lives as long as messages wait.
@safe private final class MailedFunctions: @unchecked Sendable {
  // Sendable: filled in `init`, and immutable from then on.
  let joined: JoinedTable
  /// In the order of the joined table. They do not move.
  let implementations: UnsafeMutablePointer<fwd_implementation>
  let account = MailAccount()
  let configuration: DynamicProxy.Configuration
  /// Keeps an executor's mailbox while messages wait, so that the next subscription
  /// there shares it. Nil for a C program's mailbox: the program's last release must
  /// drop the messages, and this reference would prevent that.
  let mailbox: Mailbox?
  /// Keeps the functions that copy and destroy the messages' Swift values.
  let carried: [CarriedArguments?]
  /// Ends the subscription if the list of subscribers does not know the object.
  let ending: LateEnding?
  /// The proxy that sends the messages. It may die before they are delivered.
  let reference: ProxyReference

  init(
    _ joined: JoinedTable, _ carried: [CarriedArguments?], _ proxy: DynamicProxy,
    _ mailbox: Mailbox, _ ending: LateEnding?
  ) {
    self.joined = joined
    self.carried = carried
    self.ending = ending
    configuration = proxy.configuration
    reference = proxy.reference
    self.mailbox = mailbox.place == nil ? nil : mailbox
    let count = unsafe joined.implementations.count
    unsafe implementations = .allocate(capacity: max(count, 1))
    for index in 0..<count {
      unsafe (implementations + index).initialize(to: joined.implementations[index].implementation)
    }
  }

  deinit { unsafe implementations.deallocate() }
}

/// The object or context that gets the messages of a subscription.
@unsafe internal struct MailAddressee {
  var object: UnsafeMutableRawPointer?
  var hold: fwd_hold
  var receiver: UnsafeMutableRawPointer?
}

extension DispatchTable {
  /// Makes the table of one subscription whose deliveries are made later: each
  /// implementation puts a message into the mailbox.
  ///
  /// - Parameters:
  ///   - carried: for each method of the joined table, how arguments that are
  ///     Swift values are copied.
  ///   - ending: ends the subscription if a message finds the object dead.
  /// - Returns: the table, and the account of the messages.
  /// - Throws: `ForwardingError` with the codes `notMailable` for an argument
  ///   that cannot be copied, or `outOfMemory`.
  internal static func mailing(
    _ joined: JoinedTable, _ carried: [CarriedArguments?], to mailbox: Mailbox,
    _ addressee: MailAddressee, _ rules: MailRules, _ ending: LateEnding? = nil,
    by proxy: DynamicProxy
  ) throws(ForwardingError) -> (DispatchTable, MailAccount) {
    let functions = MailedFunctions(joined, carried, proxy, mailbox, ending)
    var options = unsafe fwd_recipient_options(
      object: addressee.object, hold: addressee.hold, receiver: addressee.receiver,
      overflow: rules.rule, limit: rules.overflow.limit ?? 0, keeps_pointers: rules.keepsPointers,
      method_count: joined.implementations.count,
      account: functions.account.handle,
      report: { context, selector, error in
        // SAFETY: the recipient keeps its functions.
        unsafe Unmanaged<MailedFunctions>.fromOpaque(context!)._withUnsafeGuaranteedRef {
          unsafe $0.configuration.onError(
            ForwardingError(
              error.pointee, selector: MethodSelector(handle: selector).name,
              detail: fwd_error_last_detail()))
        }
      },
      report_context: Unmanaged.passUnretained(functions).toOpaque(),
      note_death: { context in
        // SAFETY: as above.
        unsafe Unmanaged<MailedFunctions>.fromOpaque(context!)._withUnsafeGuaranteedRef {
          $0.ending?.end()
        }
      },
      release_context: { unsafe Unmanaged<MailedFunctions>.fromOpaque($0!).release() })
    guard let recipient = unsafe fwd_recipient_create(mailbox.handle, &options) else {
      throw ForwardingError(.outOfMemory, "no memory for a subscription's messages")
    }
    _ = unsafe Unmanaged.passRetained(functions)
    do throws(ForwardingError) {
      let table = try unsafe DispatchTable(
        joined, functions.post(to: recipient, proxy.core.plan), recipient: recipient)
      return (table, functions.account)
    } catch {
      unsafe fwd_recipient_release(recipient)
      throw error
    }
  }
}

extension DynamicProxy.Subscription {
  /// The subscription whose message this thread delivers; nil if this thread delivers no message.
  internal static var currentMailed: DynamicProxy.Subscription? {
    let identifier = fwd_current_subscription()
    guard identifier != 0, let context = unsafe fwd_current_mail_context() else { return nil }
    // SAFETY: the recipient keeps its functions during the delivery.
    let functions = unsafe Unmanaged<MailedFunctions>.fromOpaque(context)
    return unsafe functions._withUnsafeGuaranteedRef {
      DynamicProxy.Subscription(reference: $0.reference, identifier: identifier)
    }
  }
}

extension MailedFunctions {
  /// Adds the methods to a recipient. Gives what is to stand in the dispatch table.
  fileprivate func post(
    to recipient: OpaquePointer, _ plan: ProxyPlan
  ) throws(ForwardingError) -> [(index: Int, implementation: fwd_implementation)] {
    var posting: [(index: Int, implementation: fwd_implementation)] = unsafe []
    for number in 0..<(unsafe joined.implementations.count) {
      let index = unsafe joined.implementations[number].index
      let requirement = plan.requirements[index]
      var implementation = unsafe fwd_implementation()
      var error = fwd_error()
      // SAFETY: the recipient keeps this object, and with it the functions.
      let status = unsafe fwd_recipient_add(
        recipient, requirement.selector.handle, requirement.signature.handle,
        implementations + number, carried[number]?.types, &implementation, &error)
      guard status == FWD_OK else {
        throw ForwardingError(error, selector: requirement.selector.name)
      }
      unsafe posting.append((index, implementation))
    }
    return unsafe posting
  }
}
