# SPDX-License-Identifier: GPL-2.0
"""quilt-env, which a developer's shell sources to edit the patches."""

import shutil
import subprocess
import unittest

import layout


class Quilt(unittest.TestCase):

    @unittest.skipUnless(shutil.which("quilt"), "quilt is not installed")
    def test_it_finds_the_series(self):
        said = subprocess.run(
            ["bash", "-c", ". scripts/series/quilt-env && cd scripts && quilt series"],
            cwd=layout.TOP, check=True, capture_output=True, text=True)
        named = [line for line in (layout.TOP / "series").read_text().split("\n")
                 if line and not line.startswith("#")]
        self.assertEqual(named, [line.rsplit("/", 1)[-1] for line in said.stdout.split()])


if __name__ == "__main__":
    unittest.main()
