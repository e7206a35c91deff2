// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding
internal import ForwardingWire
internal import Foundation

/// Answers requests with the results of a proxy until it is closed or deinitialised. Store
/// it.
///
/// It connects again by itself. A request that is made meanwhile does not reach it.
public final class RemoteResponder: Sendable {
  /// Which responders of a service get a request.
  public enum Choice: Sendable {
    /// One of them, which the server chooses: for services that several processes share.
    case one
    /// All of them. The first answer is the result.
    case first
  }

  private let core: ResponderCore

  internal init(_ core: ResponderCore) throws(RemoteError) {
    self.core = core
    let link = try core.connect()
    let thread = Thread { core.run(link) }
    thread.name = "fwd-responder"
    thread.start()
  }

  deinit { core.close() }

  /// Why the responder has ended by itself; nil if it has not.
  public var failure: RemoteError? { core.failure }

  /// Ends the responder. Requests that have arrived may still be answered.
  public func close() { core.close() }
}

/// The state of a responder.
internal final class ResponderCore: @unchecked Sendable {
  private let name: String
  private let engine: any RemoteEngine
  private let proxy: DynamicProxy
  private let schema: WireSchema

  // SAFETY: the condition's lock protects the variables.
  private let condition = NSCondition()
  private var fault: RemoteError?
  private var lastFailure: RemoteError?
  private var isClosed = false
  private var forms: [MethodSelector: ReplyForm] = [:]

  internal init(
    _ name: String, _ engine: any RemoteEngine, _ proxy: DynamicProxy, _ schema: WireSchema
  ) {
    self.name = name
    self.engine = engine
    self.proxy = proxy
    self.schema = schema
  }

  internal var failure: RemoteError? {
    condition.lock()
    defer { condition.unlock() }
    return lastFailure
  }

  internal func close() {
    condition.lock()
    isClosed = true
    condition.broadcast()
    condition.unlock()
  }

  // MARK: Connections

  internal func connect() throws(RemoteError) -> any RemoteLink {
    condition.lock()
    fault = nil
    condition.unlock()
    let link = try engine.connect(promptly: true) { [weak self] event in
      if case .failed(let error) = event { self?.failed(error) }
    }
    do throws(RemoteError) {
      try link.serve("service.\(name)") { [weak self] in self?.answer($0) }
    } catch {
      link.close()
      throw error.at("service \"\(name)\"")
    }
    return link
  }

  private func failed(_ error: RemoteError) {
    condition.lock()
    if fault == nil { fault = error }
    condition.broadcast()
    condition.unlock()
  }

  /// Keeps the responder connected until it is closed.
  internal func run(_ first: any RemoteLink) {
    var link: (any RemoteLink)? = first
    var attempts = 0
    var connected = ContinuousClock.now
    while true {
      let error = waitForFault(link == nil ? min(1, 0.01 * Double(1 << min(attempts, 7))) : nil)
      if link != nil, error == nil { break }
      let wasConnected = link != nil
      link?.close()
      link = nil
      if isEnded { break }
      do throws(RemoteError) {
        if let error, !error.isPassing { throw error }
        // A server that takes connections and drops them is asked less and less often.
        if wasConnected && connected.duration(to: .now) < .seconds(1) {
          attempts += 1
          continue
        }
        link = try connect()
        if wasConnected { attempts = 0 }
        connected = .now
      } catch {
        attempts += 1
        guard error.isPassing else {
          condition.lock()
          lastFailure = error
          condition.unlock()
          return
        }
      }
    }
    link?.close()
  }

  private var isEnded: Bool {
    condition.lock()
    defer { condition.unlock() }
    return isClosed
  }

  /// Waits for a fault, or for some time; nil if the responder has been closed or the time
  /// is over.
  private func waitForFault(_ seconds: Double?) -> RemoteError? {
    let end = Date(timeIntervalSinceNow: seconds ?? 1e9)
    condition.lock()
    defer { condition.unlock() }
    while !isClosed {
      if seconds == nil, let fault { return fault }
      if !condition.wait(until: end) { return nil }
    }
    return nil
  }

  // MARK: Answers

  private func answer(_ question: [UInt8]) -> [UInt8] {
    do {
      var decoder = WireDecoder(question, schema: schema)
      guard let record = try decoder.next() else {
        return Self.failure("the request has no call that the responder's schema knows")
      }
      let form = try form(of: record)
      var reply = Self.failure("there is no result")
      // SAFETY: the form refuses results with objects and pointers.
      try unsafe record.unsafeForward(to: proxy) { result in
        do {
          reply = try form.encode(result)
        } catch {
          reply = Self.failure("\(error)")
        }
      }
      return reply
    } catch {
      return Self.failure("\(error)")
    }
  }

  private static func failure(_ reason: String) -> [UInt8] {
    ReplyForm.errorMark + Array(reason.utf8.prefix(4000))
  }

  private func form(of record: WireRecord) throws(RemoteError) -> ReplyForm {
    condition.lock()
    let known = forms[record.selector]
    condition.unlock()
    if let known { return known }
    let form = try ReplyForm(record.selector, resultOf: record.signature)
    condition.lock()
    forms[record.selector] = form
    condition.unlock()
    return form
  }
}
