// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
internal import FwdBenchDriver
internal import FwdBenchReceivers

/// What is done without this package.
enum HandWrittenRows {
  static func rows(_ stage: Stage) -> [Row] {
    inC(stage) + [
      // References by `weak` make side tables, so these have their own receivers.
      loop(Way.weakBoxes, stage, WeakBoxes.self, weak: true),
      loop(
        "Swift: loop over generic weak boxes, cast", stage, GenericWeakBoxes.self, weak: true),
      loop("Swift: loop over weak class boxes", stage, WeakClassBoxes.self, weak: true),
      loop("Swift: loop over closures, [weak receiver]", stage, WeakClosures.self, weak: true),
      loop(Way.strongReferences, stage, StrongReferences.self, weak: false),
      .fanOut("Foundation: NotificationCenter", stage.size, stage.sideTabled) {
        let emitter = NotificationEmitter(stage.crowdWithSideTables.receivers)
        return { iterations in
          emitter.emit(iterations)
          return 0
        }
      },
    ]
  }

  private static func loop<List: HandWritten>(
    _ way: String, _ stage: Stage, _: List.Type, weak: Bool
  ) -> Row {
    .fanOut(way, stage.size, weak ? stage.sideTabled : stage.plain) {
      let crowd = weak ? stage.crowdWithSideTables : stage.crowd
      let emitter = Emitter<List>(crowd.receivers)
      return { iterations in
        emitter.emit(iterations)
        return 0
      }
    }
  }

  private static func inC(_ stage: Stage) -> [Row] {
    let kinds: [(kind: bench_message_kind, suffix: String)] = [
      (BENCH_MESSAGE_NOTIFY, ""), (BENCH_MESSAGE_ANSWER, ", results"),
      (BENCH_MESSAGE_LARGE, ", 24-byte struct"), (BENCH_MESSAGE_MIXED, ", {double, int64}"),
    ]
    return kinds.flatMap { kind in
      let answers =
        kind.kind == BENCH_MESSAGE_ANSWER
        ? unsafe bench_current_message().pointee.count * Int64(stage.size) : 0
      return [
        Row.fanOut(Way.functionPointers + kind.suffix, stage.size, stage.inC, answers: answers) {
          let slots = unsafe bench_crowd_slots(stage.cCrowd.unsafeHandle, kind.kind)
          return { unsafe bench_call_slots(slots, stage.size, kind.kind, $0) }
        },
        Row.fanOut("C: loop over ffi_call" + kind.suffix, stage.size, stage.inC, answers: answers) {
          let slots = unsafe bench_crowd_slots(stage.cCrowd.unsafeHandle, kind.kind)
          return { unsafe bench_ffi_call_slots(slots, stage.size, kind.kind, $0) }
        },
      ]
    }
  }
}
