// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import RemoteSupport

// Two processes that share what happens in a database. One drives SQLite: it changes the values of
// eight sensors, and an update hook reports each change. The other one draws the values as bars.
// Either may be killed and started again at any time, and so may the server: no change is lost,
// doubled or out of order.
//
//     nats-server -js -a 127.0.0.1            in one terminal
//     sqlite-mirror drive sensors.db          in another one
//     sqlite-mirror draw                      in a third one

let usage = """
  usage: sqlite-mirror drive DATABASE [CHANGES]   changes values, until there are CHANGES
         sqlite-mirror draw [CHANGES]             draws them, until it has drawn CHANGES
         sqlite-mirror test CHANGES KILLS         runs both and kills them, and compares the values

  The server's address is NATS_URL in the environment, or nats://127.0.0.1:4222.
  """

func number(_ arguments: [String], _ index: Int) throws -> Int? {
  guard arguments.count > index else { return nil }
  guard let value = Int(arguments[index]), value > 0 else {
    throw Failure(description: "\"\(arguments[index])\" is no number above 0\n\(usage)")
  }
  return value
}

Child.endWithParent()
let server = ProcessInfo.processInfo.environment["NATS_URL"] ?? "nats://127.0.0.1:4222"
do {
  let arguments = CommandLine.arguments
  switch (arguments.dropFirst().first, arguments.count) {
  case ("drive", 3...4):
    try await drive(arguments[2], server, until: number(arguments, 3))
  case ("draw", 2...3):
    try await draw(server, until: number(arguments, 2))
  case ("test", 4):
    guard let changes = try number(arguments, 2), let kills = try number(arguments, 3) else {
      break
    }
    if try await !testKills(changes: changes, kills: kills) { exit(1) }
  case ("--help", _): print(usage)
  default: throw Failure(description: usage)
  }
} catch {
  FileHandle.standardError.write(Data("sqlite-mirror: \(error)\n".utf8))
  exit(1)
}
