# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Builds programs against the installed library with what pkg-config says, and runs them."""

import os
import shutil
import subprocess
import tempfile
import unittest

PREFIX = os.environ["FWD_LIBRARY_PREFIX"]
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client.c")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def pkg_config(*arguments):
    environment = dict(os.environ, PKG_CONFIG_PATH=os.path.join(PREFIX, "lib", "pkgconfig"))
    return subprocess.run(
        ["pkg-config", *arguments, "forwarding"], env=environment, check=True, capture_output=True,
        text=True).stdout.split()


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
                built = subprocess.run(command, capture_output=True, text=True)
                self.assertEqual((built.returncode, built.stderr), (0, ""), command)
            # The loader finds the library where it was installed, or nowhere: there is no run path in the program.
            environment = dict(os.environ, LD_LIBRARY_PATH="" if static else os.path.join(PREFIX, "lib"))
            ran = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=60)
            self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "all is well\n", ""))
            forced = subprocess.run(
                [program], env=dict(environment, FWD_CALL="libffi"), capture_output=True, text=True, timeout=60)
            self.assertEqual((forced.returncode, forced.stdout, forced.stderr), (0, "all is well\n", ""))

    def test_c_by_gcc(self):
        self.build_and_run("gcc", "-std=c11")

    def test_c_by_clang(self):
        self.build_and_run("clang", "-std=c11")

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

    def test_pkg_config_names_the_prefix(self):
        self.assertEqual(pkg_config("--variable=prefix"), [PREFIX])
        self.assertEqual(pkg_config("--libs"), [f"-L{PREFIX}/lib", "-lforwarding"])
        self.assertEqual(pkg_config("--cflags"), [f"-I{PREFIX}/include"])


if __name__ == "__main__":
    unittest.main()
