// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

#if Journal
  public import Forwarding
  public import ForwardingWire

  extension Journal {
    /// Records each call of the schema's methods, before the subscribers get it.
    ///
    /// ```swift
    /// let schema = try WireSchema(of: proxy)
    /// let recording = try journal.record(proxy, schema)
    /// ```
    ///
    /// Keep the journal and the token. A journal that is released ends recording, as
    /// ``close()`` does. The token does not keep it.
    ///
    /// Recording observes. It changes neither arguments nor results nor the order of
    /// deliveries. Several proxies may be recorded into one journal: give each a producer
    /// of its own, so that ``Filter/producers`` and
    /// ``subscribe(to:_:startingWithLast:producers:_:)`` can tell their calls apart. Two
    /// recordings of one proxy store each call twice.
    ///
    /// A call that is not recorded is delivered as usual, and reported to the proxy's
    /// `Configuration.onError` with the code `deliveryFailed`. If the journal cannot be
    /// written any more, `onError` is also told on the journal's own thread of the calls
    /// that had not become durable, once. Then ``flush()`` and ``close()`` throw the
    /// reason.
    ///
    /// - Parameters:
    ///   - proxy: the proxy. The recording does not keep it alive.
    ///   - schema: the methods to record, and what their pointers point to.
    ///   - producer: a number that names the proxy among those of the journal. Each record
    ///     has it, see `WireRecord.producer`. Proxies with one producer count as one.
    /// - Returns: a token that ends the recording when it is cancelled or deinitialised.
    /// - Throws: `JournalError`: `notRecorded` if the proxy does not declare a method of
    ///   the schema, or declares it with other arguments; `readOnly`, `closed`,
    ///   `notWritten`.
    /// - Complexity: O(*n*) in the number of methods.
    public func record(
      _ proxy: DynamicProxy, _ schema: WireSchema, producer: UInt32 = 0
    ) throws(JournalError) -> DynamicProxy.Token {
      let recorder = try writable()
      try recorder.queue.check()
      try add(schema.identifier, schema.bytes, schema.methodNames, to: recorder)
      let token: DynamicProxy.Token
      do throws(WireError) {
        token = try proxy.record(schema, producer: producer, into: recorder.queue)
      } catch {
        throw JournalError(.notRecorded, path, error.description, wireError: error)
      }
      recorder.add(token, of: proxy, producer)
      recorder.thread.report(token, proxy.configuration.onError)
      return token
    }

    internal func add(
      _ identifier: UInt32, _ record: [UInt8], _ methods: [String], to recorder: Recorder
    ) throws(JournalError) {
      let isAdded = recorder.methods.add(identifier, record, methods) { identifier, record in
        recorder.queue.add(schema: identifier, record)
      }
      guard isAdded else {
        throw JournalError(
          .notRecorded, path,
          "the journal has another schema with the identifier \(identifier): record into a new file"
        )
      }
    }
  }
#endif
