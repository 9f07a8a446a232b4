# SPDX-License-Identifier: GPL-2.0
"""Our shell scripts, run with an ETCH_BUILD of their own, and with stand-ins for some of
the programs that they call."""

import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2]


class ScriptTest(unittest.TestCase):
    """A folder for a test, with bin/ first in PATH."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        self.build = self.top / "build"
        (self.top / "bin").mkdir()
        self.build.mkdir()

    def fake(self, name, text):
        """A program's stand-in, by a shell's script."""
        file = self.top / "bin" / name
        file.write_text(f"#!/bin/bash\n{text}\n")
        file.chmod(0o755)

    def real(self, name):
        """The program itself again."""
        (self.top / "bin" / name).unlink()

    def environment(self, **env):
        """What a script is started with."""
        env = {"ETCH_BUILD": self.build, "TOP": self.top,
               "PATH": f"{self.top}/bin:{os.environ['PATH']}", **env}
        kept = {name: value for name, value in os.environ.items()
                if name not in ("KDIR", "OUT", "SOURCE", "MAKEFLAGS", "MAKELEVEL", "ETCH_BASE",
                                "ETCH_BUILD_OF")}
        return {**kept, **{name: str(value) for name, value in env.items()}}

    def run_script(self, name, *words, **env):
        """(status, all that was said) of a script, called as the Makefile calls it."""
        place, = SCRIPTS.glob(f"*/{name}")
        # A program that is started in the background ignores interrupts.
        result = subprocess.run([place.relative_to(SCRIPTS.parent), *map(str, words)],
                                check=False,
                                cwd=SCRIPTS.parent, env=self.environment(**env), text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                preexec_fn=lambda: signal.signal(signal.SIGINT,
                                                                 signal.SIG_DFL))
        return result.returncode, result.stdout

    def good(self, name, *words, **env):
        """The output of a script that must not fail."""
        status, said = self.run_script(name, *words, **env)
        self.assertEqual(status, 0, said)
        return said

    def bad(self, name, *words, **env):
        """The output of a script that must fail."""
        status, said = self.run_script(name, *words, **env)
        self.assertNotEqual(status, 0, said)
        return said

    def tree(self, name, files):
        """A folder with {path: text}."""
        for path, text in files.items():
            file = self.top / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return self.top / name
