# SPDX-License-Identifier: GPL-2.0
"""What a machine that is not ours must not miss: names, packages, and how CI runs there."""

import sys
import unittest

import fakes

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


if __name__ == "__main__":
    unittest.main()
