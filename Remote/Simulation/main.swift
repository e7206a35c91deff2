// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import RemoteSupport

let usage = """
  usage: remote-simulation kill MESSAGES KILLS   kills the publisher, the server and the consumer
         remote-simulation cluster [KILLS]       kills one of three servers at a time
  """

func count(_ index: Int) throws -> Int {
  guard CommandLine.arguments.count > index, let value = Int(CommandLine.arguments[index]),
    value > 0
  else { throw Failure(description: usage) }
  return value
}

Child.endWithParent()
do {
  let arguments = CommandLine.arguments
  switch arguments.dropFirst().first {
  case "kill":
    if try await !simulateKills(messages: count(2), kills: count(3)) { exit(1) }
  case "cluster":
    if try await !simulateCluster(kills: arguments.count > 2 ? count(2) : 6) { exit(1) }
  // The roles of child processes.
  case "publisher":
    try await runPublisher(arguments[2], count(3), rate: count(4))
  case "consumer":
    try await runConsumer(arguments[2], arguments[3])
  default:
    print(usage)
    exit(2)
  }
} catch {
  FileHandle.standardError.write(
    Data("\(CommandLine.arguments.dropFirst().first ?? ""): \(error)\n".utf8))
  exit(1)
}
