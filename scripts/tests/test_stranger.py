# SPDX-License-Identifier: GPL-2.0
"""What a machine that is not ours must not miss: names, packages, and how CI runs there."""

import sys
import unittest
from unittest import mock

import check
import fakes
from checks import lane

TOP = fakes.SCRIPTS.parent


def pythons(folder):
    """What Python would import from a folder, and from those in it: paths."""
    return [path for path in sorted(folder.rglob("*")) if path.suffix == ".py"
            or (path / "__init__.py").exists()]


class Names(unittest.TestCase):
    """A script's folder comes before Python's own modules, also where these import each
    other."""

    def test_none_is_a_module_of_pythons(self):
        found = [path for folder in ("scripts", "selftests", "samples")
                 for path in pythons(TOP / folder)]
        self.assertIn(fakes.SCRIPTS / "checks", found)
        self.assertIn(fakes.SCRIPTS / "lib/tree.py", found)
        self.assertEqual([], [str(path.relative_to(TOP)) for path in found
                              if path.stem in sys.stdlib_module_names])


class Needs(unittest.TestCase):
    """Lanes whose tools not everything needs: what is asked of fetch.sh before they begin."""

    WANTED = {"docs": "docs", "lint": "lint", "ring": "arm64", "fuzz": "fuzz",
              "model": "model", "litmus": "litmus", "ctf": "ctf", "ctf-x86-64": "ctf",
              "ring-long": "arm64", "fuzz-long": "fuzz", "model-long": "model",
              "headers": "headers", "cocci-tree": "lint", "um-clang": "clang",
              "x86-64-clang": "clang", "arm64-bare": "arm64-guest", "arm64": "arm64-guest",
              "arm64-64k": "arm64-guest"}

    def first(self, name):
        """The first command of a lane."""
        with mock.patch.object(lane.subprocess, "run", side_effect=InterruptedError) as run:
            self.assertRaises(InterruptedError, check.ALL[name])
        return [str(word) for word in run.call_args[0][0]]

    def test_packages_come_first(self):
        for name, packages in self.WANTED.items():
            with self.subTest(name):
                self.assertEqual([str(fakes.SCRIPTS / "fetch.sh"), packages],
                                 self.first(name))


if __name__ == "__main__":
    unittest.main()
