# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Builds programs against the installed library with what pkg-config says, and runs them."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

PREFIX = os.environ["FWD_LIBRARY_PREFIX"]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client.c")
PAGE = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../Sources/Forwarding/Documentation.docc/ForC.md")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def pkg_config(*arguments):
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(PREFIX, "lib", "pkgconfig"))
    return subprocess.run(
        ["pkg-config", *arguments, "forwarding"], env=environment, check=True, capture_output=True,
        text=True).stdout.split()


def run(command, **environment):
    """What a command returns and prints. The loader finds the library by LD_LIBRARY_PATH alone."""
    environment = dict(os.environ, **environment)
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    return ran.returncode, ran.stdout, ran.stderr


def header():
    with open(os.path.join(PREFIX, "include", "forwarding.h")) as file:
        return file.read()


def page_programs():
    """The programs of the page "For C programs", each with its first line and its output.

    The C blocks of the page are one program, up to the text block with its output. Comments add code that the page does
    not show:

        <!-- C snippet: new -->     another program begins
        <!-- C snippet              code, on the lines up to the end of the comment
        int main(void) { use(); }
        -->
    """
    found, block = [], None
    with open(PAGE) as file:
        for number, line in enumerate(file, 1):
            if block:
                if line.strip() == ("-->" if block == "hidden" else "```"):
                    block = None
                elif block == "text":
                    found[-1][2] += line
                elif block != "other":
                    found[-1][1] += line
                continue
            if line.startswith("```"):
                block = {"c": "c", "text": "text"}.get(line[3:].strip(), "other")
            elif line.strip() == "<!-- C snippet":
                block = "hidden"
            if line.strip() == "<!-- C snippet: new -->" or (block and not found):
                found.append([number, "", ""])
    return found


class Clients(unittest.TestCase):
    def build_and_run(self, compiler, *flags, static=False):
        if not shutil.which(compiler):
            self.skipTest(f"no {compiler}")
        with tempfile.TemporaryDirectory() as directory:
            program = os.path.join(directory, "client")
            libraries = pkg_config("--libs")
            if static:
                libraries = [os.path.join(PREFIX, "lib", "libforwarding.a")]
                libraries += [flag for flag in pkg_config("--static", "--libs") if flag != "-lforwarding"]
            for command in (
                [compiler, *flags, *WARNINGS, *pkg_config("--cflags"), "-c", SOURCE, "-o", program + ".o"],
                [compiler, program + ".o", "-o", program, *libraries],
            ):
                self.assertEqual(run(command), (0, "", ""), command)
            # The program has no run path, so the loader finds this library or none.
            path = "" if static else os.path.join(PREFIX, "lib")
            self.assertEqual(run([program], LD_LIBRARY_PATH=path), (0, "all is well\n", ""))
            self.assertEqual(run([program], LD_LIBRARY_PATH=path, FWD_CALL="libffi"), (0, "all is well\n", ""))

    def test_c_by_gcc(self):
        self.build_and_run("gcc", "-std=c11")

    def test_c23_by_gcc(self):
        self.build_and_run("gcc", "-std=c2x", "-O2")

    def test_c_by_clang(self):
        self.build_and_run("clang", "-std=c11", "-Wnullable-to-nonnull-conversion")

    def test_c23_by_clang(self):
        self.build_and_run("clang", "-std=c2x", "-O2")

    def test_c_without_inline_functions(self):
        self.build_and_run("gcc", "-std=c11", "-DFWD_NO_INLINE")

    def test_cxx_by_gxx(self):
        self.build_and_run("g++", "-std=c++17", "-x", "c++")

    def test_cxx_by_clangxx(self):
        self.build_and_run("clang++", "-std=c++17", "-x", "c++")

    def test_static_c(self):
        if not os.path.exists(os.path.join(PREFIX, "lib", "libforwarding.a")):
            self.skipTest("no static library: scripts/library --static")
        self.build_and_run("gcc", "-std=c11", static=True)

    def test_static_cxx(self):
        if not os.path.exists(os.path.join(PREFIX, "lib", "libforwarding.a")):
            self.skipTest("no static library: scripts/library --static")
        self.build_and_run("g++", "-std=c++17", "-x", "c++", static=True)

    def build_and_run_text(self, program, output):
        """Compiles a program by gcc and clang, and checks what it prints."""
        with tempfile.TemporaryDirectory() as directory:
            source = os.path.join(directory, "example.c")
            with open(source, "w") as file:
                file.write(program)
            for compiler, standard in (("gcc", "-std=c11"), ("clang", "-std=c2x")):
                if not shutil.which(compiler):
                    continue
                command = [compiler, standard, *WARNINGS, *pkg_config("--cflags"), source, "-o", source + ".out"]
                self.assertEqual(run(command + pkg_config("--libs")), (0, "", ""), command)
                self.assertEqual(
                    run([source + ".out"], LD_LIBRARY_PATH=os.path.join(PREFIX, "lib")), (0, output, ""))

    def test_the_example_of_the_header(self):
        lines = header().split("/// # A complete example\n", 1)[1].split("/// # Rules", 1)[0].splitlines()
        program = "\n".join(line.removeprefix("///").removeprefix("     ") for line in lines) + "\n"
        self.build_and_run_text(program, "Alice got 2.50 from 7\nBob got 2.50 from 7\n")

    def test_the_programs_of_the_page_for_c(self):
        programs = page_programs()
        self.assertGreaterEqual(len(programs), 5)
        for line, program, output in programs:
            with self.subTest(line=line):
                self.build_and_run_text(program, output)

    def test_programs_for_another_inline_abi_do_not_load(self):
        """Compiles a program against a header with the next FWD_INLINE_ABI, then runs it with this library."""
        number = int(re.search(r"^#define FWD_INLINE_ABI (\d+)$", header(), re.MULTILINE).group(1))
        symbol = f"fwd_inline_abi_{number + 1}"
        with tempfile.TemporaryDirectory() as directory:
            macro = "#define FWD_INLINE_ABI"
            with open(os.path.join(directory, "forwarding.h"), "w") as file:
                file.write(header().replace(f"{macro} {number}\n", f"{macro} {number + 1}\n"))
            # The program is linked with a library that has the variable, and runs with one that lacks it.
            for name, text in ("linked", f"const unsigned char {symbol} = 1;\n"), ("loaded", "char nothing;\n"):
                os.mkdir(os.path.join(directory, name))
                source = os.path.join(directory, name, "other.c")
                with open(source, "w") as file:
                    file.write(text)
                library = os.path.join(directory, name, "libother.so")
                command = ["gcc", "-shared", "-fPIC", source, "-o", library, "-Wl,-soname,libother.so"]
                self.assertEqual(run(command), (0, "", ""))
            path = os.path.join(PREFIX, "lib") + ":" + os.path.join(directory, "loaded")
            for compiler in "gcc", "clang":
                if not shutil.which(compiler):
                    continue
                for flags in ["-O0"], ["-O2"], ["-O2", "-fno-pie", "-no-pie"], ["-O2", "-fPIC"]:
                    program = os.path.join(directory, "client")
                    compile_program = [compiler, "-std=c11", *flags, f"-I{directory}", SOURCE, "-o", program]
                    # Against this library it does not link.
                    code, _, errors = run(compile_program + pkg_config("--libs"))
                    self.assertNotEqual(code, 0, compile_program)
                    self.assertIn(symbol, errors)
                    # Linked with the other one it does not load, even if functions are bound at their first call.
                    linked = [os.path.join(directory, "linked", "libother.so"), "-Wl,-z,lazy"]
                    command = compile_program + pkg_config("--libs") + linked
                    self.assertEqual(run(command), (0, "", ""), command)
                    code, output, errors = run([program], LD_LIBRARY_PATH=path)
                    self.assertEqual((code, output), (127, ""), command)
                    self.assertIn(symbol, errors)

    def test_pkg_config_names_the_prefix(self):
        self.assertEqual(pkg_config("--variable=prefix"), [PREFIX])
        self.assertEqual(pkg_config("--libs"), [f"-L{PREFIX}/lib", "-lforwarding"])
        self.assertEqual(pkg_config("--cflags"), [f"-I{PREFIX}/include"])


if __name__ == "__main__":
    unittest.main()
