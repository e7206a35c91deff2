// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import Forwarding
internal import ForwardingWire
internal import Foundation

/// Responds to requests with the results of a proxy until it is closed or deinitialised. Store
/// it.
///
/// It connects again by itself. A request that is made meanwhile does not reach it.
public final class RemoteResponder: Sendable {
  /// Which responders of a service get a request.
  public enum Choice: Sendable {
    /// One of them, which the server chooses: for services that several processes share.
    case one
    /// All of them. The first result counts. If a responder fails, the request waits for the others
    /// until its deadline, and throws the first failure if none of them has a result.
    case first
  }

  private let core: ResponderCore

  internal init(_ core: ResponderCore) throws(RemoteError) {
    self.core = core
    try core.connect()
    let thread = Thread { core.run() }
    thread.name = "fwd-responder"
    thread.start()
  }

  deinit { core.close() }

  /// The error that has ended the responder, or nil if it is running or was closed.
  public var failure: RemoteError? { core.failure }

  /// Ends the responder. Requests that have arrived may still get a response.
  public func close() { core.close() }
}

/// The state of a responder.
internal final class ResponderCore: @unchecked Sendable {
  private let name: String
  private let slot: LinkSlot
  private let proxy: DynamicProxy
  private let schema: WireSchema

  // SAFETY: the condition's lock protects the variables.
  private let condition = SteadyCondition()
  private var lastFailure: RemoteError?
  private var isClosed = false
  private var forms: [MethodSelector: ResponseForm] = [:]

  internal init(
    _ name: String, _ engine: any RemoteEngine, _ proxy: DynamicProxy, _ schema: WireSchema
  ) {
    self.name = name
    slot = LinkSlot(engine, promptly: true, condition)
    self.proxy = proxy
    self.schema = schema
  }

  internal var failure: RemoteError? { condition.withLock { lastFailure } }

  internal func close() {
    condition.withLock {
      isClosed = true
      condition.broadcast()
    }
  }

  // MARK: Connections

  internal func connect() throws(RemoteError) {
    do throws(RemoteError) {
      try slot.connect().respond(to: "service.\(name)") { [weak self] in self?.response(to: $0) }
    } catch {
      slot.close()
      throw error.at("service \"\(name)\"")
    }
  }

  /// Keeps the responder connected until it is closed.
  internal func run() {
    var isConnected = true
    do throws(RemoteError) {
      try slot.run { (backoff: inout Backoff) throws(RemoteError) in
        if !isConnected { try connect() }
        isConnected = false
        let start = ContinuousClock.now
        defer { if start.duration(to: .now) >= Timing.stableLink { backoff.reset() } }
        try waitForFault()
      } until: {
        isClosed
      }
    } catch {
      condition.withLock { lastFailure = error }
    }
  }

  /// Waits until the responder is closed.
  ///
  /// - Throws: the fault of the link.
  private func waitForFault() throws(RemoteError) {
    condition.lock()
    defer { condition.unlock() }
    while !isClosed {
      if let fault = slot.fault { throw fault }
      condition.wait()
    }
  }

  // MARK: Responses

  private func response(to request: [UInt8]) -> [UInt8] {
    do {
      var decoder = WireDecoder(request, schema: schema)
      guard let record = try decoder.next() else {
        return Self.failure("the request has no call that the responder's schema knows")
      }
      let form = try form(of: record)
      var response = Self.failure("there is no result")
      // SAFETY: the form refuses results with objects and pointers.
      try unsafe record.unsafeForward(to: proxy) { result in
        do {
          response = try form.encode(result)
        } catch {
          response = Self.failure("\(error)")
        }
      }
      return response
    } catch {
      return Self.failure("\(error)")
    }
  }

  private static func failure(_ reason: String) -> [UInt8] {
    ResponseForm.errorMark + Array(reason.utf8.prefix(4000))
  }

  private func form(of record: WireRecord) throws(RemoteError) -> ResponseForm {
    if let known = condition.withLock({ forms[record.selector] }) { return known }
    let form = try ResponseForm(record.selector, resultOf: record.signature)
    condition.withLock { forms[record.selector] = form }
    return form
  }
}
