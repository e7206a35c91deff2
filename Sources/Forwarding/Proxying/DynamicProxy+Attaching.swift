// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CForwardingInternal

extension DynamicProxy {
  /// Subscribes an object for some methods, be others required or not: what
  /// handles single methods is no conformer.
  internal func attach(
    _ owner: AnyObject, _ dispatch: DispatchTable, at position: Position = .last,
    lifetime: Lifetime, duplicates: Configuration.Duplicates = .allow
  ) throws(ForwardingError) -> Subscription {
    // SAFETY: the owner is alive until the subscription holds it.
    let address = unsafe Unmanaged.passUnretained(owner).toOpaque()
    let candidate = unsafe SubscriberList.Candidate(
      address, receiver: address, lifetime, at: position, limit: .none, duplicates: duplicates)
    defer { extendLifetime(owner) }
    return Subscription(
      anchor: anchor, identifier: try subscribers.insert(candidate, dispatch))
  }

  /// Finds how the parameters of a closure, which may be fewer than the
  /// method's, stand in calls of it.
  @usableFromInline
  internal func leadingCoders<each Argument>(
    _ selector: MethodSelector, _: repeat (each Argument).Type
  ) throws(ForwardingError) -> ArgumentCoders<repeat each Argument> {
    let signature = try method(for: selector).signature
    do throws(ForwardingError) {
      return try ArgumentCoders(selector, signature, mayBeFewer: true)
    } catch {
      throw Self.mismatch(selector, signature, error)
    }
  }

  /// Finds how the result of a closure stands in calls of a method.
  @usableFromInline
  internal func resultCoder<Output>(
    _ selector: MethodSelector, _: Output.Type
  ) throws(ForwardingError) -> ValueCoder<Output> {
    let signature = try method(for: selector).signature
    do throws(ForwardingError) {
      return try ValueCoder(ofClosure: selector, signature)
    } catch {
      throw Self.mismatch(selector, signature, error)
    }
  }

  private static func mismatch(
    _ selector: MethodSelector, _ signature: MethodSignature, _ error: ForwardingError
  ) -> ForwardingError {
    ForwardingError(
      .signatureMismatch, selector: selector.name,
      "the closure for \"\(selector)\" does not fit \"\(signature)\": \(error)")
  }
}
