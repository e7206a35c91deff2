// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import RemoteSupport

/// Runs both processes and a server, kills each of them in turn, and compares what was drawn with the
/// database.
func testKills(changes: Int, kills: Int) async throws -> Bool {
  let server = try NATSServer().start()
  unsafe setenv("NATS_URL", server.url, 1)
  let path = server.directory.appendingPathComponent("sensors.db").path
  // Opened before the other process starts: two processes that create a database at the same time may find it locked.
  let database = try Database(path)
  let driving = Child(["drive", path, "\(changes)"], capturesOutput: true)
  let drawing = Child(["draw", "\(changes)"], capturesOutput: true)
  defer {
    driving.kill()
    drawing.kill()
  }
  try driving.start()
  try drawing.start()
  for kill in 0..<(3 * kills) {
    let goal = Int64(changes * (kill + 1) / (3 * kills + 1))
    while try database.newestChange() < goal, driving.isRunning {
      try await Task.sleep(for: .milliseconds(5))
    }
    switch kill % 3 {
    case 0:
      driving.kill()
      try driving.start()
    case 1:
      drawing.kill()
      try drawing.start()
    default:
      server.kill()
      try server.start()
    }
  }
  driving.wait()
  drawing.wait()
  guard !driving.hasFailed, !drawing.hasFailed else {
    print("FAILED: a process has ended with an error")
    return false
  }
  var expected = Picture.State()
  expected.changes = changes
  expected.values = try database.values()
  guard drawing.output == expected.bars + "\n" else {
    print("FAILED: the database has\n\(expected.bars)\nbut the picture is\n\(drawing.output)")
    return false
  }
  print(
    "\(expected.bars)\nThe picture is that of the database, after \(kills) kills of each process.")
  return true
}
