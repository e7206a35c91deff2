// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import Testing

@Suite("fwd encode") struct EncodeCommandTests {
  /// What `--json` writes, as far as the tests read it.
  private struct Document: Decodable {
    struct Member: Decodable {
      let name: String
      let offset: Int?
    }

    struct Function: Decodable {
      let kind: String
      let name: String
      let encoding: String?
      let problem: String?
      let offset: Int?
      let contexts: [Int]
    }

    struct Structure: Decodable {
      let name: String
      let size: Int
      let alignment: Int
      let problem: String?
      let members: [Member]
    }

    struct Alone: Decodable {
      struct Layout: Decodable {
        let name: String
        let size: Int
        let alignment: Int
        let members: [[String: Int]]
      }

      let type: String
      let encoding: String?
      let statedLayouts: [Layout]
    }

    let functions: [Function]
    let structs: [Structure]
    let types: [Alone]
  }

  /// The headers of six libraries, and the modules that import them.
  private static let headers: [(header: String, module: String)] = [
    ("sqlite3.h", "CSQLite"), ("uv.h", "CUV"), ("curl/curl.h", "CCurl"), ("expat.h", "CExpat"),
    ("stdlib.h", "Glibc"), ("ftw.h", "Glibc"),
  ]

  /// Those of them that are installed, with the files.
  static let installed: [(header: String, module: String, file: String)] = headers.compactMap {
    header, module in
    let directories = [
      "/usr/include", "/usr/include/x86_64-linux-gnu", "/usr/include/aarch64-linux-gnu",
    ]
    return directories.map { "\($0)/\(header)" }
      .first { FileManager.default.fileExists(atPath: $0) }.map { (header, module, $0) }
  }

  private func encode(_ arguments: String...) throws -> String { try encode(arguments) }

  private func encode(_ arguments: [String]) throws -> String {
    let run = try ToolRun.fwd(["encode"] + arguments)
    #expect(run.errorText == "")
    #expect(run.status == 0)
    return run.output
  }

  // MARK: - Declarations

  @Test(arguments: [
    ("int (*)(void *, int)", "i^vi"), ("int (*)(void)", "i"), ("const char *(**)(void)", "r*"),
    ("double cos(double)", "dd"), ("unsigned long", "Q"),
    ("size_t (*)(char *, size_t, size_t, void *)", "Q*QQ^v"),
    ("int f(const char *, const struct stat *, int)", "ir*r^{stat=}i"),
    ("void f(int [4], double (*)[3], char **, unsigned char *)", "v^i^[3d]^**"),
    ("int f(int (*)(void))", "i^?"), ("int f(int g(void))", "i^?"),
    ("void f(_Bool, signed char, short, long long, float, long double, __int128)", "vBcsqfDt"),
    ("_Complex double f(_Complex float)", "jdjf"),
    ("struct P { int x; double y[2]; }", "{P=\"x\"i\"y\"[2d]}"),
    ("union U { int x; char y; }", "(U=\"x\"i\"y\"c)"), ("enum E { a } f(enum E)", "II"),
    ("int printf(const char *, ...)", "ir*..."), ("int f(va_list *)", "i^[1{__va_list_tag=}]"),
    ("_Atomic int f(_Atomic char *)", "Ai^Ac"), ("void f(void)", "v"),
  ])
  func `declarations and types`(declaration: String, encoding: String) throws {
    let output = try encode(declaration)
    #expect(output.split(whereSeparator: \.isWhitespace).contains(Substring(encoding)), "\(output)")
  }

  @Test func `callbacks among the parameters`() throws {
    let output = try encode(
      "int exec(void *, int (*callback)(void *user, char **texts), void *user)")
    let lines = output.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.first?.contains("i^v^?^v") == true)
    #expect(lines.last?.hasPrefix("callback  exec/callback  i^v^*") == true)
    #expect(lines.last?.hasSuffix("context: parameter 1 (user)") == true)
  }

  @Test func `callbacks whose types have names come with the function that takes them`() throws {
    let output = try encode("--header", "uv.h", "uv_read_start", "uv_read_cb")
    let names = output.split(separator: "\n").map { $0.split(separator: " ")[1] }
    // Each once, the wanted ones in the order of the header.
    #expect(names == ["uv_read_cb", "uv_read_start", "uv_alloc_cb"])
    let keys = try encode("--header", "uv.h", "--swift", "uv_read_start")
    #expect(keys.contains("static let uvAllocCb = Method("))
    #expect(keys.contains("static let uvReadCb = Method("))
  }

  @Test func `another name of a callback's type is the same callback`() throws {
    let tree = try TemporaryTree()
    let header = tree.path + "/take.h"
    try """
    typedef void changed(int code, void *user);
    typedef changed *changed_pointer;
    void take(changed_pointer f, void *user);
    void take_too(changed *f, void *user);
    struct operations { void (*filter)(changed_pointer f); };
    """.write(toFile: header, atomically: true, encoding: .utf8)
    #expect(try encode("--header", header, "--swift").contains("static let changed = Method("))
    for names in [["take"], ["take_too"], ["take", "take_too"]] {
      let keys = try encode(["--header", header, "--swift"] + names)
      #expect(keys.contains("static let changed = Method(\n    \"changed:\","))
      #expect(keys.components(separatedBy: "= Method(").count == 2)
    }
    // A declaration beside a header. The library passes the callback of `filter`, so no key is written for it.
    let mine = try encode("--header", header, "--swift", "void mine(changed_pointer f)")
    #expect(mine.contains("static let changed = Method("))
    let operations = try encode("--header", header, "--swift", "operations")
    #expect(!operations.contains("static let changed"))
  }

  @Test func `a file without a callback is not written`() throws {
    let run = try failure("--header", "math.h", "--swift", "cos")
    #expect(run.status == 65)
    #expect(run.text.contains("there is no callback in cos, so there is nothing to write"))
  }

  @Test func `the last header gives the enum its name`() throws {
    let keys = try encode("--header", "stdio.h", "--header", "stdlib.h", "--swift", "qsort")
    #expect(keys.contains("enum Stdlib {"))
  }

  @Test func `layouts that an encoding does not carry`() throws {
    let packed = try encode("struct P { char a; int b; } __attribute__((packed))")
    #expect(
      packed.contains(
        "StatedLayout(\"P\", size: 5, alignment: 1, members: [.offset(0), .offset(1)], memberAlignment: 1)"
      ))
    let bits = try encode("struct F { unsigned a : 3; unsigned b : 20; double c; }")
    #expect(bits.contains("{F=\"a\"b3\"b\"b20\"c\"d}"))
    #expect(bits.contains("members: [.bit(0), .bit(3), .offset(8)]"))
    #expect(!(try encode("struct N { char a; int b; }").contains("StatedLayout")))
  }

  @Test func `JSON of a type given alone has the layouts too`() throws {
    let tree = try TemporaryTree()
    let header = tree.path + "/packed.h"
    try "struct Packed { char a; int b; } __attribute__((packed));"
      .write(toFile: header, atomically: true, encoding: .utf8)
    let text = try encode("--header", header, "struct Packed", "--json")
    let document = try JSONDecoder().decode(Document.self, from: Data(text.utf8))
    let type = try #require(document.types.first)
    #expect(type.encoding == "{Packed=\"a\"c\"b\"i}")
    let layout = try #require(type.statedLayouts.first)
    #expect(layout.name == "Packed" && layout.size == 5 && layout.alignment == 1)
    #expect(layout.members == [["offset": 0], ["offset": 1]])
  }

  @Test func `other calling conventions are refused`() throws {
    let output = try encode("int f(int) __attribute__((ms_abi))")
    #expect(output.contains("none: an attribute gives it another calling convention"))
  }

  @Test func `pointers to pointers without an end`() throws {
    let output = try encode("void f(int \(String(repeating: "*", count: 1000))p)")
    // What is far behind a pointer does not matter to a call.
    #expect(output.hasPrefix("function  f  v^^^") && output.hasSuffix("^v\n"))
  }

  @Test func `names of symbols`() throws {
    #expect(try encode("int f(int) __asm__(\"g\")").contains("symbol g"))
  }

  // MARK: - Headers

  @Test(arguments: installed.indices)
  func `all of a header is accepted, with the compilers' sizes and offsets`(index: Int) throws {
    let header = Self.installed[index].header
    let text = try encode("--header", header, "--json")
    let document = try JSONDecoder().decode(Document.self, from: Data(text.utf8))
    #expect(!document.functions.isEmpty)
    for function in document.functions { #expect(function.problem == nil, "\(function.name)") }
    var source = "#include <stddef.h>\n#include <\(header)>\n"
    var count = 0
    for structure in document.structs {
      #expect(structure.problem == nil, "\(structure.name)")
      // A tag, or the name of a typedef.
      let names = ["struct \(structure.name)", "union \(structure.name)", structure.name]
      let kind = try names.first {
        try compiles("#include <\(header)>\nint size = sizeof(\($0));", by: "clang")
      }
      guard let kind else { continue }
      source += "_Static_assert(sizeof(\(kind)) == \(structure.size), \"\");\n"
      source += "_Static_assert(_Alignof(\(kind)) == \(structure.alignment), \"\");\n"
      for member in structure.members where !member.name.isEmpty {
        guard let offset = member.offset else { continue }
        source += "_Static_assert(offsetof(\(kind), \(member.name)) == \(offset), \"\");\n"
        count += 1
      }
    }
    #expect(count > 0 || document.structs.isEmpty)
    #expect(try compiles(source, by: "clang"))
    #expect(try compiles(source, by: "gcc"))
  }

  private func compiles(_ source: String, by compiler: String) throws -> Bool {
    let tree = try TemporaryTree()
    try source.write(toFile: tree.path + "/source.c", atomically: true, encoding: .utf8)
    return try ToolRun.shell("\(compiler) -std=gnu17 -w -fsyntax-only '\(tree.path)/source.c'")
      .status == 0
  }

  @Test(arguments: installed.indices)
  func `the Swift file of a header compiles`(index: Int) throws {
    let (header, module, file) = Self.installed[index]
    let tree = try TemporaryTree()
    let text = try encode("--header", header, "--swift", "--import", module)
    #expect(text.contains("static let"))
    #expect(!text.contains("no key"), "\(text)")
    // Structs of callbacks get a function that fills them.
    if header == "sqlite3.h" { #expect(text.contains("callbackTable(sqlite3_vfs.self")) }
    if header == "uv.h" { #expect(!text.contains("callbackTable(")) }
    if header == "curl/curl.h" {
      #expect(text.contains("extension curlsocktype: @retroactive TypeEncodable"))
    }
    try text.write(toFile: tree.path + "/Keys.swift", atomically: true, encoding: .utf8)
    try "module \(module == "Glibc" ? "Unused" : module) [system] { header \"\(file)\" export * }"
      .write(toFile: tree.path + "/module.modulemap", atomically: true, encoding: .utf8)
    let run = try ToolRun.shell(
      "swiftc -warnings-as-errors -swift-version 6 -module-name Keys -typecheck '\(tree.path)/Keys.swift' "
        + "\(ToolRun.moduleFlags) -I '\(tree.path)'")
    #expect(run.status == 0, "\(run.errorText)")
  }

  @Test func `names in a header`() throws {
    let output = try encode("--header", "ftw.h", "__ftw_func_t", "--header", "sys/stat.h", "stat")
    #expect(output.contains("callback  __ftw_func_t  ir*r^{stat=}i"))
    #expect(output.contains("function  stat"))
    #expect(!output.contains(" \n"))
  }

  @Test func `other names of a typedef, and functions without a prototype`() throws {
    let tree = try TemporaryTree()
    let header = tree.path + "/names.h"
    try
      "typedef int (*cb)(void *, int); typedef cb cb2; typedef struct foo { int a; } foo_t; int kr();"
      .write(toFile: header, atomically: true, encoding: .utf8)
    let output = try encode("--header", header, "cb2", "foo_t", "kr")
    #expect(output.contains("callback  cb2    i^vi"))
    #expect(output.contains("struct    foo_t  {foo=\"a\"i}"))
    #expect(output.contains("function  kr     none: it has no prototype"))
    #expect(!(try encode("--header", header)).contains("cb2"))
    try "typedef struct { int (*cb)(void *); } Ops; typedef void (*table)(int);"
      .write(toFile: header, atomically: true, encoding: .utf8)
    let once = try encode("--header", header, "Ops")
    #expect(once.split(separator: "\n").count == 2, "\(once)")
    #expect(try encode("--header", header, "--swift").contains("static let table2 = Method("))
    try FileManager.default.createDirectory(
      atPath: tree.path + "/below", withIntermediateDirectories: false)
    try "typedef void (*inner)(int);".write(
      toFile: tree.path + "/below/names.h", atomically: true, encoding: .utf8)
    try "#include \"below/names.h\"\ntypedef void (*outer)(int);".write(
      toFile: header, atomically: true, encoding: .utf8)
    let own = try encode("--header", header)
    #expect(own.contains("outer") && !own.contains("inner"))
  }

  @Test func `keys leave out a context where its name says so`() throws {
    func key(_ declaration: String) throws -> String { try encode(declaration, "--swift") }
    let first = try key("void (*f)(void *, int)")
    #expect(first.contains("`context: .first`") && first.contains("((Int32) -> Void).self"))
    let last = try key("void (*f)(int, double, void *userdata)")
    #expect(last.contains("Parameter 3 (`userdata`) is taken for the context, and left out"))
    #expect(last.contains("`context: .last`") && last.contains("((Int32, Double) -> Void).self"))
    let middle = try key("void (*f)(int, void *ctx, void *text)")
    #expect(middle.contains("`context: .at(1)`") && middle.contains("\"f::\""))
    // Without names any of them may be it.
    let unnamed = try key("int (*f)(unsigned, void *, void *)")
    #expect(unnamed.contains("Parameter 2 or Parameter 3 may be the context"))
    #expect(unnamed.contains("\"f:::\""))
    let member = try key("struct S { int (*control)(struct S *, int, void *arg); }")
    #expect(member.contains("may be the context") && member.contains("\"sControl:::\""))
    #expect(try key("int (*f)(int)").contains("It has no context."))
    // The memory that an allocator frees.
    let memory = try key("void (*release)(void *ptr)")
    #expect(memory.contains("Parameter 1 (`ptr`) may be the context"))
    #expect(memory.contains("((UnsafeMutableRawPointer?) -> Void).self"))
  }

  @Test func `directories and macros as pkg-config prints them`() throws {
    let tree = try TemporaryTree()
    try "#ifdef DEFINED\ntypedef void (*tick)(int);\n#endif"
      .write(toFile: tree.path + "/joined.h", atomically: true, encoding: .utf8)
    let output = try encode("--header", "joined.h", "-I\(tree.path)", "-DDEFINED=1")
    #expect(output.hasPrefix("callback  tick  vi"))
    #expect(try encode("--header", "joined.h", "-I", tree.path, "-D", "DEFINED=1") == output)
    // The first directory of several wins.
    let other = tree.path + "/other"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
    try "typedef void (*tock)(short);".write(
      toFile: other + "/joined.h", atomically: true, encoding: .utf8)
    let first = try encode("-I", other, "--header", "joined.h", "-I\(tree.path)", "-DDEFINED")
    #expect(first == "callback  tock  vs\n")
  }

  @Test func `flags of the compiler`() throws {
    let tree = try TemporaryTree()
    try FileManager.default.createDirectory(
      atPath: tree.path + "/system", withIntermediateDirectories: false)
    try "typedef void (*tock)(short);"
      .write(toFile: tree.path + "/system/inner.h", atomically: true, encoding: .utf8)
    try """
    #include <inner.h>
    #ifdef _REENTRANT
    typedef void (*tick)(int);
    #endif
    #ifdef __AVX__
    typedef void (*wide)(int);
    #endif
    """.write(toFile: tree.path + "/flags.h", atomically: true, encoding: .utf8)
    let header = tree.path + "/flags.h"
    // As for `pkg-config --cflags gio-2.0`, which prints -pthread.
    let threads = try encode("-isystem", tree.path + "/system", "-pthread", "--header", header)
    #expect(threads == "callback  tick  vi\n")
    let others = try encode(
      "--header", header, "tock", "-isystem\(tree.path)/system", "-Wall", "-O2", "-UNONE", "-U",
      "NONE", "-std=c11", "-Wl,--as-needed", "-lm", "--flag", "--sysroot=/", "--flag=-fPIC",
      "--flag", "-I/")
    #expect(others == "callback  tock  vs\n")
    // Definitions and their ends keep their order. What the linker needs is skipped, with its value.
    let ordered = try encode(
      "-isystem", tree.path + "/system", "-U_REENTRANT", "-D_REENTRANT=1", "-L", "/usr/lib", "-l",
      "m", "--header", header)
    #expect(ordered == "callback  tick  vi\n")
    let ended = try encode(
      "-isystem", tree.path + "/system", "-D", "_REENTRANT", "-U", "_REENTRANT", "--header", header,
      "tock")
    #expect(ended == "callback  tock  vs\n")
    #if arch(x86_64)
      let wide = try encode("-mavx", "-isystem", tree.path + "/system", "--header", header)
      #expect(wide == "callback  wide  vi\n")
    #endif
  }

  @Test(arguments: [
    ["--header", "ftw.h", "-mno"], ["int f(void)", "--flag", "-mno"],
    ["-mno", "--header", "ftw.h", "ftw"],
  ])
  func `flags that the compiler does not know`(arguments: [String]) throws {
    let words = arguments.map { "'\($0)'" }.joined(separator: " ")
    let run = try ToolRun.shell("\"$FWD\" encode \(words)")
    #expect(run.output == "")
    #expect(run.errorText == "fwd: the compiler refuses its flags: unknown argument: '-mno'\n")
    #expect(run.status == 64)
    for flag in ["-isystem", "-I", "-D"] {
      let incomplete = try ToolRun.shell("\"$FWD\" encode 'int f(void)' \(flag)")
      #expect(incomplete.errorText.contains("The compiler's flag \(flag) needs a value."))
      #expect(incomplete.status == 64)
    }
    let misspelled = try ToolRun.shell("\"$FWD\" encode 'int f(void)' -jsno")
    #expect(misspelled.errorText.contains("Did you mean '--json'?"))
  }

  @Test func `names that Swift has other uses for`() throws {
    let output = try encode(
      "struct S { void (*guard)(void); void (*Catch)(struct { int a; } *p); }", "--swift")
    #expect(output.contains("points to a struct without a name"))
    let alone = try encode("void (*guard)(void)", "--swift")
    #expect(alone.contains("static let `guard` = Method("))
    for name in ["class", "9x", "a b", "", "Method"] {
      #expect(try ToolRun.fwd("encode", "int (*)(int)", "--swift", "--name", name).status == 64)
    }
  }

  // MARK: - What is wrong

  private func failure(
    _ arguments: String..., environment: [String: String] = [:]
  ) throws -> (status: Int32, text: String) {
    let run = try ToolRun.fwd(["encode"] + arguments, environment: environment)
    #expect(run.output == "")
    return (run.status, run.errorText)
  }

  @Test(arguments: [
    ("int (*", "expected ')'"), ("xyz *f(void)", "'xyz'"),
    ("int f(int)(int)", "cannot return function type"), ("struct S s; int x = 1 +;", "expected"),
    ("int f(struct Incomplete)", "struct Incomplete"),
  ])
  func `declarations that are no C`(text: String, reason: String) throws {
    let run = try ToolRun.fwd("encode", text)
    #expect((run.errorText + run.output).contains(reason), "\(run.errorText)\(run.output)")
  }

  @Test func `a header in the working directory`() throws {
    let tree = try TemporaryTree()
    try "int here(void);".write(toFile: tree.path + "/here.h", atomically: true, encoding: .utf8)
    let found = try ToolRun.shell("cd '\(tree.path)' && \"$FWD\" encode --header ./here.h")
    #expect(found.output == "function  here  i\n")
    let missed = try ToolRun.shell("cd '\(tree.path)' && \"$FWD\" encode --header here.h")
    #expect(missed.errorText.contains("here.h: to read the file in this directory, write ./here.h"))
  }

  @Test func `headers that cannot be read`() throws {
    let missing = try failure("--header", "no/such.h")
    // As for any file that cannot be opened.
    #expect(missing.status == 66)
    #expect(missing.text.contains("no/such.h: 'no/such.h' file not found"))
    // Not blamed on the declaration.
    let declared = try failure("--header", "no/such.h", "int f(int)")
    #expect(declared == missing)
    let tree = try TemporaryTree()
    try "int f(size_t count);".write(
      toFile: tree.path + "/needs.h", atomically: true, encoding: .utf8)
    let needing = try failure("--header", tree.path + "/needs.h")
    #expect(needing.status == 65)
    #expect(needing.text.contains("needs.h:1:7:"))
    #expect(needing.text.contains("nothing was encoded"))
    #expect(
      try encode("--header", "stddef.h", "--header", tree.path + "/needs.h", "f").contains("iQ"))
  }

  @Test func `names that no header declares`() throws {
    let run = try failure("--header", "ftw.h", "ftww")
    #expect(run.status == 65)
    #expect(run.text.contains("no header declares \"ftww\"; did you mean \"ftw\"?"))
    #expect(try failure("--header", "ftw.h", "FTW_F").text.contains("FTW_F"))
  }

  @Test func `a machine without libclang`() throws {
    let run = try failure("int f(void)", environment: ["FWD_LIBCLANG": "/no/libclang.so"])
    #expect(run.status == 69)
    #expect(run.text.contains("libclang-dev"))
    #expect(run.text.contains("tried: /no/libclang.so"))
    let other = try failure("int f(void)", environment: ["FWD_LIBCLANG": "libc.so.6"])
    #expect(other.text.contains("libc.so.6 has no function clang_createIndex"))
  }

  @Test func `wrong usage`() throws {
    #expect(try ToolRun.fwd("encode").status == 64)
    #expect(try failure("name").status == 64)
    #expect(try failure("int f(void)", "--swift", "--json").status == 64)
  }
}
