// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

internal import CFwdBench
public import FwdBenchDriver

/// The rows of the issue on calls: the loops are in C, see CFwdBench.h.
public enum CallRows {
  private static let shapes: [(shape: bench_shape, name: String)] = [
    (BENCH_NOTIFY, "(pointer, int64, double) -> void"),
    (BENCH_SIX, "(pointer, int64, double, int, float, int64) -> int64"),
    (BENCH_TAKE_LARGE, "(24-byte struct) -> void"),
    (BENCH_TAKE_MIXED, "({double, int64}) -> void"),
    (BENCH_GIVE_LARGE, "(pointer) -> 24-byte struct"),
    (BENCH_GIVE_MIXED, "(pointer) -> {double, int64}"),
    (BENCH_MANY, "(12 int64, 10 double) -> void"),
  ]

  private static let ways: [(way: bench_way, name: String)] = [
    (BENCH_DIRECT, "direct"),
    (BENCH_FFI_CALL, "ffi_call"),
    (BENCH_FFI_PLAN, "ffi_call_plan_invoke"),
    (BENCH_FWD_CALL, "fwd_call"),
    (BENCH_FWD_CALL_LIBFFI, "fwd_call, libffi forced"),
    (BENCH_FFI_CLOSURE, "libffi closure"),
    (BENCH_FWD_CLOSURE, "fwd closure"),
    (BENCH_FWD_CLOSURE_LIBFFI, "fwd closure, libffi forced"),
  ]

  private static let ours = [
    "fwd_call", "fwd_call, libffi forced", "fwd closure", "fwd closure, libffi forced",
  ]

  private static func name(_ way: String, _ shape: String) -> String { "\(way) \(shape)" }

  /// The rows and goals.
  public static var group: RowGroup {
    RowGroup(name: "call", rows: { all }, goals: { goals })
  }

  // MARK: - Rows

  private static var all: [Row] { calls + signatures }

  private static var calls: [Row] {
    shapes.flatMap { shape in
      ways.filter { way in bench_call_is_available(shape.shape, way.way) }.map { way in
        Row(
          group: "call", way: name(way.name, shape.name),
          run: { Sample(bench_call(shape.shape, way.way, $0)) },
          verify: { Sample(bench_call_recording(shape.shape, way.way, $0)) })
      }
    }
  }

  private static var signatures: [Row] {
    shapes.flatMap { shape in
      let seen = { Sample(bench_signature_seen(shape.shape, $0)) }
      let new = { Sample(bench_signature_new(shape.shape, $0)) }
      return [
        Row(group: "call", way: name("signature seen", shape.name), run: seen, verify: seen),
        Row(group: "call", way: name("signature new", shape.name), run: new, verify: new),
      ]
    }
  }

  // MARK: - Goals

  private static var goals: [Goal] {
    let structs = 2...5
    return [
      Goal(
        group: "call", title: "(pointer, int64, double) -> void",
        bounds: [
          calling(0, atMost: 0.10, of: "ffi_call"),
          calling(0, atMost: 2, of: "direct", unit: "a direct C function-pointer call"),
        ]),
      Goal(
        group: "call", title: "(pointer, int64, double, int, float, int64) -> int64",
        bounds: [calling(1, atMost: 0.06, of: "ffi_call")]),
      Goal(
        group: "call",
        title: "a 24-byte struct by value; a 16-byte {double, int64}; results of both",
        bounds: structs.map {
          calling($0, atMost: 0.25, of: "ffi_call", detail: shapes[$0].name)
        }),
      Goal(
        group: "call", title: "12 integer and 10 double arguments (stack words)",
        bounds: [calling(6, atMost: 0.25, of: "ffi_call")]),
      Goal(
        group: "call", title: "closure entry to handler",
        bounds: shapes.map { shape in
          Bound(
            quantity: .ratio(
              of: name("fwd closure", shape.name), to: name("libffi closure", shape.name)),
            limit: 0.4, unit: "libffi's closure", detail: shape.name)
        }),
      Goal(
        group: "call", title: "creating a signature already seen",
        bounds: shapes.map { shape in
          Bound(
            quantity: .time(of: name("signature seen", shape.name)), limit: 100, unit: "ns",
            detail: shape.name)
        }),
      Goal(
        group: "call", title: "creating a new signature",
        bounds: shapes.map { shape in
          Bound(
            quantity: .time(of: name("signature new", shape.name)), limit: 5000, unit: "ns",
            detail: shape.name)
        }),
      Goal(
        group: "call", title: "allocations per call",
        bounds: ours.flatMap { way in
          shapes.map { shape in
            let row = name(way, shape.name)
            return Bound(quantity: .allocations(of: row), limit: 0, unit: "", detail: row)
          }
        }),
    ] + planGoals
  }

  /// Nothing where libffi has no call plans.
  private static var planGoals: [Goal] {
    let bounds = shapes.indices.compactMap { index in
      bench_call_is_available(shapes[index].shape, BENCH_FFI_PLAN)
        ? calling(
          index, atMost: 0.25, of: "ffi_call_plan_invoke", detail: shapes[index].name, isAim: true)
        : nil
    }
    return bounds.isEmpty
      ? [] : [Goal(group: "call", title: "beside libffi's own call plans", bounds: bounds)]
  }

  private static func calling(
    _ index: Int, atMost limit: Double, of base: String, unit: String? = nil, detail: String = "",
    isAim: Bool = false
  ) -> Bound {
    let shape = shapes[index].name
    return Bound(
      quantity: .ratio(of: name("fwd_call", shape), to: name(base, shape)), limit: limit,
      unit: unit ?? base, detail: detail, isAim: isAim)
  }
}
