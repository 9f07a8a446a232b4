# SPDX-License-Identifier: GPL-2.0
"""Each mutant of the sources has a rule to take out; make mutants runs the tests on each."""

import os
import subprocess
import unittest

import layout

TOP = layout.TOP


class Mutants(unittest.TestCase):
    """A source that changes must not leave a mutant behind that changes nothing."""

    def look(self, script, *arguments, rules=50):
        """The results of a script with mutants that only looks for its rules."""
        result = subprocess.run([TOP / script, *arguments], text=True, check=False,
                                env={**os.environ, "MUTANTS": "look"},
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        wrong = [line for line in result.stdout.splitlines()
                 if not line.startswith(("ok ", "1.."))]
        self.assertEqual((wrong, result.returncode), ([], 0))
        self.assertIn(f"\nok {rules} - ", result.stdout)

    def test_of_the_ring(self):
        self.look("selftests/ring/mutants.sh", TOP / "kernel-trace", TOP / "include-trace")

    def test_of_the_library_for_programs(self):
        self.look("selftests/user/mutants.sh", TOP / "tools/lib/include",
                  TOP / "include-trace/uapi", rules=6)

    @unittest.skipUnless((layout.PRISTINE / "lib").is_dir(),
                         "there is no kernel source: make fetch")
    def test_of_the_parsers(self):
        self.look("selftests/fuzz/mutants.sh", TOP / "kernel-trace", TOP / "tools",
                  layout.PRISTINE / "lib", TOP / "include-trace")


if __name__ == "__main__":
    unittest.main()
