// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import CompilerPluginSupport
import PackageDescription

/// How deliveries call Swift closures: "packs" or "loads" forces one of the two ways, see ClosureConvention.
let closures = Context.environment["FWD_CLOSURES"]
precondition(
  [nil, "packs", "loads"].contains(closures), "FWD_CLOSURES must be \"packs\" or \"loads\"")

let swiftSettings: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatWarning("StrictMemorySafety", as: .error),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// The command line's -warnings-as-errors would reach swift-syntax too, where it
// contradicts the package manager's own flags.
let macroSettings =
  swiftSettings
  + (Context.environment["FWD_WARNINGS_AS_ERRORS"] != nil ? [.treatAllWarnings(as: .error)] : [])

/// Makes the functions of CForwardingInternal available, which other targets cannot call.
let internalHeaders: [CSetting] = [.define("FWD_INTERNAL")]

/// A module of swift-syntax, for targets that are empty without the trait.
func swiftSyntax(_ module: String) -> Target.Dependency {
  .product(name: module, package: "swift-syntax", condition: .when(traits: ["Macros"]))
}

/// OpenCombine, for targets that are empty without the trait.
let openCombine = Target.Dependency.product(
  name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"]))

/// SQLite, for targets that are empty without the trait.
let sqlite = Target.Dependency.target(
  name: "CForwardingSQLite", condition: .when(traits: ["Journal"]))

let package = Package(
  name: "swift-forwarding",
  // The Synchronization module begins with these. Only Linux is tested.
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Forwarding", targets: ["Forwarding"]),
    // Delivery on actors, queues and executors.
    .library(name: "ForwardingDelivery", targets: ["ForwardingDelivery"]),
    // Invocations as bytes, and back.
    .library(name: "ForwardingWire", targets: ["ForwardingWire"]),
    // Calls recorded into a file, and replayed. Empty without the trait "Journal".
    .library(name: "ForwardingJournal", targets: ["ForwardingJournal"]),
    // Configurations that do what other multi-delegates do.
    .library(name: "ForwardingPresets", targets: ["ForwardingPresets"]),
    // Spies for tests with swift-testing. For test targets only: it links Testing.
    .library(name: "ForwardingTesting", targets: ["ForwardingTesting"]),
    // Typed proxies for Swift protocols. Empty without the trait "Macros".
    .library(name: "ForwardingMacros", targets: ["ForwardingMacros"]),
    // Signals as publishers. Empty without the trait "OpenCombine".
    .library(name: "ForwardingOpenCombine", targets: ["ForwardingOpenCombine"]),
    // forwarding.h for C targets. Proxies need the Swift module at link time; calls and closures do not.
    .library(name: "CForwarding", targets: ["CForwarding"]),
    // For the packages in Benchmarks/Peers and Examples only. The names of its targets are among those of every client.
    .library(
      name: "_Benchmarks",
      targets: [
        "FwdBenchDriver", "FwdBenchReceivers", "FwdBenchRows", "CFwdBench", "CFwdMeasure",
      ]),
  ],
  traits: [
    .trait(
      name: "Macros",
      description:
        "The typed front end, ForwardingMacros. Brings swift-syntax in, for the build only."),
    .trait(
      name: "OpenCombine",
      description: "Publishers, ForwardingOpenCombine. Brings OpenCombine in."),
    .trait(
      name: "Journal",
      description:
        "Recorded calls in a file, ForwardingJournal. Needs SQLite and its headers, libsqlite3-dev."
    ),
  ],
  dependencies: [
    // Neither cloned nor pinned without the trait: whatever uses it is conditioned.
    .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
    .package(
      url: "https://github.com/OpenCombine/OpenCombine", .upToNextMinor(from: "0.14.0")),
  ],
  targets: [
    .systemLibrary(
      name: "CLibFFI", path: "CLibFFI", pkgConfig: "libffi",
      providers: [.apt(["libffi-dev"]), .brew(["libffi"])]),
    .target(
      name: "CForwarding", dependencies: ["CLibFFI"], path: "CShims", sources: ["src"],
      cSettings: [.headerSearchPath("internal"), .headerSearchPath("src")]),
    // The C target's functions that only this package uses. No product offers it.
    .systemLibrary(name: "CForwardingInternal", path: "CShims/internal"),
    .target(
      name: "Forwarding", dependencies: ["CForwarding", "CForwardingInternal"],
      cSettings: internalHeaders,
      swiftSettings: swiftSettings
        + (closures.map { [.define("FWD_CLOSURES_\($0.uppercased())")] } ?? [])),
    .target(
      name: "ForwardingDelivery", dependencies: ["Forwarding"], swiftSettings: swiftSettings),
    // The processor's CRC instruction, which Swift cannot name.
    .target(name: "CForwardingWire"),
    .target(
      name: "ForwardingWire",
      dependencies: ["Forwarding", "CForwardingInternal", "CForwardingWire"],
      cSettings: internalHeaders, swiftSettings: swiftSettings),
    .systemLibrary(
      name: "CForwardingSQLite", path: "Sources/CForwardingSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .target(
      name: "ForwardingJournal",
      dependencies: ["ForwardingWire", "Forwarding", "CForwardingInternal", sqlite],
      cSettings: internalHeaders, swiftSettings: swiftSettings),
    .target(
      name: "ForwardingPresets", dependencies: ["Forwarding"], swiftSettings: swiftSettings),
    .target(
      name: "ForwardingTesting", dependencies: ["Forwarding"], swiftSettings: swiftSettings),
    .macro(
      name: "ForwardingMacrosPlugin",
      dependencies: [
        swiftSyntax("SwiftParser"), swiftSyntax("SwiftSyntax"), swiftSyntax("SwiftSyntaxBuilder"),
        swiftSyntax("SwiftSyntaxMacros"), swiftSyntax("SwiftDiagnostics"),
        swiftSyntax("SwiftCompilerPlugin"),
      ], swiftSettings: macroSettings),
    .target(
      name: "ForwardingMacros", dependencies: ["ForwardingMacrosPlugin", "Forwarding"],
      swiftSettings: macroSettings),
    .target(
      name: "ForwardingOpenCombine", dependencies: ["Forwarding", openCombine],
      swiftSettings: macroSettings),
    .target(
      name: "CTestFixtures", dependencies: ["CForwarding"], path: "Tests/Support/CTestFixtures"),
    // Delivers in a process with one thread; a program of the tests.
    .executableTarget(
      name: "fwd-one-thread", dependencies: ["Forwarding"], path: "Tests/Support/OneThread",
      swiftSettings: swiftSettings),
    .testTarget(
      name: "ForwardingTests",
      dependencies: [
        "fwd-one-thread", "Forwarding", "ForwardingPresets", "CForwarding", "CForwardingInternal",
        "CTestFixtures",
      ],
      cSettings: internalHeaders, swiftSettings: swiftSettings),
    .testTarget(
      name: "ForwardingDeliveryTests",
      dependencies: ["ForwardingDelivery", "Forwarding", "CForwarding", "CTestFixtures"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "ForwardingTestingTests", dependencies: ["ForwardingTesting", "Forwarding"],
      swiftSettings: swiftSettings),
    .target(
      name: "WireFuzz", dependencies: ["ForwardingWire", "CForwardingWire", "Forwarding"],
      path: "Tests/Support/WireFuzz", swiftSettings: swiftSettings),
    .executableTarget(
      name: "fwd-fuzz-wire", dependencies: ["WireFuzz", "ForwardingWire"], path: "Tests/Fuzz/Wire",
      swiftSettings: swiftSettings),
    .testTarget(
      name: "ForwardingWireTests",
      dependencies: [
        "WireFuzz", "ForwardingTesting", "ForwardingWire", "CForwardingWire", "Forwarding",
      ], swiftSettings: swiftSettings),
    // Records until it is killed; a program of the tests.
    .executableTarget(
      name: "fwd-journal-recorder",
      dependencies: ["ForwardingJournal", "ForwardingWire", "Forwarding"],
      path: "Tests/Support/JournalRecorder", swiftSettings: swiftSettings),
    .testTarget(
      name: "ForwardingJournalTests",
      dependencies: [
        "fwd-journal-recorder", "ForwardingJournal", "ForwardingWire", "CForwardingWire",
        "Forwarding", sqlite,
      ], swiftSettings: swiftSettings),
    .target(
      name: "MacroProtocols", dependencies: ["ForwardingMacros"],
      path: "Tests/Support/MacroProtocols", swiftSettings: macroSettings),
    .testTarget(
      name: "ForwardingMacrosTests",
      dependencies: [
        "MacroProtocols", "ForwardingMacrosPlugin", "ForwardingMacros", "ForwardingDelivery",
        "ForwardingPresets", "ForwardingTesting", "Forwarding", "CForwarding",
        swiftSyntax("SwiftParser"), swiftSyntax("SwiftSyntax"), swiftSyntax("SwiftSyntaxMacros"),
        swiftSyntax("SwiftSyntaxMacroExpansion"),
        swiftSyntax("SwiftSyntaxMacrosGenericTestSupport"),
      ], exclude: ["Fixtures"], swiftSettings: macroSettings),
    .testTarget(
      name: "ForwardingOpenCombineTests",
      dependencies: ["ForwardingOpenCombine", "Forwarding", openCombine],
      swiftSettings: macroSettings),
    .target(name: "CFwdMeasure", path: "Benchmarks/Driver/CFwdMeasure"),
    .target(
      name: "FwdBenchDriver", dependencies: ["CFwdMeasure"], path: "Benchmarks/Driver",
      exclude: ["CFwdMeasure"], swiftSettings: swiftSettings),
    .target(
      name: "CFwdBench", dependencies: ["CForwarding", "CLibFFI", "CFwdMeasure"],
      path: "Benchmarks/Suite/CFwdBench"),
    .target(
      name: "FwdBenchReceivers",
      dependencies: [
        "CFwdBench", "Forwarding",
        .target(name: "ForwardingMacros", condition: .when(traits: ["Macros"])),
      ],
      path: "Benchmarks/Suite/Receivers", swiftSettings: swiftSettings),
    .target(
      name: "FwdBenchRows",
      dependencies: [
        "FwdBenchDriver", "FwdBenchReceivers", "CFwdBench", "CForwarding", "CFwdMeasure",
        "Forwarding", "ForwardingDelivery", "ForwardingJournal", "ForwardingTesting",
        "ForwardingWire",
        .target(name: "ForwardingMacros", condition: .when(traits: ["Macros"])),
      ],
      path: "Benchmarks/Suite/Rows", swiftSettings: swiftSettings),
    .executableTarget(
      name: "fwd-bench", dependencies: ["FwdBenchDriver", "FwdBenchRows"],
      path: "Benchmarks/Suite", exclude: ["CFwdBench", "Receivers", "Rows"],
      swiftSettings: swiftSettings),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .c11
)

// FWD_TRAIT_TESTS leaves out all tests but those behind the traits Macros and OpenCombine. scripts/test sets it for the build
// with all traits, since another build has the other tests.
if Context.environment["FWD_TRAIT_TESTS"] != nil {
  package.targets.removeAll {
    $0.type == .test && !["ForwardingMacrosTests", "ForwardingOpenCombineTests"].contains($0.name)
  }
}
