// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import Testing

/// Programs that use a file of `fwd encode --swift`. What only compiles may still
/// fail at run time, where the keys' types are read.
@Suite("Files of fwd encode --swift") struct GeneratedSourceTests {
  private static let hasExpat = EncodeCommandTests.installed.contains { $0.header == "expat.h" }

  /// A C library of one header. The name of its struct of callbacks is one that the file would
  /// give to a member of its enum.
  private static let header = """
    enum step { step_first, step_last };
    struct steps {
      int version;
      void (*began)(void *context, const char *name);
      int (*took)(enum step step, double length, void *context);
    };
    static inline int walk(const struct steps *steps) {
      steps->began(0, "walk");
      return steps->took(step_first, 0.5, 0) + steps->took(step_last, 1.5, 0);
    }
    """

  private static let stepsProgram = """
    import CSteps
    import Forwarding
    import Synchronization

    final class Walker: Sendable {
      let names = Mutex<[String]>([])
      let length = Mutex(0.0)
    }

    let table = try Steps.table()
    var configuration = DynamicProxy.Configuration()
    configuration.results[Steps.stepsTook.selector] = .reduce(Int32(0)) { $0 + $1 }
    let proxy = try DynamicProxy(adopting: table, configuration: configuration)
    let walkers = [Walker(), Walker()]
    for walker in walkers {
      try proxy.subscribe(walker) {
        $0.on(Steps.stepsBegan) { walker, name in
          walker.names.withLock { $0.append(name.map { String(cString: $0) } ?? "null") }
        }
        $0.on(Steps.stepsTook) { walker, step, length, _ in
          walker.length.withLock { $0 += length }
          return step == step_last ? 10 : 1
        }
      }
    }
    print(walk(try Steps.stepsTable(proxy, owner: proxy)))
    for walker in walkers {
      print(walker.names.withLock { $0 }, walker.length.withLock { $0 })
    }
    """

  private static let expatProgram = """
    import CExpat
    import Forwarding
    import Foundation
    import Synchronization

    final class Counter: Sendable {
      let text = Mutex("")
      func add(_ more: String) { text.withLock { $0 += more } }
    }

    // Counts the blocks of memory that the parser has.
    final class Allocator: Sendable {
      let blocks = Atomic(0)
    }

    let proxy = try DynamicProxy(adopting: Expat.table())
    let allocator = Allocator()
    try proxy.subscribe(allocator) {
      $0.on(Expat.xmlMemoryHandlingSuiteMallocFcn) { allocator, size in
        allocator.blocks.add(1, ordering: .relaxed)
        return malloc(size)
      }
      $0.on(Expat.xmlMemoryHandlingSuiteReallocFcn) { allocator, block, size in
        if block == nil { allocator.blocks.add(1, ordering: .relaxed) }
        return realloc(block, size)
      }
      $0.on(Expat.xmlMemoryHandlingSuiteFreeFcn) { allocator, block in
        if block != nil { allocator.blocks.subtract(1, ordering: .relaxed) }
        free(block)
      }
    }
    let memory = try Expat.xmlMemoryHandlingSuite(proxy, owner: proxy)
    let counters = [Counter(), Counter()]
    for counter in counters {
      try proxy.subscribe(counter) {
        $0.on(Expat.xmlStartElementHandler) { counter, name, _ in
          counter.add("<" + String(cString: name!))
        }
        $0.on(Expat.xmlEndElementHandler) { counter, name in
          counter.add(">" + String(cString: name!))
        }
        $0.on(Expat.xmlCharacterDataHandler) { counter, _, count in counter.add("\\(count)") }
      }
    }
    let start = try proxy.functionPointer(
      for: Expat.xmlStartElementHandler, context: .first, owner: proxy)
    let end = try proxy.functionPointer(
      for: Expat.xmlEndElementHandler, context: .first, owner: proxy)
    let text = try proxy.functionPointer(
      for: Expat.xmlCharacterDataHandler, context: .first, owner: proxy)
    let parser = XML_ParserCreate_MM(nil, memory, nil)
    XML_SetElementHandler(parser, start.unsafeCast(), end.unsafeCast())
    XML_SetCharacterDataHandler(parser, text.unsafeCast())
    let document = "<a><b/>text</a>"
    print(XML_Parse(parser, document, Int32(document.utf8.count), 1) == XML_STATUS_OK)
    print(allocator.blocks.load(ordering: .relaxed) > 0)
    XML_ParserFree(parser)
    print(allocator.blocks.load(ordering: .relaxed))
    for counter in counters { print(counter.text.withLock { $0 }) }
    """

  @Test func `a struct of callbacks reaches two observers`() throws {
    let tree = try TemporaryTree()
    try Self.header.write(toFile: tree.path + "/steps.h", atomically: true, encoding: .utf8)
    let output = try run(
      Self.stepsProgram, header: tree.path + "/steps.h", module: "CSteps", in: tree)
    #expect(output == "22\n[\"walk\"] 2.0\n[\"walk\"] 2.0\n")
  }

  // MARK: - Members of structs

  /// A library that does less without a callback. Some of its names would be those of keys, of the table, of the
  /// enum, and of members that Swift has other uses for.
  private static let clashingHeader = """
    enum clashEvent { event_begin = 5, event_end = 7 };
    typedef int (*clash_event)(enum clashEvent event);
    enum table { first_table = 3 };
    typedef enum table (*table_of)(enum table table);
    struct Clash { int x; };
    struct ClashCallbacks { int (*x)(void); int (*on_failure)(struct ClashCallbacks *self); };
    struct Set { int x; };
    typedef void (*use_set)(struct Set *set);
    typedef void (*at)(const struct Clash *point);
    struct clash_ops {
      int (*init)(int value);
      void (*self)(void *context, enum clashEvent event);
      double (*a_b)(enum table table);
      void *(*aB)(void);
      enum clashEvent (*next)(void);
    };
    static inline int run_ops(const struct clash_ops *ops, int value) {
      if (ops->self) ops->self(0, event_end);
      return ops->init ? ops->init(value) : -100;
    }
    """

  private static let clashingProgram = """
    import CClash
    import Forwarding

    // Calls fail, since nobody responds.
    var configuration = DynamicProxy.Configuration()
    configuration.onError = { _ in }
    let proxy = try DynamicProxy(
      adopting: ClashCallbacks2.table2(), configuration: configuration)
    let ops = try ClashCallbacks2.clashOps(
      proxy, owner: proxy, nullIfUnimplemented: [.`init`, .self2], aBOnFailure: 2.5,
      aB2OnFailure: UnsafeMutableRawPointer(bitPattern: 16), nextOnFailure: event_end)
    print(run_ops(ops, 1), ops.pointee.`init` == nil, ops.pointee.a_b == nil)
    print(ops.pointee.a_b(first_table), Int(bitPattern: ops.pointee.aB()), ops.pointee.next().rawValue)
    let token = try proxy.subscribe {
      $0.on(ClashCallbacks2.clashOpsInit) { value in value + 1 }
      $0.on(ClashCallbacks2.clashOpsSelf) { event in print("event", event.rawValue) }
      $0.on(ClashCallbacks2.clashOpsNext) { event_begin }
    }
    print(run_ops(ops, 1), ops.pointee.next().rawValue)
    token.cancel()
    print(run_ops(ops, 1))

    // Without these parameters, no member is null, and failed calls give what the methods declare.
    let other = try DynamicProxy("Other", configuration: configuration) {
      $0.optional(ClashCallbacks2.clashOpsInit, onFailure: -5)
      $0.optional(ClashCallbacks2.clashOpsSelf)
      $0.optional(ClashCallbacks2.clashOpsAB)
      $0.optional(ClashCallbacks2.clashOpsAB2)
      $0.optional(ClashCallbacks2.clashOpsNext)
    }
    let plain = try ClashCallbacks2.clashOps(other, owner: other)
    print(run_ops(plain, 1), plain.pointee.a_b(first_table), plain.pointee.aB() == nil)
    let all = try ClashCallbacks2.clashOps(
      other, owner: other, nullIfUnimplemented: Swift.Set(ClashCallbacks2.ClashOpsMember.allCases))
    print(all.pointee.a_b == nil && all.pointee.next == nil)

    // A key beside an enum of its name.
    let events = try DynamicProxy(adopting: ClashCallbacks2.table2())
    let twice = try events.subscribe { $0.on(ClashCallbacks2.clashEvent2) { Int32($0.rawValue) * 2 } }
    print(try events.send(ClashCallbacks2.clashEvent2, event_end))

    // A struct of the enum's usual name, with a member whose key is named like another one's parameter.
    let both = try ClashCallbacks2.clashCallbacks(
      proxy, owner: proxy, nullIfUnimplemented: [.x], xOnFailure: 3, onFailureOnFailure: 4)
    print(both.pointee.x == nil, both.pointee.on_failure(both))
    withExtendedLifetime(twice) {}
    """

  @Test func `members are null or fail as the program says, and no name is that of a C type`()
    throws
  {
    let tree = try TemporaryTree()
    try Self.clashingHeader.write(
      toFile: tree.path + "/clash.h", atomically: true, encoding: .utf8)
    let output = try run(
      Self.clashingProgram, header: tree.path + "/clash.h", module: "CClash", in: tree)
    #expect(
      output == """
        -100 true false
        2.5 16 7
        event 7
        2 5
        -100
        -5 0.0 true
        true
        14
        true 4

        """)
    let named = try ToolRun.fwd(
      "encode", "--header", tree.path + "/clash.h", "--swift", "--name", "Clash")
    #expect(
      named.errorText
        == "fwd: \"Clash\" is a C type in the file: choose another --name\n")
    #expect(named.status == 64 && named.output == "")
  }

  @Test(.enabled(if: hasExpat)) func `the callbacks of expat reach two observers`() throws {
    let tree = try TemporaryTree()
    let file = try #require(EncodeCommandTests.installed.first { $0.header == "expat.h" }).file
    let output = try run(
      Self.expatProgram, header: file, module: "CExpat", libraries: "-lexpat", in: tree)
    #expect(output == "true\ntrue\n0\n<a<b>b4>a\n<a<b>b4>a\n")
  }

  // MARK: - The page on C callbacks

  private static let page = URL(filePath: #filePath)
    .appending(path: "../../../../Sources/Forwarding/Documentation.docc/BridgingC.md").standardized

  private static let hasSQLite = EncodeCommandTests.installed.contains { $0.header == "sqlite3.h" }

  @Test(.enabled(if: hasSQLite)) func `the page's program of SQLite prints what the page says`()
    throws
  {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let mark = try #require(text.firstRange(of: "GeneratedSourceTests.swift builds and runs"))
    let example = try #require(
      text[mark.upperBound...].firstMatch(of: /```swift\n((?s).*?)```(?s).*?```text\n(.*?)```/))
    let batch = try #require(
      text[example.range.upperBound...].firstMatch(of: /```swift\n((?s).*?)```/))
    let tree = try TemporaryTree()
    let file = try #require(EncodeCommandTests.installed.first { $0.header == "sqlite3.h" }).file
    let program = String(example.1 + batch.1)
    let output = try run(
      program, header: file, module: "CSQLite", libraries: "-lsqlite3", in: tree)
    #expect(output == example.2)
  }

  @Test(.enabled(if: hasSQLite)) func `the page's key is the one that is written`() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let shown = try #require(
      text.firstMatch(of: /\n( +\/\/\/ `sqlite3_update_hook\/2`(?s).*?)\n\n/))
    let run = try ToolRun.fwd("encode", "--header", "sqlite3.h", "--swift", "sqlite3_update_hook")
    func unindented(_ text: some StringProtocol) -> String {
      text.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: "\n")
    }
    #expect(unindented(run.output).contains(unindented(shown.1)))
  }

  // MARK: - Building

  /// The flag of the sanitizer that the tests, and so the objects, were built with.
  private static let sanitizer: String = {
    let program = unsafe dlopen(nil, RTLD_LAZY)
    if unsafe dlsym(program, "__asan_init") != nil { return "-sanitize=address" }
    if unsafe dlsym(program, "__tsan_init") != nil { return "-sanitize=thread" }
    return ""
  }()

  /// Writes the keys of a header, compiles a program with them, and runs it. Returns what it prints.
  private func run(
    _ program: String, header: String, module: String, libraries: String = "",
    in tree: TemporaryTree
  ) throws -> String {
    let encode = try ToolRun.shell(
      "\"$FWD\" encode --header '\(header)' --swift --import \(module) > '\(tree.path)/Keys.swift'")
    #expect(encode.errorText == "")
    try program.write(toFile: tree.path + "/main.swift", atomically: true, encoding: .utf8)
    try "module \(module) [system] { header \"\(header)\" export * }"
      .write(toFile: tree.path + "/module.modulemap", atomically: true, encoding: .utf8)
    // The library's objects are those of the tool: to build them again would take minutes.
    let compiler = try ToolRun.shell(
      "cd '\(tree.path)' && grep -E '/C?Forwarding[.]build/' "
        + "\"$(dirname \"$FWD\")/fwd.product/Objects.LinkFileList\" >objects && "
        + "swiftc -warnings-as-errors -swift-version 6 -module-name Program \(ToolRun.moduleFlags) "
        + "-I . Keys.swift main.swift @objects \(Self.sanitizer) $(pkg-config --libs libffi) "
        + "\(libraries) -o program")
    try #require(compiler.status == 0, "\(compiler.errorText)\(compiler.output)")
    let run = try ToolRun.shell("cd '\(tree.path)' && ./program")
    #expect(run.errorText == "")
    #expect(run.status == 0)
    return run.output
  }
}
