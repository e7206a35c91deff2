// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Sensors send readings by TCP. libuv calls back on its own thread, and a proxy delivers each reading where its
// subscribers are: to a model on the main actor, which shows the latest, and to actors that write all to SQLite:
// uv-sensors [READINGS].

#if GRDB
  import ExampleSupport
  import Forwarding
  import ForwardingDelivery
  import GRDB
  import SharedUV

  let sensors = Sensors(
    count: 4, readings: argument("READINGS", default: 25_000))
  let total = sensors.count * sensors.readings

  // From libuv's callbacks to values, on the loop's thread.
  let loop = EventLoop()
  let server = try DynamicProxy("Server") {
    $0.optional(UVKey.connected)
    $0.optional(UVKey.received)
  }
  let readings = try SensorKey.makeProxy()
  let reader = LineReader(loop, readings)
  try server.subscribe(reader)
  let connected = try server.functionPointer(for: UVKey.connected, owner: server)
  let received = try server.functionPointer(for: UVKey.received, owner: server)
  let accepting = try server.subscribe {
    $0.on(UVKey.connected) { server, status in
      check(status, is: 0, "the status of a connection")
      loop.accept(from: server, received.unsafeCast())
    }
  }

  // From values to those who want them.
  let directory = try TemporaryDirectory()
  let dashboard = Dashboard()
  let archive = try Archive("\(directory.path)/readings.sqlite")
  let small = try Archive("\(directory.path)/small.sqlite", pageLimit: 20)
  let showing = try dashboard.observe(readings)
  let archiving = try archive.observe(readings)
  let failing = try small.observe(readings)
  let ended = try readings.signal(for: SensorKey.ended)

  let address = loop.perform { $0.listen(connected.unsafeCast()).address }
  sensors.start(to: address)

  // The main thread goes on meanwhile, and so does the main actor.
  for await _ in ended.prefix(sensors.count) {}
  // All has been sent. Each executor delivers what it has not yet.
  for subscription in [showing.drawing, archiving, failing] { await subscription.drained() }
  for archive in [archive, small] { await archive.write() }

  let count = try await archive.count()
  check(count, is: total, "the readings in the database")
  let values = (0..<sensors.readings).map(Sensors.value)
  for sensor in 1...sensors.count {
    let written = try await archive.values(of: Int32(sensor))
    check(written == values, "the readings of sensor \(sensor), or their order")
  }
  check(dashboard.text, is: try await archive.latest() ?? "", "what the dashboard shows")
  check(
    dashboard.drawCount + showing.drawing.droppedCount, is: total, "readings drawn and dropped")
  let nonsense = (0..<sensors.count).flatMap { _ in Sensors.nonsense }
  check(dashboard.misreadLines.sorted(), is: nonsense.sorted(), "the lines that are not readings")

  // An observer that fails does not disturb the others.
  let error = await small.failure as? DatabaseError
  let isFull = error?.resultCode == .SQLITE_FULL
  let smallCount = try await small.count()
  check(isFull || smallCount == total, "the small archive has failed otherwise")
  check(await small.lostCount, is: total - smallCount, "the readings lost")

  print("\(total) readings of \(sensors.count) sensors")
  print("archive: \(count) rows, in the order of each sensor")
  print("small archive: \(smallCount) rows\(isFull ? ", then it was full" : "")")
  print(
    "dashboard: drawn \(dashboard.drawCount) times, \(showing.drawing.droppedCount) skipped; \(dashboard.text)"
  )
  loop.stop()
  printCheckCount()
  withExtendedLifetime((server, reader, accepting)) {}
#else
  print("built without the trait GRDB, so there is nothing to show")
#endif
