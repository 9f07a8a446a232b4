# SPDX-License-Identifier: GPL-2.0
"""quilt-env, which a developer's shell sources to edit the patches."""

import shutil
import subprocess
import unittest

import layout
import manifest


class Quilt(unittest.TestCase):

    @unittest.skipUnless(shutil.which("quilt"), "quilt is not installed")
    def test_it_finds_the_series(self):
        for base in "", *layout.carried():
            said = subprocess.run(
                ["bash", "-c", f". scripts/series/quilt-env {base} && cd scripts && quilt series"],
                cwd=layout.TOP, check=True, capture_output=True, text=True)
            text = layout.TOP / layout.BASES[base or next(iter(layout.BASES))]
            self.assertEqual(manifest.names(text.read_text()),
                             ["/".join(line.split("/")[-2:]) for line in said.stdout.split()])


if __name__ == "__main__":
    unittest.main()
