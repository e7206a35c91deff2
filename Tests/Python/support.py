# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""What the tests of the Python package share."""

import ctypes
import itertools
import os
import subprocess
import sys
import unittest

import forwarding
from forwarding import ForwardingError, ProtocolTable

libc = ctypes.CDLL(None)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGE = os.path.dirname(os.path.abspath(forwarding.__file__))
_numbers = itertools.count(1)


def table(structs=None, **encodings):
    """A table of optional methods under a new name. `ask__of_` stands for `ask::of:`, since names in Python have no
    colons."""
    methods = {name.replace("_", ":"): encoding for name, encoding in encodings.items()}
    return ProtocolTable(f"Tests.{next(_numbers)}", optional=methods, structs=structs)


class Unraisable:
    """Collects what goes to `sys.unraisablehook`: `with Unraisable() as seen:`."""

    def __enter__(self):
        self.seen = []
        self.hook, sys.unraisablehook = sys.unraisablehook, lambda unraisable: self.seen.append(unraisable.exc_value)
        return self.seen

    def __exit__(self, *ignored):
        sys.unraisablehook = self.hook


class TestCase(unittest.TestCase):
    def fails(self, code, words, function, *arguments, **named):
        """The error of a call, which must have a code and words in its message."""
        with self.assertRaises(ForwardingError) as caught:
            function(*arguments, **named)
        self.assertEqual(caught.exception.code, code, caught.exception.message)
        self.assertIn(words, caught.exception.message)
        self.assertEqual(str(caught.exception), caught.exception.message)
        return caught.exception

    def in_new_process(self, program, *arguments, **environment):
        """The exit status, the output and the errors of a program in an interpreter of its own."""
        environment = {**os.environ, **environment}
        ran = subprocess.run(
            [sys.executable, *arguments, "-c", program], capture_output=True, text=True, timeout=300,
            env={name: value for name, value in environment.items() if value is not None})
        return ran.returncode, ran.stdout, ran.stderr
