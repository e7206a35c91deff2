# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Finding the library, and what the documentation says."""

import ast
import os
import re
import shutil
import subprocess
import tempfile

import forwarding
from support import PACKAGE, ROOT, TestCase

PREFIX = os.environ["FWD_LIBRARY_PREFIX"]
IMPORT = "import forwarding; print(forwarding.LIBRARY_PATH, forwarding.LIBRARY_VERSION)"


class Page(TestCase):
    def test_every_example_of_the_page_for_python_is_true(self):
        with open(os.path.join(ROOT, "Sources/Forwarding/Documentation.docc/ForPython.md")) as file:
            examples = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
        self.assertGreaterEqual(len(examples), 6)
        names = {}
        for number, example in enumerate(examples):
            exec(compile(example, f"example {number}", "exec"), names)

    def test_the_page_names_everything_public(self):
        with open(os.path.join(ROOT, "Sources/Forwarding/Documentation.docc/ForPython.md")) as file:
            page = file.read()
        self.assertEqual([name for name in forwarding.__all__ if name not in page and name != "Position"], [])

    def test_the_package_is_valid_in_python_3_9(self):
        for name in os.listdir(PACKAGE):
            if name.endswith(".py"):
                with open(os.path.join(PACKAGE, name)) as file:
                    ast.parse(file.read(), name, feature_version=(3, 9))


class Versions(TestCase):
    def header_number(self, name):
        with open(os.path.join(PREFIX, "include", "forwarding.h")) as header:
            return re.search(rf"^#define FWD_{name} (\d+)$", header.read(), re.MULTILINE).group(1)

    def test_are_those_of_the_header(self):
        version = ".".join(self.header_number(f"VERSION_{part}") for part in ("MAJOR", "MINOR", "PATCH"))
        self.assertEqual((forwarding.__version__, forwarding.LIBRARY_VERSION), (version, version))
        with open(os.path.join(ROOT, "Bindings/Python/pyproject.toml")) as file:
            self.assertIn(f'\nversion = "{version}"\n', file.read())

    def test_codes_are_those_of_the_header(self):
        with open(os.path.join(PREFIX, "include", "forwarding.h")) as header:
            text = header.read()
        for prefix, kind, first in (
                ("FWD_", forwarding.Status, "typedef enum fwd_status"),
                ("FWD_RESULT_", forwarding.ResultPolicy, "typedef enum fwd_result_policy"),
                ("FWD_FUNCTION_", forwarding.FunctionForm, "typedef enum fwd_function_form")):
            body = text.split(first, 1)[1].split("}", 1)[0]
            declared = {name: int(number) for name, number in re.findall(rf"\b{prefix}(\w+) = (-?\d+),", body)}
            declared.pop("OK", None)
            self.assertEqual({member.name: member.value for member in kind}, declared)


class Finding(TestCase):
    def test_by_the_environment_variable(self):
        path = os.path.join(PREFIX, "lib", "libforwarding.so")
        status, output, errors = self.in_new_process(IMPORT, FORWARDING_LIBRARY=path)
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(output.split(), [path, forwarding.LIBRARY_VERSION])

    def test_a_file_that_the_variable_names_wrongly_is_an_error_and_nothing_else_is_tried(self):
        status, _, errors = self.in_new_process(
            IMPORT, FORWARDING_LIBRARY="/nowhere/lib.so", PKG_CONFIG_PATH=os.path.join(PREFIX, "lib", "pkgconfig"))
        self.assertEqual(status, 1)
        self.assertRegex(errors, r"ImportError: FORWARDING_LIBRARY names '/nowhere/lib.so', which cannot be loaded: ")
        self.assertNotIn("pkg-config", errors)

    def test_by_pkg_config(self):
        if not shutil.which("pkg-config"):
            self.skipTest("no pkg-config")
        status, output, errors = self.in_new_process(
            IMPORT, FORWARDING_LIBRARY=None, PKG_CONFIG_PATH=os.path.join(PREFIX, "lib", "pkgconfig"))
        self.assertEqual((status, errors), (0, ""))
        self.assertEqual(output.split()[0], os.path.join(PREFIX, "lib", "libforwarding.so.0.1"))

    def test_a_library_that_is_nowhere_is_an_error_with_all_that_was_tried(self):
        with tempfile.TemporaryDirectory() as empty:
            status, _, errors = self.in_new_process(
                IMPORT, FORWARDING_LIBRARY=None, PATH=empty, PKG_CONFIG_PATH=empty, PKG_CONFIG_LIBDIR=empty)
        if status == 0:
            self.skipTest("a libforwarding is installed in this system")
        self.assertEqual(status, 1)
        last = errors.strip().split("\n")[-4:]
        self.assertEqual(last[0], "ImportError: libforwarding.so was not found. Tried:")
        for line, word in zip(last[1:], ("FORWARDING_LIBRARY: not set", "pkg-config", "find_library")):
            self.assertIn(word, line)

    def library_of(self, directory, text):
        source, library = os.path.join(directory, "other.c"), os.path.join(directory, "libother.so")
        with open(source, "w") as file:
            file.write(text)
        subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library], check=True)
        return library

    def test_another_library_another_version_and_missing_functions_are_errors(self):
        if not shutil.which("gcc"):
            self.skipTest("no gcc")
        version = 'unsigned fwd_version(void) {{ return {}; }} const char *fwd_version_string(void) {{ return "{}"; }}'
        for text, words in (
                ("int other;", "is not libforwarding: it has no function fwd_version"),
                (version.format(2000, "0.2.0"), "has the version 0.2.0, and this package needs 0.1.0 or a later 0.1"),
                (version.format(999, "0.0.999"), "has the version 0.0.999"),
                (version.format(1000, "0.1.0"), "version 0.1.0, has no function fwd_error_message")):
            with tempfile.TemporaryDirectory() as directory:
                path = self.library_of(directory, text + "\n")
                status, _, errors = self.in_new_process(IMPORT, FORWARDING_LIBRARY=path)
                self.assertEqual(status, 1)
                self.assertIn(f"ImportError: {path}", errors)
                self.assertIn(words, errors)
