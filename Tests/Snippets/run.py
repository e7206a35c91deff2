#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Compiles every Swift snippet of README.md, of the documentation's articles and of the tutorial.

    Tests/Snippets/run.py [--modules DIRECTORY]
                          [--macros DIRECTORY | --journal DIRECTORY | --algorithms DIRECTORY | --remote DIRECTORY] [PAGE...]

Needs a debug build: `swift build --build-tests`. --modules names the directory of its modules. Snippets that use macros
are compiled only with --macros, which names the products of a debug build with the trait Macros, and then they are the
only ones. So are those of ForwardingJournal with --journal, which names a build with the trait Journal, those that use
swift-async-algorithms with --algorithms, which names the products of Examples/, and those of the pages of Remote/ with
--remote, which names its products. The last line is "N passed, N failed".

The Swift blocks of a page are one program, in their order, as a main.swift. HTML comments before a block change that:

    <!-- snippet: new -->        the block begins another program
    <!-- snippet: macros -->     the same; the program uses ForwardingMacros
    <!-- snippet: journal -->    the same; the program uses ForwardingJournal
    <!-- snippet: algorithms --> the same; the program uses swift-async-algorithms
    <!-- snippet: manifest -->   the block is a whole Package.swift
    <!-- snippet                 code of the program that the page does not show, on the lines up to the end of the
    let model = Model()          comment
    -->

A line of such a comment must not begin with @, which would be a directive of DocC.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CATALOGUES = [
    "Sources/Forwarding/Documentation.docc",
    "Sources/ForwardingDelivery/ForwardingDelivery.docc",
    "Sources/ForwardingPresets/ForwardingPresets.docc",
    "Sources/ForwardingTesting/ForwardingTesting.docc",
    "Sources/ForwardingWire/ForwardingWire.docc",
    "Sources/ForwardingMacros/ForwardingMacros.docc",
    "Remote/Sources/ForwardingRemote/ForwardingRemote.docc",
    "Sources/ForwardingJournal/ForwardingJournal.docc",
]


KINDS = ("macros", "journal", "algorithms", "manifest")


class Program:
    def __init__(self, page, line, kind="library"):
        self.page, self.line, self.kind, self.text = page, line, kind, ""

    def add(self, line, text):
        if self.kind == "manifest":
            self.text += text
        else:
            self.text += f'#sourceLocation(file: "{self.page}", line: {line})\n{text}#sourceLocation()\n'


def programs(page, kind):
    """The programs of a Markdown page. `kind` is that of those that no comment marks."""
    found, mark, block, hidden = [], None, None, None
    for number, line in enumerate((ROOT / page).read_text().splitlines(keepends=True), 1):
        text = line.strip()
        if block is not None:
            if text == "```":
                start, code, kept = block
                block = None
                if kept:
                    if mark or not found:
                        found.append(Program(page, start, mark if mark in KINDS else kind))
                    found[-1].add(start, code)
                    mark = None
            else:
                block = (block[0], block[1] + line, block[2])
        elif hidden is not None:
            if text == "-->":
                if mark or not found:
                    found.append(Program(page, hidden[0], mark if mark in KINDS else kind))
                found[-1].add(*hidden)
                hidden, mark = None, None
            else:
                hidden = (hidden[0], hidden[1] + line)
        elif text.startswith("```"):
            block = (number + 1, "", text == "```swift")
        elif text == "<!-- snippet":
            hidden = (number + 1, "")
        elif match := re.fullmatch(r"<!-- snippet: (\w+) -->", text):
            mark = match[1]
            if mark != "new" and mark not in KINDS:
                sys.exit(f"{page}:{number}: unknown mark: {mark}")
    return found


def tutorial_steps(catalogue):
    for path in sorted((ROOT / catalogue / "Resources").glob("*.swift")):
        page = path.relative_to(ROOT)
        kind = "manifest" if "Package" in path.name else "macros" if "Macros" in catalogue else "library"
        program = Program(page, 1, kind)
        program.add(1, path.read_text())
        yield program


def compile_program(program, options, directory, number):
    folder = pathlib.Path(directory) / str(number)
    folder.mkdir()
    source = folder / "main.swift"
    source.write_text(program.text)
    command = ["swiftc", "-warnings-as-errors", "-module-name", f"Snippet{number}", source]
    if program.kind == "manifest":
        toolchain = pathlib.Path(os.path.realpath(shutil.which("swift"))).parents[1]
        command += ["-typecheck", "-package-description-version", "6.2.0", "-I", toolchain / "lib/swift/pm/ManifestAPI"]
    else:
        # Data races are found behind type checking, so the program is compiled.
        products = options.macros or options.journal or options.algorithms or options.remote
        modules = products / "Modules" if products else options.modules
        command += ["-swift-version", "6", "-I", modules, "-c", "-o", folder / "main.o"]
        for directory in ("include", "internal"):
            command += ["-I", ROOT / "CShims" / directory]
        command += ["-I", ROOT / "Sources/CForwardingWire/include", "-I", ROOT / "Sources/CForwardingSQLite"]
        command += ["-I", ROOT / "Tests/Snippets/CSQLite"]
        if options.remote:
            command += ["-I", ROOT / "Remote/CNATS"]
        command += ["-Xcc", "-DFWD_INTERNAL"]
        if options.macros:
            plugin = options.macros / "ForwardingMacrosPlugin-tool"
            command += ["-load-plugin-executable", f"{plugin}#ForwardingMacrosPlugin"]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.returncode == 0, run.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--modules", type=pathlib.Path, default=ROOT / ".build/debug/Modules")
    parser.add_argument("--macros", type=pathlib.Path)
    parser.add_argument("--journal", type=pathlib.Path)
    parser.add_argument("--algorithms", type=pathlib.Path)
    parser.add_argument("--remote", type=pathlib.Path)
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()

    found = []
    for program in programs("README.md", "library"):
        found.append(program)
    for catalogue in CATALOGUES:
        kind = next((kind for kind in ("macros", "journal", "remote") if kind.title() in catalogue), "library")
        for path in sorted((ROOT / catalogue).glob("*.md")):
            found += programs(path.relative_to(ROOT), kind)
        found += tutorial_steps(catalogue)
    kinds = ("library", "manifest")
    for kind in ("macros", "journal", "algorithms", "remote"):
        if getattr(options, kind):
            kinds = (kind,)
    found = [program for program in found if program.kind in kinds]
    if options.pages:
        found = [program for program in found if any(page in str(program.page) for page in options.pages)]
    if not found:
        sys.exit("no snippets found")

    failed = 0
    with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = [pool.submit(compile_program, program, options, directory, number) for number, program in enumerate(found)]
        for program, run in zip(found, runs):
            good, output = run.result()
            if not good:
                failed += 1
                print(f"FAILED: the program that begins at {program.page}:{program.line}\n{output}")
    print(f"{len(found) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
