// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Forwarding authors

import Foundation
import Testing

@Suite("fwd walk", .serialized) struct WalkCommandTests {
  // MARK: - What is counted

  @Test func `counts what find counts`() throws {
    let tree = try TemporaryTree.withEverything()
    let run = try ToolRun.fwd("walk", "--json", tree.path)
    #expect(run.status == 0)
    #expect(run.errorText == "")
    let json = try WalkJSON(run)
    let find = try FindListing(tree.path)
    #expect(find.entries.count > 35)
    #expect(json.directory == tree.path)
    #expect(json.entries == UInt64(find.entries.count))
    #expect(json.files == find.count("f"))
    #expect(json.directories == find.count("d"))
    #expect(json.links == find.count("l"))
    #expect(json.others == find.count("p"))
    #expect(json.bytes == find.bytes)
    #expect(json.unknown == 0)
    #expect(json.unreadable == 0)
    #expect(json.stopped == nil)
    #expect(json.left == [:])
  }

  @Test func `finds the largest files, in a fixed order`() throws {
    let tree = try TemporaryTree.withEverything()
    let expected = try FindListing(tree.path).files.sorted {
      $0.size == $1.size ? $0.path.lexicographicallyPrecedes($1.path) : $0.size > $1.size
    }
    for top in [1, 3, 10, 1000] {
      let json = try WalkJSON(ToolRun.fwd("walk", "--json", "--top", "\(top)", tree.path))
      let files = try #require(json.largest)
      #expect(
        files
          == expected.prefix(top).map {
            WalkJSON.File(size: $0.size, path: $0.path.text, pathHex: $0.path.hexIfInvalid)
          })
    }
  }

  @Test func `counts extensions in C`() throws {
    let tree = try TemporaryTree.withEverything()
    // More than the first allocation of the table has room for.
    for index in 0..<500 { try tree.makeFile("empty/x.e\(index)", size: index) }
    let groups = Dictionary(grouping: try FindListing(tree.path).files, by: \.pathExtension)
    let expected = groups.map {
      (name: $0, files: UInt64($1.count), bytes: $1.reduce(0) { $0 + $1.size })
    }
    .sorted {
      $0.files == $1.files ? $0.name.lexicographicallyPrecedes($1.name) : $0.files > $1.files
    }
    let json = try WalkJSON(ToolRun.fwd("walk", "--json", tree.path))
    #expect(
      json.extensions
        == expected.map {
          WalkJSON.Extension(
            extension: $0.name.text, extensionHex: $0.name.hexIfInvalid, files: $0.files,
            bytes: $0.bytes)
        })
    #expect(expected.contains { $0.name.hexIfInvalid != nil })
  }

  @Test func `sorts sizes into the histogram`() throws {
    let tree = try TemporaryTree.withEverything()
    let sizes = try FindListing(tree.path).files.map(\.size)
    let bins = try #require(try WalkJSON(ToolRun.fwd("walk", "--json", tree.path)).histogram)
    #expect(bins.first?.from == 0)
    #expect(bins.last?.below == nil)
    for (bin, next) in zip(bins, bins.dropFirst()) { #expect(bin.below == next.from) }
    for bin in bins {
      let inside = sizes.filter { $0 >= bin.from && $0 < bin.below ?? .max }
      #expect(bin.files == UInt64(inside.count))
      #expect(bin.bytes == inside.reduce(0, +))
    }
  }

  @Test func `sums up sizes that no disk has`() throws {
    let tree = try TemporaryTree()
    do {
      for index in 0..<3 { try tree.makeFile("\(index)", size: .max) }
    } catch { return }  // This file system has smaller files.
    let json = try WalkJSON(ToolRun.fwd("walk", "--json", tree.path))
    #expect(json.bytes == .max)
    #expect(json.extensions?.first?.bytes == .max)
  }

  @Test func `takes paths longer than the system's limit`() throws {
    let tree = try TemporaryTree()
    let name = String(repeating: "d", count: 100)
    let made = try ToolRun.shell(
      "cd '\(tree.path)' && i=0; while [ $i -lt 60 ]; do mkdir \(name) && cd -P \(name) || exit 1; i=$((i+1)); done; echo x > file"
    )
    try #require(made.status == 0)
    let json = try WalkJSON(ToolRun.fwd("walk", "--json", tree.path))
    #expect(json.directories == 61)
    #expect(json.files == 1)
    #expect(json.bytes == 2)
  }

  @Test func `walks an empty directory`() throws {
    let tree = try TemporaryTree()
    let json = try WalkJSON(ToolRun.fwd("walk", "--json", tree.path))
    #expect(json.entries == 1)
    #expect(json.directories == 1)
    #expect(json.bytes == 0)
    #expect(json.largest == [])
    #expect(json.extensions == [])
    let text = try ToolRun.fwd("walk", tree.path)
    #expect(text.status == 0)
    #expect(text.output.contains("no files"))
  }

  @Test func `walks the current directory by default`() throws {
    let tree = try TemporaryTree()
    try tree.makeFile("x", size: 3)
    let run = try ToolRun.shell("cd '\(tree.path)' && \"$FWD\" walk --json")
    let json = try WalkJSON(run)
    #expect(json.directory == ".")
    #expect(json.largest?.map(\.path) == ["./x"])
  }

  // MARK: - Where it cannot go

  @Test func `counts directories that may not be read`() throws {
    let tree = try TemporaryTree()
    try tree.makeFile("outside", size: 10)
    try tree.makeDirectory("closed")
    try tree.makeFile("closed/inside", size: 20)
    try tree.makeDirectory("listed")
    try tree.makeFile("listed/name", size: 30)
    let user = try #require(OtherUser(), "root reads everything, and there is no other user to be")
    try tree.changeMode("closed", 0)
    try tree.changeMode("listed", 0o444)
    try tree.changeMode(".", 0o755)

    let run = try ToolRun.shell("\(user.command) '\(user.tool)' walk --json '\(tree.path)'")
    #expect(run.status == 0)
    #expect(run.errorText == "")
    let json = try WalkJSON(run)
    let find = try FindListing(tree.path, as: user.command)
    #expect(json.directories == 3)
    #expect(json.directories == find.count("d"))
    #expect(json.unreadable == 1)
    #expect(json.files == 1)
    // find may know from the listing that it is a file, but not its size.
    #expect(json.unknown == 1)
    #expect(json.bytes == 10)
    let names = try ToolRun.shell("\(user.command) find '\(tree.path)' -printf x 2>/dev/null; true")
    #expect(json.entries == UInt64(names.output.count))

    let text = try ToolRun.shell("\(user.command) '\(user.tool)' walk '\(tree.path)'")
    #expect(text.output.contains("1 of them not readable"))

    let root = try ToolRun.shell("\(user.command) '\(user.tool)' walk '\(tree.path)/closed'")
    #expect(root.status == 66)
    #expect(root.output == "")
    #expect(root.errorText == "fwd: \(tree.path)/closed: Permission denied\n")
  }

  @Test(arguments: [false, true]) func `says in one line that there is no directory`(json: Bool)
    throws
  {
    let tree = try TemporaryTree()
    try tree.makeFile("file")
    for (path, reason) in [
      ("missing", "No such file or directory"), ("file", "Not a directory"),
      ("file/", "Not a directory"),
      ("two\nlines", "No such file or directory"),
    ] {
      let path = "\(tree.path)/\(path)"
      let run = try json ? ToolRun.fwd("walk", "--json", path) : ToolRun.fwd("walk", path)
      #expect(run.status == 66)
      #expect(run.output == "")
      #expect(run.errorText == "fwd: \(path.replacing("\n", with: "\\n")): \(reason)\n")
    }
    let empty = try ToolRun.fwd("walk", "")
    #expect(empty.status == 66)
    #expect(empty.errorText == "fwd: '': No such file or directory\n")
  }

  @Test func `counts a link as find does, and says so`() throws {
    let tree = try TemporaryTree()
    try tree.makeDirectory("directory")
    try tree.makeFile("directory/file", size: 9)
    try tree.makeLink("link", to: "directory")
    let link = try ToolRun.fwd("walk", "--json", "\(tree.path)/link")
    #expect(link.status == 0)
    #expect(link.errorText.contains("symbolic link"))
    #expect(try WalkJSON(link).entries == 1)
    #expect(try WalkJSON(link).links == 1)
    let target = try ToolRun.fwd("walk", "--json", "\(tree.path)/link/")
    #expect(target.errorText == "")
    #expect(try WalkJSON(target).directories == 1)
    #expect(try WalkJSON(target).files == 1)
    #expect(try WalkJSON(target).links == 0)
    #expect(try WalkJSON(target).largest?.map(\.path) == ["\(tree.path)/link/file"])
    let slash = try WalkJSON(ToolRun.fwd("walk", "--json", "\(tree.path)/directory//"))
    #expect(slash.largest?.map(\.path) == ["\(tree.path)/directory/file"])

    try tree.makeLink("to nothing", to: "missing")
    try tree.makeLink("to file", to: "directory/file")
    try tree.makeLink("to itself", to: "to itself")
    for (name, reason) in [
      ("to nothing", "No such file or directory"), ("to file", "Not a directory"),
      ("to itself", "Too many levels of symbolic links"),
    ] {
      let run = try ToolRun.fwd("walk", "\(tree.path)/\(name)")
      #expect(run.status == 66)
      #expect(run.errorText == "fwd: \(tree.path)/\(name): \(reason)\n")
    }
  }

  @Test func `takes a directory whose name is no UTF-8`() throws {
    let tree = try TemporaryTree()
    let run = try ToolRun.shell(
      #"cd '\#(tree.path)' && d=$(printf '\377\376') && mkdir "$d" && echo 12 > "$d/f" && "$FWD" walk --json "$d""#
    )
    let json = try WalkJSON(run)
    #expect(json.directoryHex == "fffe")
    #expect(json.bytes == 3)
  }

  // MARK: - Who observes

  @Test func `only those observe who are asked to`() throws {
    let tree = try TemporaryTree.withEverything()
    let whole = try WalkJSON(ToolRun.fwd("walk", "--json", tree.path))
    for names in [
      ["histogram"], ["largest"], ["extensions"], ["largest", "histogram"], ["totals"],
    ] {
      let json = try WalkJSON(
        ToolRun.fwd("walk", "--json", "--only", names.joined(separator: ","), tree.path))
      #expect(json.histogram == (names.contains("histogram") ? whole.histogram : nil))
      #expect(json.largest == (names.contains("largest") ? whole.largest : nil))
      #expect(json.extensions == (names.contains("extensions") ? whole.extensions : nil))
      #expect(json.files == whole.files)
      #expect(json.bytes == whole.bytes)
    }
    let text = try ToolRun.fwd("walk", "--only", "extensions", tree.path).output
    #expect(text.contains("Extensions"))
    #expect(!text.contains("Largest files"))
  }

  @Test func `an observer leaves in the middle, and the others go on`() throws {
    let tree = try TemporaryTree.withEverything()
    let whole = try WalkJSON(ToolRun.fwd("walk", "--json", tree.path))
    for (name, count) in [("histogram", 1), ("largest", 4), ("extensions", 7)] {
      let json = try WalkJSON(
        ToolRun.fwd("walk", "--json", "--leave", "\(name)@\(count)", tree.path))
      #expect(json.left == [name: UInt64(count)])
      let seen = [
        "histogram": json.histogram?.reduce(0) { $0 + $1.files },
        "extensions": json.extensions?.reduce(0) { $0 + $1.files },
        "largest": json.largest.map { UInt64($0.count) },
      ]
      #expect(seen[name] == UInt64(count))
      #expect(json.files == whole.files)
      #expect(name == "histogram" || json.histogram == whole.histogram)
      #expect(name == "largest" || json.largest == whole.largest)
      #expect(name == "extensions" || json.extensions == whole.extensions)
    }
    let all = try ToolRun.fwd(
      "walk", "--leave", "histogram@2", "--leave", "largest@2", "--leave", "extensions@2", tree.path
    )
    #expect(all.output.components(separatedBy: "(unsubscribed after 2 files)").count == 4)
  }

  @Test func `explains which observers a file reaches, before and after`() throws {
    let tree = try TemporaryTree.withEverything()
    let plain = try ToolRun.fwd("walk", tree.path)
    #expect(!plain.output.contains("Observers"))
    let run = try ToolRun.fwd("walk", "--explain", "--leave", "largest@2", tree.path)
    #expect(run.status == 0)
    let before = [
      "Observers before the walk",
      "\"visit:status:kind:position:\" calls subscribers until the closure of its policy ends the fan-out.",
      "  is called      Interruption",
      "  may be called  Totals: an earlier result may end the fan-out",
      "  may be called  SizeHistogram: an earlier result may end the fan-out",
      "  may be called  LargestFiles: an earlier result may end the fan-out",
      "  may be called  a C context: an earlier result may end the fan-out",
      "Without a response the result is the default.",
    ]
    #expect(run.output.contains(before.joined(separator: "\n") + "\n"))
    let after = try #require(
      run.output.components(separatedBy: "Observers after the walk\n").last)
    #expect(!after.contains("LargestFiles") && after.contains("SizeHistogram"))
    let json = try ToolRun.fwd("walk", "--json", "--explain", tree.path)
    let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8))
    let explanations = (object as? [String: Any])?["explanations"] as? [String: String]
    #expect(explanations?["before"] == before.dropFirst().joined(separator: "\n"))
    #expect(explanations?["after"] == explanations?["before"])
  }

  @Test func `who would leave after the last file stays`() throws {
    let tree = try TemporaryTree()
    try tree.makeFile("one")
    let json = try WalkJSON(ToolRun.fwd("walk", "--json", "--leave", "largest@2", tree.path))
    #expect(json.left == [:])
  }

  @Test func `the limit stops the walk by its result`() throws {
    let tree = try TemporaryTree.withEverything()
    let whole = try WalkJSON(ToolRun.fwd("walk", "--json", tree.path))
    for limit in [0, 1, 5, whole.files - 1] {
      let run = try ToolRun.fwd("walk", "--json", "--max-files", "\(limit)", tree.path)
      #expect(run.status == 0)
      let json = try WalkJSON(run)
      #expect(json.stopped == "limit")
      #expect(json.files == limit)
      // Nobody behind the limit has seen the file that was too many.
      #expect(json.histogram?.reduce(0) { $0 + $1.files } == limit)
      #expect(json.extensions?.reduce(0) { $0 + $1.files } == limit)
      #expect(json.entries <= whole.entries)
    }
    for limit in [whole.files, whole.files + 1, .max] {
      #expect(
        try WalkJSON(ToolRun.fwd("walk", "--json", "--max-files", "\(limit)", tree.path)) == whole)
    }
    let text = try ToolRun.fwd("walk", "--max-files", "3", tree.path).output
    #expect(text.contains("stopped at the limit of files"))
  }

  // MARK: - Output

  @Test func `prints nothing that moves the cursor`() throws {
    let tree = try TemporaryTree.withEverything()
    let run = try ToolRun.fwd("walk", "--top", "100", tree.path)
    #expect(run.status == 0)
    let text = try #require(String(validating: run.outputData, as: UTF8.self))
    let controls = text.unicodeScalars.filter {
      $0 != "\n" && [.control, .format].contains($0.properties.generalCategory)
    }
    #expect(controls.isEmpty)
    for shown in [
      #"invalid \xff\xfe.txt"#, #"line\nbreak.txt"#, #"escape\x1b[31m.txt"#, #"back\\slash.txt"#,
      #"\u{202e}txt.exe"#, #"\u{9b}1m"#, "größe 📁.bild",
    ] {
      #expect(text.contains(shown))
    }
    let json = try ToolRun.fwd("walk", "--json", tree.path)
    #expect(json.outputData.allSatisfy { $0 >= 0x20 || $0 == 0x0A })
    #expect(String(validating: json.outputData, as: UTF8.self) != nil)
  }

  @Test func `prints the same each time`() throws {
    let tree = try TemporaryTree.withEverything()
    for arguments in [["walk", "--json", tree.path], ["walk", tree.path]] {
      let runs = try (0..<3).map { _ in
        try arguments.count == 3
          ? ToolRun.fwd(arguments[0], arguments[1], arguments[2])
          : ToolRun.fwd(arguments[0], arguments[1])
      }
      #expect(runs[0].outputData == runs[1].outputData)
      #expect(runs[0].outputData == runs[2].outputData)
    }
  }

  @Test(arguments: [30, 50, 80, 200]) func `tables fit the width`(width: Int) throws {
    let tree = try TemporaryTree()
    for index in 0..<20 {
      try tree.makeFile("file \(index).e\(index % 3)", size: index * index * 1000)
    }
    let run = try ToolRun.fwd(
      "walk", "--only", "histogram,extensions", tree.path, environment: ["COLUMNS": "\(width)"])
    let lines = run.output.split(separator: "\n").dropFirst()
    #expect(lines.allSatisfy { $0.count <= max(width, 36) })
    #expect(width < 50 || lines.contains { $0.contains("█") })
    #expect(lines.map(\.count).max()! <= 90)
  }

  @Test func `draws in ASCII where the locale asks for it`() throws {
    let tree = try TemporaryTree()
    try tree.makeFile("file.txt", size: 100)
    let run = try ToolRun.fwd("walk", tree.path, environment: ["LC_ALL": "C"])
    #expect(run.output.contains("###"))
    #expect(run.output.utf8.allSatisfy { $0 < 0x80 })
  }

  @Test func `ends quietly where nobody reads`() throws {
    let tree = try TemporaryTree.withEverything()
    let run = try ToolRun.shell("{ \"$FWD\" walk '\(tree.path)'; echo $? >&2; } | true")
    // 141 is what a shell says of a broken pipe; a quick reader may not break
    // it.
    #expect(["141\n", "0\n"].contains(run.errorText))
    // The loop ends when nobody reads any more.
    let ignoring = try ToolRun.shell(
      """
      trap '' PIPE
      { while echo; do :; done 2>/dev/null; "$FWD" walk '\(tree.path)'; echo $? >&2; } | true
      """)
    #expect(ignoring.errorText == "fwd: cannot write to standard output: Broken pipe\n74\n")
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func `says when the output has no room`() throws {
    let tree = try TemporaryTree()
    let run = try ToolRun.shell("\"$FWD\" walk '\(tree.path)' > /dev/full")
    #expect(run.status == 74)
    #expect(run.errorText == "fwd: cannot write to standard output: No space left on device\n")
  }

  // MARK: - Ctrl-C and the progress line

  #if os(Linux)
    @Test(.timeLimit(.minutes(15))) func `Ctrl-C prints what was counted`() throws {
      let tree = try TemporaryTree()
      let made = try ToolRun.shell(
        """
        cd '\(tree.path)' && mkdir d0 && : > d0/f
        i=0; while [ $i -lt 1000 ]; do ln d0/f d0/f$i; i=$((i+1)); done
        i=1; while [ $i -lt 50 ]; do cp -al d0 d$i; i=$((i+1)); done
        """)
      try #require(made.status == 0)
      let whole = try WalkJSON(ToolRun.fwd("walk", "--json", tree.path))
      #expect(whole.files == 50_050)
      // A machine under load may let the walk end before it is interrupted.
      for _ in 0..<100 {
        let run = try ToolRun.fwd("walk", "--json", tree.path) { running in
          running.wait { running.process.catchesInterrupt }
          kill(running.process.processIdentifier, SIGINT)
        }
        if run.status == 0 && !run.wasSignaled { continue }
        #expect(run.status == 130)
        #expect(!run.wasSignaled)
        let json = try WalkJSON(run)
        #expect(json.stopped == "interrupt")
        #expect(json.files < whole.files)
        #expect(json.histogram?.reduce(0) { $0 + $1.files } == json.files)
        return
      }
      Issue.record("the walk was always faster")
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")))
    func `shows progress on a terminal only`() throws {
      let tree = try TemporaryTree()
      try tree.makeFile("file.txt", size: 100)
      // script(1) makes a terminal, of which only standard error is left to the
      // tool.
      let run = try ToolRun.shell(
        "export TERM=xterm; script -qec '\"$FWD\" walk \(tree.path) > \(tree.path)/output' /dev/null"
      )
      #expect(run.status == 0)
      #expect(run.output.contains("1 entries"))
      #expect(run.output.hasSuffix("\r\u{1B}[K"))
      let output = String(decoding: try tree.contents("output"), as: UTF8.self)
      #expect(output.contains("file"))
      #expect(!output.contains("\u{1B}"))
      let dumb = try ToolRun.shell(
        "export TERM=dumb; script -qec '\"$FWD\" walk \(tree.path) > /dev/null' /dev/null")
      #expect(dumb.output == "")
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")))
    func `draws in colour on a terminal, unless told otherwise`() throws {
      let tree = try TemporaryTree()
      try tree.makeFile("file.txt", size: 100)
      for (environment, isColored) in [
        ("TERM=xterm", true), ("TERM=xterm NO_COLOR=1", false), ("TERM=dumb", false),
      ] {
        let run = try ToolRun.shell(
          "unset NO_COLOR; export \(environment); script -qec '\"$FWD\" walk \(tree.path) 2> /dev/null' /dev/null"
        )
        #expect(run.output.contains("\u{1B}[36m") == isColored)
      }
    }
  #endif
}

#if os(Linux)
  extension Process {
    /// Whether the process has come to the point where it catches SIGINT.
    fileprivate var catchesInterrupt: Bool {
      guard
        let status = try? String(
          contentsOfFile: "/proc/\(processIdentifier)/status", encoding: .utf8),
        let line = status.split(separator: "\n").first(where: { $0.hasPrefix("SigCgt:") }),
        let mask = UInt64(line.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16)
      else { return false }
      return mask & (1 << UInt64(SIGINT - 1)) != 0
    }
  }
#endif

/// Somebody who may not read everything, and a copy of the tool that he can
/// start.
private struct OtherUser {
  /// What stands in front of a command.
  let command: String
  let tool: String
  private let directory: TemporaryTree

  /// Nil if there is nobody.
  init?() {
    guard let directory = try? TemporaryTree() else { return nil }
    self.directory = directory
    if geteuid() != 0 {
      command = ""
      tool = ToolRun.tool.path(percentEncoded: false)
      return
    }
    command = "setpriv --reuid=65534 --regid=65534 --clear-groups --"
    tool = "\(directory.path)/fwd"
    let run = try? ToolRun.shell(
      "chmod 755 '\(directory.path)' && cp \"$FWD\" '\(tool)' && \(command) '\(tool)' --version")
    guard run?.status == 0 else { return nil }
  }
}
