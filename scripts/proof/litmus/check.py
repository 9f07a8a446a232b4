#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The litmus tests of the barriers. Prints TAP.

  check.py [--quick]     --quick: none of them as a program

1. By herd7, if it is installed, with the kernel's model.
2. By cat.py and executions.py, which read the same model, linux-kernel.cat, and try
   all executions. They are held to the results that the kernel's own litmus tests
   give in their heads, as far as program.py can read them.
3. Each barrier is weakened in turn, as the head of its test says: then the
   outcome must be possible, or the barrier is not needed.
4. As programs on arm64, under QEMU (run.py).
"""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "lib")]
import cat
import executions
import layout
import program
import run
import variants

MODEL = layout.PRISTINE / "tools/memory-model"
KERNEL_TESTS = (sorted((MODEL / "litmus-tests").glob("*.litmus"))
                + sorted((layout.PRISTINE / "Documentation/litmus-tests")
                         .glob("*/*.litmus")))
# Of the kernel's own tests, those that must not fall out of what we can read.
ENOUGH = 25


class Tap:
    """Counts and prints."""

    def __init__(self):
        self.count = self.failed = 0

    def __call__(self, good, name):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}", flush=True)


def verdict(bad):
    return "Sometimes" if bad else "Never"


def kernel_tests(tap, model):
    """Does the checker agree with the heads of the kernel's own tests?"""
    agreed, left = 0, []
    for path in KERNEL_TESTS:
        try:
            test = program.Test(path.read_text())
            bad, _, _ = executions.check(test, model)
        except program.Unsupported as why:
            left.append(f"{path.stem} ({why})")
            continue
        if verdict(bad) == test.expected:
            agreed += 1
        else:
            tap(False, f"the kernel's {path.stem}: {verdict(bad)}, "
                       f"should be {test.expected}")
    tap(agreed >= ENOUGH, f"the checker agrees with {agreed} of the kernel's own "
                          f"litmus tests")
    print(f"# Not read, {len(left)}: {', '.join(left)}")


def our_test(tap, model, path):
    """The test as it is, and with each barrier weakened."""
    text = path.read_text()
    test = program.Test(text)
    bad, allowed, flags = executions.check(test, model)
    tap(not bad and allowed > 1 and not flags,
        f"{test.name}: {verdict(bad)}, of {allowed} executions"
        + "".join(f", {flag}" for flag in sorted(flags)))
    changed = variants.variants(text)
    if not changed:
        tap(False, f"{test.name}: no barrier is named")
    for name, needed, other in changed:
        bad, _, flags = executions.check(program.Test(other), model)
        tap(bad == needed, f"{test.name}: without {name}: {verdict(bad)}"
            + "".join(f", {flag}" for flag in sorted(flags))
            + ("" if needed else " (it is not needed here)"))


def herd7(tap, paths):
    """The same by the tool that the model is written for."""
    if not shutil.which("herd7"):
        print("### NOT run by herd7, which is not installed (Debian 12 has none): "
              "the results are those of the checker here")
        return
    for path in paths:
        result = subprocess.run(["herd7", "-conf", "linux-kernel.cfg", path],
                                cwd=MODEL, text=True, capture_output=True, check=False)
        tap("\nObservation " in result.stdout and " Never " in result.stdout,
            f"{path.stem}: Never, says herd7")


def main():
    tap = Tap()
    paths = sorted(HERE.glob("*.litmus"))
    model = cat.Model(MODEL)
    kernel_tests(tap, model)
    for path in paths:
        our_test(tap, model, path)
    herd7(tap, paths)
    if "--quick" not in sys.argv:
        run.check(tap, paths, MODEL / "litmus-tests/SB+poonceonces.litmus")
    print(f"1..{tap.count}")
    sys.exit(1 if tap.failed else 0)


if __name__ == "__main__":
    main()
