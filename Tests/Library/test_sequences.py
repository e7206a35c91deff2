# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Forwarding authors

"""Runs the table of hostile sequences with failing allocations, a program that scripts/library --test links."""

import os
import re
import subprocess
import unittest

PROGRAM = os.environ.get("FWD_LIBRARY_SEQUENCES")


@unittest.skipUnless(PROGRAM, "scripts/library --test links the program")
class Sequences(unittest.TestCase):
    def test_every_allocation_of_the_c_target_may_fail(self):
        ran = subprocess.run([PROGRAM], capture_output=True, text=True, timeout=1800)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stdout)
        failed = re.search(r"^(\d+) allocations failed$", ran.stdout, re.MULTILINE)
        # A wrapper that no call reaches would make every check pass.
        self.assertGreater(int(failed.group(1)), 1000, ran.stdout)


if __name__ == "__main__":
    unittest.main()
