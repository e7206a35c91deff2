#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Installs into temporary directories, uses what is there, and uninstalls: Tests/Install/run.py [LIBRARY [TOOL]]

LIBRARY is what `scripts/library --static` has built, .build/library by default. TOOL is a build of fwd; by default the
newest one of Tool/.build. Neither is built here. The last line is "N passed, N failed".
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
CLIENT = os.path.join(ROOT, "Tests", "Library", "client.c")
library = os.path.join(ROOT, ".build", "library")
tool = None


def newest_tool():
    built = [os.path.join(ROOT, "Tool", ".build", kind, "fwd") for kind in ("release", "debug")]
    built = [path for path in built if os.path.exists(path)]
    return max(built, key=os.path.getmtime) if built else None


def run(*command, **environment):
    """The exit status, the output and the errors of a command. None removes a variable."""
    variables = {**os.environ, **environment}
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL,
        env={name: value for name, value in variables.items() if value is not None})
    return ran.returncode, ran.stdout, ran.stderr


def script(name, *arguments, **environment):
    return run(os.path.join(ROOT, "scripts", name), *arguments, **environment)


def tree(directory):
    """The files below a directory, and the directories, which end with a slash."""
    paths = []
    for at, directories, files in os.walk(directory):
        paths += [os.path.relpath(os.path.join(at, name), directory) for name in files]
        links = [name for name in directories if os.path.islink(os.path.join(at, name))]
        paths += [os.path.relpath(os.path.join(at, name), directory) for name in links]
        paths += [os.path.relpath(os.path.join(at, name), directory) + "/" for name in directories if name not in links]
    return sorted(paths)


class TestCase(unittest.TestCase):
    def setUp(self):
        self.directory = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.prefix = os.path.join(self.directory, "prefix")

    def install(self, *arguments, prefix=None, **environment):
        environment = {"DESTDIR": None, **environment}
        ran = script(
            "install", "--tool", tool, "--library", library, *arguments, prefix or self.prefix, **environment)
        self.assertEqual(ran[0], 0, ran)
        return ran[1]

    def uninstall(self, prefix=None, **environment):
        ran = script("uninstall", prefix or self.prefix, **{"DESTDIR": None, **environment})
        self.assertEqual(ran[0], 0, ran)

    def python_directory(self):
        """Where the Python package is."""
        found = [path for path in tree(self.prefix) if path.endswith("/forwarding/__init__.py")]
        self.assertEqual(len(found), 1)
        return os.path.join(self.prefix, os.path.dirname(os.path.dirname(found[0])))


class Installed(TestCase):
    """One installation, which the tests use and do not change."""

    @classmethod
    def setUpClass(cls):
        cls.kept = os.path.realpath(tempfile.mkdtemp())
        status, cls.output, errors = script(
            "install", "--tool", tool, "--library", library, os.path.join(cls.kept, "prefix"), DESTDIR=None)
        if status != 0:
            raise RuntimeError(cls.output + errors)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.kept)

    def setUp(self):
        super().setUp()
        self.prefix = os.path.join(self.kept, "prefix")
        self.packages = {"PKG_CONFIG_PATH": os.path.join(self.prefix, "lib", "pkgconfig")}

    def flags(self, *arguments):
        status, output, errors = run("pkg-config", *arguments, "forwarding", **self.packages)
        self.assertEqual((status, errors), (0, ""))
        return output.split()

    def version(self):
        return self.flags("--modversion")[0]

    def test_the_files_are_where_programs_look_for_them(self):
        files = tree(self.prefix)
        for name in (
                "bin/fwd", "include/forwarding.h", "lib/libforwarding.a", "lib/libforwarding.so",
                "lib/libforwarding.so.0.1", "lib/pkgconfig/forwarding.pc", "share/bash-completion/completions/fwd",
                "share/fish/vendor_completions.d/fwd.fish",
                "share/man/man1/fwd.1", "share/zsh/site-functions/_fwd", "share/forwarding/manifest"):
            self.assertIn(name, files)

    def test_the_manifest_is_the_tree(self):
        with open(os.path.join(self.prefix, "share", "forwarding", "manifest")) as file:
            listed = file.read().splitlines()
        # The directories that were made come before their contents.
        self.assertEqual(listed[0], self.prefix + "/")
        self.assertEqual(sorted(path[len(self.prefix) + 1:] for path in listed[1:]), tree(self.prefix))

    def test_no_file_names_the_directories_of_the_build(self):
        for path in ("lib/pkgconfig/forwarding.pc", "share/man/man1/fwd.1", "share/bash-completion/completions/fwd"):
            with open(os.path.join(self.prefix, path)) as file:
                self.assertNotIn(ROOT, file.read(), path)

    def test_a_c_program_is_compiled_by_pkg_config_and_runs(self):
        program = os.path.join(self.directory, "client")
        for compiler in ("gcc", "clang"):
            if not shutil.which(compiler):
                continue
            command = [compiler, *WARNINGS, *self.flags("--cflags"), CLIENT, "-o", program, *self.flags("--libs")]
            self.assertEqual(run(*command), (0, "", ""))
            ran = run(program, LD_LIBRARY_PATH=os.path.join(self.prefix, "lib"))
            self.assertEqual(ran, (0, "all is well\n", ""))
            self.assertEqual(run(program, LD_LIBRARY_PATH=None)[0], 127, "it finds another libforwarding")

    def test_a_c_program_is_linked_with_the_static_library_and_runs(self):
        program = os.path.join(self.directory, "client")
        libraries = [flag for flag in self.flags("--static", "--libs") if flag != "-lforwarding"]
        archive = os.path.join(self.prefix, "lib", "libforwarding.a")
        command = ["gcc", *WARNINGS, *self.flags("--cflags"), CLIENT, "-o", program, archive, *libraries]
        self.assertEqual(run(*command), (0, "", ""))
        self.assertEqual(run(program, LD_LIBRARY_PATH=None), (0, "all is well\n", ""))

    def test_the_tool_runs_and_has_the_version_of_the_library(self):
        self.assertEqual(run(os.path.join(self.prefix, "bin", "fwd"), "--version"), (0, self.version() + "\n", ""))
        self.assertIn(f"Installed fwd {self.version()}", self.output)

    def test_the_python_package_is_imported_and_calls(self):
        program = "import forwarding, ctypes; f = forwarding; " \
            "print(f.__file__, f.LIBRARY_VERSION, f.Signature('ii').call(ctypes.CDLL(None).abs, -5))"
        packages = self.python_directory()
        status, output, errors = run(
            sys.executable, "-B", "-c", program, PYTHONPATH=packages, FORWARDING_LIBRARY=None, **self.packages)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(output.split(), [os.path.join(packages, "forwarding", "__init__.py"), self.version(), "5"])
        self.assertIn(f'PYTHONPATH="{packages}"', self.output)


class Manual(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(ROOT, "Tool", "fwd.1")) as file:
            self.page = file.read()
        status, output, errors = run(tool, "--experimental-dump-help")
        self.assertEqual((status, errors), (0, ""))
        self.command = json.loads(output)["command"]

    def section(self, name):
        """The part of the page about a subcommand."""
        return self.page.split(f".Ss fwd {name}\n", 1)[1].split("\n.S", 1)[0]

    def arguments(self, command):
        """The arguments of a command and of its subcommands, which the page describes together."""
        found = list(command.get("arguments", ()))
        for subcommand in command.get("subcommands", ()):
            if subcommand["commandName"] != "help":
                found += self.arguments(subcommand)
        return found

    def long_names(self, command):
        return {"-" + name["name"] for argument in self.arguments(command) if argument["shouldDisplay"]
                for name in argument.get("names", ()) if name["kind"] == "long"} - {"-version", "-help"}

    def test_names_all_subcommands_of_the_tool_and_no_others(self):
        declared = {command["commandName"] for command in self.command["subcommands"]}
        self.assertEqual(set(re.findall(r"^\.Ss fwd (\w+)$", self.page, re.MULTILINE)), declared - {"help"})
        synopsis = self.page.split(".Sh DESCRIPTION")[0]
        self.assertEqual(set(re.findall(r"^\.Cm (\w+)$", synopsis, re.MULTILINE)), declared)
        described = self.page.split("The subcommands are as follows", 1)[1].split(".El", 1)[0]
        self.assertEqual(set(re.findall(r"^\.It Cm (\w+)$", described, re.MULTILINE)), declared)

    def test_names_all_options_of_each_subcommand_and_no_others(self):
        synopsis = self.page.split(".Sh SYNOPSIS", 1)[1].split(".Sh DESCRIPTION", 1)[0].split("\n.Nm\n")
        for command in self.command["subcommands"]:
            name = command["commandName"]
            if name == "help":
                continue
            declared = self.long_names(command)
            self.assertTrue(declared)
            self.assertEqual(set(re.findall(r"^\.It Fl (-[\w-]+)", self.section(name), re.MULTILINE)), declared, name)
            usage = [each for each in synopsis if f".Cm {name}\n" in each]
            self.assertEqual(len(usage), 1)
            self.assertEqual(set(re.findall(r"Fl (-[\w-]+)", usage[0])), declared, name)
            for argument in self.arguments(command):
                if argument["kind"] == "positional":
                    self.assertIn(f".It Ar {argument['valueName']}\n", self.section(name))
                elif argument["kind"] == "option":
                    words = argument["valueName"].split("@")[0]
                    self.assertIn(f".It Fl -{argument['names'][0]['name']} Ar {words}", self.section(name))
        self.assertIn(".Fl -version | Fl -help", self.page)

    def test_names_the_exit_statuses_of_the_tool(self):
        described = set(re.findall(r"(\d+) for", self.command["discussion"]))
        self.assertGreaterEqual(len(described), 6)
        self.assertLessEqual(described, set(re.findall(r"^\.It (\d+)$", self.page, re.MULTILINE)))

    def test_is_formatted_without_warnings(self):
        path = os.path.join(ROOT, "Tool", "fwd.1")
        if shutil.which("mandoc"):
            self.assertEqual(run("mandoc", "-Tlint", "-Wwarning", path)[:2], (0, ""))
        elif shutil.which("groff"):
            status, output, errors = run("groff", "-mandoc", "-ww", "-Tutf8", path)
            self.assertEqual((status, errors), (0, ""))
            # Without bold letters and underlines, which are overstrikes or escape sequences.
            plain = re.sub(r".\x08|\x1b\[[0-9;]*m", "", output)
            self.assertIn("inspect", plain)
            self.assertIn("--explain", plain)
        else:
            self.skipTest("neither mandoc nor groff")


class Completions(TestCase):
    def setUp(self):
        super().setUp()
        self.install()

    def test_bash_completes_subcommands_and_options(self):
        path = os.path.join(self.prefix, "share", "bash-completion", "completions", "fwd")
        for words, expected in (("fwd wa", "walk"), ("fwd walk --max", "--max-files"), ("fwd walk --ex", "--explain"), ("fwd inspect --pl", "--plan")):
            program = f"""
                source '{path}'
                function_name=$(complete -p fwd | sed 's/.*-F \\([^ ]*\\).*/\\1/')
                COMP_LINE='{words}' COMP_POINT={len(words)} COMP_TYPE=9 COMP_KEY=9
                COMP_WORDS=({words}) COMP_CWORD={len(words.split()) - 1}
                "$function_name" fwd '{words.split()[-1]}' '{words.split()[-2]}'
                printf '%s\\n' "${{COMPREPLY[@]}}"
                """
            status, output, errors = run("bash", "--norc", "-c", program)
            self.assertEqual((status, errors), (0, ""))
            self.assertIn(expected, [word.strip() for word in output.split()], words)

    def check_syntax(self, shell, path):
        path = os.path.join(self.prefix, path)
        with open(path) as file:
            text = file.read()
        for word in ("walk", "inspect", "max-files", "explain", "plan"):
            self.assertIn(word, text)
        if not shutil.which(shell):
            self.skipTest(f"no {shell}; the words are there")
        self.assertEqual(run(shell, "-n", path), (0, "", ""))

    def test_zsh_reads_its_completions(self):
        self.check_syntax("zsh", "share/zsh/site-functions/_fwd")

    def test_fish_reads_its_completions(self):
        self.check_syntax("fish", "share/fish/vendor_completions.d/fwd.fish")


class Uninstalling(TestCase):
    def test_leaves_an_empty_tree(self):
        self.install()
        self.assertGreater(len(tree(self.prefix)), 20)
        self.uninstall()
        self.assertEqual(tree(self.directory), [])

    def test_removes_the_bytecode_of_the_package(self):
        self.install()
        packages = self.python_directory()
        environment = {"PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": None, "PYTHONPYCACHEPREFIX": None,
                       "FORWARDING_LIBRARY": os.path.join(self.prefix, "lib", "libforwarding.so")}
        self.assertEqual(run(sys.executable, "-c", "import forwarding", **environment), (0, "", ""))
        self.assertIn("__pycache__", os.listdir(os.path.join(packages, "forwarding")))
        self.uninstall()
        self.assertEqual(tree(self.directory), [])

    def test_leaves_what_others_have_put_there(self):
        os.makedirs(os.path.join(self.prefix, "lib", "pkgconfig"))
        os.mkdir(os.path.join(self.prefix, "bin"))
        others = ["bin/other", "lib/libforwarding-other.so", "share/man/man1/other.1"]
        with open(os.path.join(self.prefix, others[0]), "w"), open(os.path.join(self.prefix, others[1]), "w"):
            pass
        self.install()
        with open(os.path.join(self.prefix, others[2]), "w"):
            pass
        self.uninstall()
        self.assertEqual(tree(self.prefix), sorted(
            others + ["bin/", "lib/", "lib/pkgconfig/", "share/", "share/man/", "share/man/man1/"]))

    def test_below_destdir(self):
        destination = os.path.join(self.directory, "package")
        os.mkdir(destination)
        output = self.install(prefix="/opt/forwarding tree", DESTDIR=destination)
        files = tree(destination)
        self.assertIn("opt/forwarding tree/bin/fwd", files)
        self.assertNotIn("export PATH", output)
        with open(os.path.join(destination, "opt/forwarding tree/lib/pkgconfig/forwarding.pc")) as file:
            self.assertEqual(file.readline(), "prefix=/opt/forwarding\\ tree\n")
        with open(os.path.join(destination, "opt/forwarding tree/share/forwarding/manifest")) as file:
            self.assertNotIn(destination, file.read())
        status, output, errors = run(
            "pkg-config", "--cflags", "forwarding",
            PKG_CONFIG_PATH=os.path.join(destination, "opt/forwarding tree/lib/pkgconfig"))
        self.assertEqual((status, output.strip(), errors), (0, "-I/opt/forwarding\\ tree/include", ""))
        self.uninstall(prefix="/opt/forwarding tree", DESTDIR=destination)
        self.assertEqual(tree(destination), [])

    def test_a_second_installation_replaces_the_first(self):
        self.install()
        files = tree(self.prefix)
        manifest = os.path.join(self.prefix, "share", "forwarding", "manifest")
        old = os.path.join(self.prefix, "lib", "libforwarding.so.0.0.9")
        with open(old, "w"), open(manifest, "a") as file:
            file.write(old + "\n")
        self.install()
        self.assertEqual(tree(self.prefix), files)
        self.uninstall()
        self.assertEqual(tree(self.directory), [])

    def test_a_prefix_may_be_relative_to_the_caller(self):
        ran = subprocess.run(
            [os.path.join(ROOT, "scripts", "install"), "--tool", os.path.abspath(tool), "--library", library, "here//"],
            cwd=self.directory, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue(os.path.exists(os.path.join(self.directory, "here", "bin", "fwd")))
        ran = subprocess.run(
            [os.path.join(ROOT, "scripts", "uninstall"), "here"], cwd=self.directory, capture_output=True)
        self.assertEqual((ran.returncode, tree(self.directory)), (0, []))

    def test_without_python_the_rest_is_installed(self):
        output = self.install(PYTHON="no-python-here")
        self.assertIn("the Python package is left out", output)
        self.assertEqual([path for path in tree(self.prefix) if path.endswith(".py")], [])
        self.uninstall()
        self.assertEqual(tree(self.directory), [])


class Errors(TestCase):
    def fails(self, words, *command, **environment):
        status, output, errors = script(*command, **{"DESTDIR": None, **environment})
        self.assertEqual(status, 1, output)
        self.assertRegex(errors, r"(?m)^error: ")
        self.assertIn(words, errors)
        self.assertEqual(tree(self.directory), self.before)

    def test_wrong_arguments_change_nothing(self):
        self.before = []
        given = ("--tool", tool, "--library", library)
        self.fails("unknown argument: --fast", "install", "--fast")
        self.fails("unknown argument: ", "install", *given, "")
        self.fails("more than one prefix", "install", *given, self.prefix, "other")
        self.fails("--tool needs a value", "install", self.prefix, "--tool")
        self.fails("no such program", "install", "--tool", "/nowhere/fwd", "--library", library, self.prefix)
        self.fails("does not run", "install", "--tool", "/bin/false", "--library", library, self.prefix)
        self.fails("has no lib/libforwarding.so", "install", "--tool", tool, "--library", "/nowhere", self.prefix)
        self.fails("the root directory", "install", *given, "//")
        self.fails("without . and ..", "install", *given, self.prefix + "/../x")
        self.fails("nothing is installed there", "uninstall", self.prefix)
        self.fails("usage: scripts/uninstall", "uninstall", self.prefix, self.prefix)
        self.fails("unknown argument", "uninstall", "--all")

    def test_a_manifest_that_names_other_files_removes_nothing(self):
        self.install()
        manifest = os.path.join(self.prefix, "share", "forwarding", "manifest")
        with open(manifest) as file:
            text = file.read()
        victim = os.path.join(self.directory, "victim")
        with open(victim, "w"):
            pass
        self.before = tree(self.directory)
        for line in (victim, self.prefix + "/../victim", self.directory + "/other/", "victim", self.prefix + "x/y"):
            with open(manifest, "w") as file:
                file.write(text + line + "\n")
            self.fails("which is not", "uninstall", self.prefix)


def main():
    global library, tool
    if len(sys.argv) > 3:
        sys.exit(__doc__)
    library = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else library
    tool = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else newest_tool()
    if tool is None:
        sys.exit("error: there is no build of fwd; build one by: swift build --package-path Tool")
    if not os.path.exists(os.path.join(library, "lib", "libforwarding.a")):
        sys.exit(f"error: there is no library in {library}; build one by: scripts/library --static")
    print(f"with {tool} and {library}")
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
