// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Dispatch
internal import Forwarding

/// A dispatch queue, which is kept.
internal final class QueuePlace: MailPlace {
  private let queue: DispatchQueue
  /// Marks work on the queue, or on one that targets it.
  private let key = DispatchSpecificKey<Void>()

  internal init(_ queue: DispatchQueue) {
    self.queue = queue
    queue.setSpecific(key: key, value: ())
  }

  deinit { queue.setSpecific(key: key, value: nil) }

  internal func makeAttachment(for driver: MailboxDriver) -> AnyObject? {
    Starter(driver, queue)
  }

  internal func start(_ driver: MailboxDriver) -> Bool {
    guard let starter = driver.attachment as? Starter else { return false }
    starter.start()
    return true
  }

  /// Submits drains to the queue. A source is made once, and to signal it allocates
  /// nothing; a closure or a work item would be copied each time.
  private final class Starter {
    private let source: any DispatchSourceUserDataAdd

    init(_ driver: MailboxDriver, _ queue: DispatchQueue) {
      source = DispatchSource.makeUserDataAddSource(queue: queue)
      // The mailbox has a reference for the drain, and owns the driver.
      source.setEventHandler { [unowned driver] in driver.drain() }
      source.activate()
    }

    func start() { source.add(data: 1) }

    deinit { source.cancel() }
  }

  internal var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }
}
