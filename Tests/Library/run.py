#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Runs the tests of an installed libforwarding: Tests/Library/run.py PREFIX

The last line is "N passed, N failed". scripts/library --test builds the library first.
"""

import os
import sys
import unittest


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.environ["FWD_LIBRARY_PREFIX"] = os.path.abspath(sys.argv[1])
    sys.dont_write_bytecode = True
    here = os.path.dirname(os.path.abspath(__file__))
    suite = unittest.defaultTestLoader.discover(here)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    failed = len(result.failures) + len(result.errors)
    passed = result.testsRun - failed - len(result.skipped)
    print(f"{passed} passed, {failed} failed", flush=True)
    sys.exit(1 if failed else 0)


main()
