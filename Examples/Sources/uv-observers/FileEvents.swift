// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CUV
import ExampleSupport
import Forwarding
import Foundation
import SharedUV
import Synchronization

/// Two observers of the files of a directory.
enum FileEvents {
  private final class Names: DynamicProxy.Subscriber {
    let loop: EventLoop
    let names = Mutex<Set<String>>([])

    init(_ loop: EventLoop) { self.loop = loop }

    static let functionTable = FunctionTable(for: Names.self) {
      $0.on(UVKey.fileChanged) { names, name, _, status in
        check(names.loop.isCurrent, "a file event on another thread")
        check(status, is: 0, "the status of a file event")
        if let name { _ = names.names.withLock { $0.insert(name) } }
      }
    }

    var all: Set<String> { names.withLock { $0 } }
  }

  static func checkAll(_ loop: EventLoop, files: Int) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path
    let proxy = try DynamicProxy("Files") { $0.optional(UVKey.fileChanged) }
    let observers = [Names(loop), Names(loop)]
    for observer in observers { try proxy.subscribe(observer) }
    let callback = try proxy.functionPointer(for: UVKey.fileChanged, context: .first, owner: proxy)
    let events = loop.perform { loop in
      let events = Handle(loop.allocate(uv_fs_event_t.self))
      EventLoop.require(uv_fs_event_init(loop.loop, events.pointer), "making a watcher")
      let missing = uv_fs_event_start(events.pointer, callback.unsafeCast(), path + "/missing", 0)
      check(missing, is: UV_ENOENT.rawValue, "the status of watching nothing")
      EventLoop.require(
        uv_fs_event_start(events.pointer, callback.unsafeCast(), path, 0), "watching \(path)")
      return events
    }
    let names = Set((0..<files).map { "file\($0)" })
    // Not by a temporary file, which the observers would see too.
    for name in names {
      try Data([1]).write(to: URL(fileURLWithPath: "\(path)/\(name)"), options: [])
    }
    for observer in observers {
      wait(until: "an observer has seen all files") { observer.all.count == files }
      check(observer.all == names, "the names of the files")
    }
    loop.perform { _ in uv_close(events.handle, nil) }
    print("files: \(files) told to \(observers.count) observers")
    withExtendedLifetime((proxy, observers)) {}
  }
}
