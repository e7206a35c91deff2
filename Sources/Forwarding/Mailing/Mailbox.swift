// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

/// A reference to a mailbox, which keeps it.
@safe package final class Mailbox: @unchecked Sendable {
  // Sendable: immutable, and the C target locks the mailbox.
  internal let handle: OpaquePointer
  /// Where the messages are delivered; nil for a C program's mailbox.
  package let place: (any MailPlace)?

  /// Makes a mailbox.
  ///
  /// - Parameter isPaced: whether messages that come during a drain wait for the next
  ///   one, which the place is asked to start when the drain ends.
  /// - Throws: `ForwardingError` with the code `outOfMemory`.
  package init(_ place: any MailPlace, isPaced: Bool = false) throws(ForwardingError) {
    let driver = MailboxDriver(place)
    var handle: OpaquePointer?
    // SAFETY: the mailbox releases the driver when it ends.
    let owned = unsafe Unmanaged.passRetained(driver)
    let status = unsafe fwd_mailbox_create(
      { driver in
        unsafe Unmanaged<MailboxDriver>.fromOpaque(driver!)._withUnsafeGuaranteedRef { $0.start() }
      }, owned.toOpaque(), { unsafe Unmanaged<MailboxDriver>.fromOpaque($0!).release() }, &handle,
      nil)
    guard status == FWD_OK, let handle = unsafe handle else {
      unsafe owned.release()
      throw ForwardingError(.outOfMemory, "no memory for a mailbox")
    }
    unsafe fwd_mailbox_ask_current(handle) { driver in
      unsafe Unmanaged<MailboxDriver>.fromOpaque(driver!)._withUnsafeGuaranteedRef(\.isCurrent)
    }
    if isPaced { unsafe fwd_mailbox_pace(handle) }
    unsafe driver.attach(to: handle)
    unsafe self.handle = handle
    self.place = place
  }

  /// Adopts a reference to a mailbox of a C program.
  @unsafe internal init(retaining handle: OpaquePointer) {
    // Not nil, since what is retained is not.
    unsafe self.handle = unsafe fwd_mailbox_retain(handle)!
    place = nil
  }

  deinit { unsafe fwd_mailbox_release(handle) }

  /// Drops all messages, also those to come.
  package func close() { unsafe fwd_mailbox_close(handle) }

  /// Waits until the messages that are in the mailbox now have been delivered or
  /// dropped.
  package func drained() async {
    // SAFETY: the continuation is resumed once, by the sequel.
    await unsafe withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let sequel = UnsafeMutablePointer<Sequel>.allocate(capacity: 1)
      unsafe sequel.initialize(to: Sequel(continuation))
      unsafe fwd_mailbox_follow(
        handle, UnsafeMutableRawPointer(sequel).assumingMemoryBound(to: fwd_mail_sequel.self))
    }
  }
}

/// Resumes a task when messages have been delivered.
@unsafe private struct Sequel {
  /// First, so that its address is that of the whole.
  var link: fwd_mail_sequel
  let continuation: UnsafeContinuation<Void, Never>

  init(_ continuation: UnsafeContinuation<Void, Never>) {
    unsafe link = fwd_mail_sequel(
      next: nil, epoch: 0,
      run: { link in
        let sequel = unsafe UnsafeMutableRawPointer(link).assumingMemoryBound(to: Sequel.self)
        let continuation = unsafe sequel.pointee.continuation
        unsafe sequel.deinitialize(count: 1)
        unsafe sequel.deallocate()
        unsafe continuation.resume()
      })
    unsafe self.continuation = continuation
  }
}
