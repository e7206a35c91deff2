// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

// Observers of libuv's callbacks, which the loop's thread calls: uv-observers [ROUNDS]. They join and leave on the main
// thread while the loop runs.

import ExampleSupport
import SharedUV

let rounds = argument("ROUNDS", default: 200)
let loop = EventLoop()
try Timers.checkAll(loop, rounds: rounds)
try FileEvents.checkAll(loop, files: rounds)
try Echo.checkAll(loop, bytes: rounds << 14)
loop.stop()
printCheckCount()
