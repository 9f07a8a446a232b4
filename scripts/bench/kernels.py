# SPDX-License-Identifier: GPL-2.0
"""The kernels that are compared: one with the series, and mainline's.

Mainline's is the pristine tree (in um, what it needs to boot added) in the lane's
own configuration, but for what only the series has. Both are given the same modules and the same programs.
"""

import os
import shutil
import subprocess

import guest
import layout
import tree

SCRIPTS = layout.TOP / "scripts"
LIMIT = 900                     # seconds until a guest is given up


class KernelError(Exception):
    """Why a kernel could not be measured, as a sentence."""


def run(command, **env):
    """Run a command that shows its own progress; it must succeed."""
    words = [str(word) for word in command]
    env = {key: str(value) for key, value in env.items()}
    if subprocess.run(words, env={**os.environ, **env},
                      check=False).returncode:
        raise KernelError(" ".join(words) + " failed")


class Kernel:
    """A lane's kernel, with the series ("etch") or without ("mainline")."""

    def __init__(self, lane, tracer, bench):
        self.lane = lane
        self.tracer = tracer
        self.folder = layout.BUILD / (lane if tracer == "etch"
                                      else f"bench-{lane}")
        self.work = layout.BUILD / "bench" / f"{bench}-{lane}-{tracer}"
        self.modules = self.work / "modules"
        self.files = self.work / "files"        # the guest's /bench

    def build(self, sources=None):
        """The kernel, and the modules in the folder sources, if any."""
        env = {"OUT": self.folder}
        if self.tracer != "etch":
            env.update(SOURCE=tree.mainline(self.lane), WITHOUT="etch")
        shutil.rmtree(self.files, ignore_errors=True)
        self.files.mkdir(parents=True)
        if sources:
            shutil.copytree(sources, self.modules, dirs_exist_ok=True)
            env.update(M=self.modules)
        run([SCRIPTS / "lab/build.sh", self.lane], **env)
        for module in sorted(self.modules.glob("*.ko")):
            shutil.copy2(module, self.files)

    def has(self, symbol):
        """Whether a symbol of the configuration is y."""
        config = (self.folder / ".config").read_text()
        return f"CONFIG_{symbol}=y\n" in config

    def boot(self, script, append=(), icount=False, programs=()):
        """Run scripts/lab/guest/SCRIPT.sh in it; the report's lines.

        programs: of this machine, by name, that the guest has, too.
        """
        run([SCRIPTS / "lab/rootfs.sh", self.lane], OUT=self.folder,
            BENCH=self.files, PROGRAMS=" ".join(programs))
        result = guest.boot(self.lane, self.files.with_suffix(".gz"), script,
                            LIMIT, append=append, folder=self.folder,
                            icount=icount)
        if result.problems():
            raise KernelError(
                f"{self.lane}, {self.tracer}: "
                + "; ".join(result.problems() + result.lines()[-5:])
                + f". See {self.folder / script}.console")
        print(f"==> Guest {self.lane} ({self.tracer}) ran "
              f"{result.seconds:.1f} s.", flush=True)
        return result.lines()
