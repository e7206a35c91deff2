#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Runs the tests of the Python package with an installed library: Tests/Python/run.py PREFIX [NAME...]

A NAME, such as test_proxy.Lifetimes, selects tests. The last line is "N passed, N failed". scripts/library builds the
library and installs it in PREFIX.
"""

import os
import sys
import unittest


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    prefix = os.path.abspath(sys.argv[1])
    os.environ["FWD_LIBRARY_PREFIX"] = prefix
    os.environ.setdefault("FORWARDING_LIBRARY", os.path.join(prefix, "lib", "libforwarding.so"))
    # For the interpreters that tests start, too.
    os.environ["PYTHONPATH"] = os.pathsep.join([os.path.join(root, "Bindings", "Python"), here])
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    sys.path[:0] = [os.path.join(root, "Bindings", "Python"), here]
    loader = unittest.defaultTestLoader
    suite = loader.loadTestsFromNames(sys.argv[2:]) if sys.argv[2:] else loader.discover(here)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"skipped: {test.id()}: {reason}")
    failed = len(result.failures) + len(result.errors)
    passed = result.testsRun - failed - len(result.skipped)
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed else 0)


main()
