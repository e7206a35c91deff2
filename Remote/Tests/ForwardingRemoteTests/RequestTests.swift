// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Dispatch
import Forwarding
import ForwardingRemote
import ForwardingWire
import Foundation
import RemoteSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct RequestTests {
  private static let twice = Method("twice:", ((Int64) -> Int64).self)
  private static let length = Method("length:", ((String) -> Int32).self)
  private static let slow = Method("slow", (() -> Bool).self)
  private static let note = Method("note:", ((Int64) -> Void).self)

  private let server: NATSServer
  private let link: RemoteConnection
  private let schema: WireSchema

  init() async throws {
    server = try NATSServer(jetStream: false).start()
    link = try await RemoteConnection(to: server.url, options: .patient)
    schema = try WireSchema(of: Self.proxy())
  }

  private static func proxy() throws -> DynamicProxy {
    try DynamicProxy {
      $0.optional(twice)
      $0.optional(length)
      $0.optional(slow)
      $0.optional(note)
    }
  }

  /// A proxy of another process, which multiplies.
  ///
  /// - Parameter wait: called before each multiplication.
  private func responder(
    _ factor: Int64, after wait: @escaping @Sendable (Int64) -> Void = { _ in }
  ) async throws -> (RemoteResponder, DynamicProxy.Token, Collected<Int64>) {
    let proxy = try Self.proxy()
    let seen = Collected<Int64>()
    let token = try proxy.subscribe {
      $0.on(Self.twice) { number in
        wait(number)
        seen.append(number)
        return number * factor
      }
      $0.on(Self.length) { Int32($0.utf8.count) }
      $0.on(Self.note) { seen.append($0) }
    }
    return (try await link.respond(to: "numbers", with: proxy, schema), token, seen)
  }

  @Test func `A request has the result of a method of another process`() async throws {
    let (responder, token, seen) = try await responder(2)
    #expect(try await link.request("numbers", schema, Self.twice, 21) == 42)
    #expect(try await link.request("numbers", schema, Self.length, "hello") == 5)
    try await link.request("numbers", schema, Self.note, 7)
    #expect(seen.all == [21, 7])
    responder.close()
    token.cancel()
  }

  @Test func `One, the first, or all of several responders are asked`() async throws {
    let (isAnswered, isAsked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let fast = try await responder(20) { if $0 == 2 { isAsked.signal() } }
    // The slow responder responds to request 1 once the test has the fast one's response, and to
    // request 2 a second after the fast responder has received it.
    let slow = try await responder(10) {
      if $0 == 1 { _ = isAnswered.wait(timeout: .now() + 60) }
      if $0 == 2 {
        _ = isAsked.wait(timeout: .now() + 60)
        sleep(1)
      }
    }
    #expect(try await link.request("numbers", schema, Self.twice, 1, from: .first) == 20)
    isAnswered.signal()
    let all = try await link.requestAll("numbers", schema, Self.twice, 2, within: .seconds(5))
    #expect(all == [40, 20])
    let before = fast.2.all.count + slow.2.all.count
    #expect(before == 4)
    for _ in 0..<20 { _ = try await link.request("numbers", schema, Self.twice, 3, from: .one) }
    #expect(fast.2.all.count + slow.2.all.count == 24)
    #expect(fast.2.all.count > 2 && slow.2.all.count > 2)
    fast.0.close()
    slow.0.close()
  }

  @Test func `A responder that fails does not hide the results of others`() async throws {
    let bad = try Self.proxy()
    // Nobody has subscribed to this proxy.
    let failing = try await link.respond(to: "numbers", with: bad, schema)
    let alone = await remoteError {
      _ = try await link.request(
        "numbers", schema, Self.twice, 1, from: .first, within: .milliseconds(300))
    }
    #expect(alone?.code == .responderFailed, "\(alone as Any)")
    let every = await remoteError {
      _ = try await link.requestAll("numbers", schema, Self.twice, 1, within: .milliseconds(300))
    }
    #expect(every?.code == .responderFailed, "\(every as Any)")
    // The good responder responds after the failing one.
    let good = try await responder(2) { _ in usleep(200_000) }
    let first = try await link.request("numbers", schema, Self.twice, 21, from: .first)
    #expect(first == 42)
    let all = try await link.requestAll("numbers", schema, Self.twice, 4, within: .seconds(2))
    #expect(all == [8])
    failing.close()
    good.0.close()
    good.1.cancel()
  }

  @Test func `Nobody responds, or not in time`() async throws {
    let error = await remoteError { _ = try await link.request("nobody", schema, Self.twice, 1) }
    #expect(error?.code == .noResponders && error?.description.contains("\"nobody\"") == true)
    let every = await remoteError {
      _ = try await link.requestAll("nobody", schema, Self.twice, 1, within: .seconds(1))
    }
    #expect(every?.code == .noResponders)
    let (responder, token, _) = try await responder(2) { _ in sleep(3) }
    // Without the deadline, the response would be in time.
    let late = await remoteError {
      _ = try await link.request("numbers", schema, Self.twice, 1, within: .milliseconds(200))
    }
    #expect(late?.code == .timedOut)
    responder.close()
    token.cancel()
  }

  @Test func `What fails in the other process is an error here`() async throws {
    let (responder, token, _) = try await responder(2)
    let silent = await remoteError { _ = try await link.request("numbers", schema, Self.slow) }
    #expect(silent?.code == .responderFailed && silent?.description.contains("slow") == true)
    let changed = Method("twice:", ((Double) -> Double).self)
    let other = try WireSchema(of: DynamicProxy { $0.optional(changed) })
    let mismatch = await remoteError { _ = try await link.request("numbers", other, changed, 1) }
    #expect(mismatch?.code == .responderFailed)
    #expect(mismatch?.description.contains("\"twice:\" was recorded as") == true)
    // The same arguments, and another result.
    let wider = Method("twice:", ((Int64) -> Double).self)
    let wide = try WireSchema(of: DynamicProxy { $0.optional(wider) })
    let result = await remoteError { _ = try await link.request("numbers", wide, wider, 1) }
    #expect(result?.code == .undecodable && result?.wireError?.code == .schemaMismatch)
    let unknown = await remoteError { _ = try await link.request("numbers", other, Self.note, 1) }
    #expect(unknown?.code == .invalidArgument)
    let pointer = unsafe Method("p", (() -> UnsafePointer<CChar>?).self)
    let pointers = try WireSchema(of: DynamicProxy { unsafe $0.optional(pointer) })
    let refused = await remoteError {
      _ = unsafe try await link.request("numbers", pointers, pointer)
    }
    #expect(refused?.code == .invalidArgument && refused?.description.contains("pointer") == true)
    responder.close()
    token.cancel()
  }

  @Test func `Requests and responders survive a server that is started again`() async throws {
    let (responder, token, _) = try await responder(2)
    #expect(try await link.request("numbers", schema, Self.twice, 1) == 2)
    server.kill()
    let away = await remoteError { _ = try await link.request("numbers", schema, Self.twice, 1) }
    #expect(away?.code == .disconnected, "\(away as Any)")
    try server.start()
    var response: Int64?
    _ = await eventually {
      response = try? await link.request("numbers", schema, Self.twice, 4)
      return response != nil
    }
    #expect(response == 8 && responder.failure == nil)
    responder.close()
    // The responder's thread closes its connection.
    var error: RemoteError?
    _ = await eventually {
      error = await remoteError { _ = try await link.request("numbers", schema, Self.twice, 1) }
      return error?.code == .noResponders
    }
    #expect(error?.code == .noResponders)
    token.cancel()
  }

  @Test func `A responder needs permission`() async throws {
    let guarded = try NATSServer(
      """
      authorization { users = [
        { user: a, password: p, permissions: { subscribe: ["_INBOX.>"], publish: ["fwd.service.open.*"] } }
      ] }
      """, jetStream: false
    ).start()
    var options = RemoteOptions.patient
    options.credentials = .user("a", password: "p")
    let link = try await RemoteConnection(to: guarded.url, options: options)
    let proxy = try Self.proxy()
    let error = await remoteError { _ = try await link.respond(to: "numbers", with: proxy, schema) }
    #expect(error?.code == .permissionDenied, "\(error as Any)")
    #expect(error?.description.contains("fwd.service.numbers") == true)
    let asking = await remoteError { _ = try await link.request("numbers", schema, Self.twice, 1) }
    #expect(asking?.code == .permissionDenied, "\(asking as Any)")
    let open = await remoteError { _ = try await link.request("open", schema, Self.twice, 1) }
    #expect(open?.code == .noResponders, "\(open as Any)")
  }
}
