#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Run the harness's own tests, and print TAP."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE.parents[1]
sys.path[:0] = [str(HERE), str(SCRIPTS / "lib"), str(SCRIPTS / "proof"),
                str(SCRIPTS / "bench"), str(SCRIPTS / "proof/ctf"),
                str(SCRIPTS / "proof/lint"), str(SCRIPTS / "series")]


class TapResult(unittest.TestResult):
    """One TAP line for each test, whatever its subtests are."""

    def startTest(self, test):
        super().startTest(test)
        self.details = []

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            failed = issubclass(err[0], test.failureException)
            self.details.append(str(subtest))
            self.details.append((self.failures if failed else self.errors)[-1][1])

    def stopTest(self, test):
        super().stopTest(test)
        if self.details:
            self._line(test, False, "\n".join(self.details))

    def _line(self, test, ok, detail="", why=""):
        name = test.id().split(".", 1)[1]
        print(f"{'ok' if ok else 'not ok'} {self.testsRun} - {name}{why}")
        for line in detail.splitlines():
            print(f"# {line}")

    def addSuccess(self, test):
        super().addSuccess(test)
        self._line(test, True)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line(test, True, why=f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._line(test, False, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._line(test, False, self.errors[-1][1])


def main():
    suite = unittest.defaultTestLoader.discover(str(HERE), "test_*.py")
    result = TapResult()
    suite.run(result)
    print(f"1..{result.testsRun}")
    sys.exit(0 if result.wasSuccessful() and result.testsRun else 1)


if __name__ == "__main__":
    main()
