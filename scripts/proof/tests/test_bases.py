# SPDX-License-Identifier: GPL-2.0
"""The lanes of another base than the first, and the benchmark that compares bases."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import bases as bench
import check
import figures
import layout
import tap
from checks import ahead, bases
from checks.lane import LaneError

FIRST, OTHER = list(layout.BASES)[:2]
CASES = [tap.Case("a", "passed"), tap.Case("b", "failed", "why"), tap.Case("c", "skipped", "no")]


def plain(cases):
    """What a case is made of."""
    return [(case.name, case.status, case.why) for case in cases]


class Names(unittest.TestCase):
    """Which lanes there are."""

    def test_each_has_the_base_behind_its_name(self):
        self.assertIn(f"series-{OTHER}", check.LANES)
        for name in "um", "x86-64":
            self.assertIn(f"{name}-{OTHER}", check.LANES)
        for name in "um-whole", "x86-64-whole", "x86-64-rt", "arm64-bare":
            self.assertIn(f"{name}-{OTHER}", check.LONG)
        self.assertIn(OTHER, check.LANES[f"um-{OTHER}"].__doc__)

    def test_what_does_not_know_of_a_kernel_is_not_repeated(self):
        for name in "harness", "ring", "model", "litmus", "fuzz-long", "docs", "headers":
            self.assertNotIn(f"{name}-{OTHER}", check.ALL)

    def test_kernels_are_built_ahead(self):
        for name, kernel in ("um", "um-user"), ("x86-64", "x86-64-lean"), ("um-whole", "um"):
            self.assertEqual(ahead.KERNELS[f"{name}-{OTHER}"][0], [f"{OTHER}/{kernel}"])

    def test_each_base_has_its_layers(self):
        self.assertIn(f"layers-{OTHER}", check.LONG)
        self.assertIn("layers", check.LONG)

    def test_another_base_has_the_lanes_of_the_first(self):
        said = subprocess.run(
            [sys.executable, "-c", "import check; print(*check.LANES)"], text=True, check=True,
            cwd=Path(check.__file__).parent, env={**os.environ, "ETCH_BASE": OTHER},
            stdout=subprocess.PIPE).stdout.split()
        self.assertEqual(said, [name for name in check.LANES if not name.endswith(f"-{OTHER}")])

    def test_for_another_base_alone_there_are_none(self):
        before = layout.BASE
        self.addCleanup(layout.choose, before)
        layout.choose(OTHER)
        self.assertEqual(bases.lanes(["um"], {"um": Names}), {})


class Lane(unittest.TestCase):
    """What becomes of such a lane, with scripts of ours in the others' place."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.scripts = Path(folder.name)
        for name, value in (("SCRIPTS", self.scripts), ("LOGS", self.scripts / "log")):
            patch = mock.patch.object(bases, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.script("lab/fetch.sh", "#!/bin/sh\necho fetched $ETCH_BASE $KDIR")

    def script(self, name, text):
        """One of the scripts."""
        file = self.scripts / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def lane(self, name="um"):
        """(cases, output) of a lane, which has CASES on the first base."""
        def first():
            """Tests."""
            return list(CASES)

        with contextlib.redirect_stdout(io.StringIO()) as said, \
                mock.patch.dict(os.environ, KDIR="/mine"):
            return bases.lane(OTHER, name, first)(), said.getvalue()

    def checks(self, text):
        """check.py is these lines, with the words as WORDS."""
        self.script("proof/check.py",
                    f"import json, os, sys\nFILE = sys.argv[1].partition('=')[2]\n{text}\n")

    def test_its_cases_are_those_of_a_check_for_the_base(self):
        rows = [[case.name, case.status, case.why] for case in CASES]
        self.checks(f"assert sys.argv[2:] == ['um'] and os.environ['ETCH_BASE'] == '{OTHER}'\n"
                    f"assert 'KDIR' not in os.environ\nopen(FILE, 'w').write({json.dumps(rows)!r})")
        cases, said = self.lane()
        self.assertEqual(plain(cases), plain(CASES))
        self.assertEqual(said, f"fetched {OTHER}\n")

    def test_no_source_is_a_skipped_lane_that_says_so(self):
        self.script("lab/fetch.sh", "#!/bin/sh\necho '### error: no tarball'\n"
                                    f"echo '### error: KDIR'; exit {bases.NO_SOURCE}")
        cases, said = self.lane()
        self.assertEqual(plain(cases), [(f"um on Linux {OTHER}", "skipped",
                                         "no source: no tarball")])
        self.assertIn(f"### NOT RUN on Linux {OTHER}: um: no tarball", said)

    def test_without_source_the_first_base_may_do(self):
        self.script("lab/fetch.sh", f"#!/bin/sh\necho '### error: no'; exit {bases.NO_SOURCE}")
        cases, said = self.lane("um-brief")
        self.assertEqual(plain(cases), [(f"um-brief on Linux {OTHER}", "skipped", "no source: no"),
                                        *plain(CASES)])
        self.assertIn(f"### NOT RUN on Linux {OTHER}: um-brief: no", said)

    def test_another_failure_of_the_fetch_is_a_failure(self):
        self.script("lab/fetch.sh", "#!/bin/sh\necho no room; exit 1")
        with self.assertRaisesRegex(LaneError, "no room"):
            self.lane()

    def test_the_series_is_put_on_the_source_for_who_builds_ahead(self):
        self.script("series/tree.py", f"import os; open('{self.scripts}/base', 'w').write("
                                      "os.environ['ETCH_BASE'])")
        with contextlib.redirect_stdout(io.StringIO()):
            bases.source(OTHER)
        self.assertEqual((self.scripts / "base").read_text(), OTHER)
        self.script("series/tree.py", "raise SystemExit(1)")
        with contextlib.redirect_stdout(io.StringIO()), self.assertRaises(LaneError):
            bases.source(OTHER)

    def test_a_check_that_leaves_no_cases_is_a_failure(self):
        # Those of another run do not take their place.
        self.checks("open(FILE, 'w').write('[]')")
        self.lane()
        self.checks("sys.exit(3)")
        with self.assertRaisesRegex(LaneError, "status 3"):
            self.lane()


    def test_who_ends_the_lane_ends_its_guests(self):
        # The lane's check.py ends by an exception, which it has time for.
        self.checks(f"""
import signal, time
def end(*_):
    time.sleep(0.2)
    open('{self.scripts}/ended', 'w')
    sys.exit()
signal.signal(signal.SIGTERM, end)
open('{self.scripts}/begun', 'w')
time.sleep(60)""")
        started = self.scripts / "begun"

        class Ended(Exception):
            """What a signal's handler raises."""

        def wait(process, _wait=subprocess.Popen.wait, **words):
            if started.exists():
                return _wait(process, **words)
            while not started.exists():
                time.sleep(0.01)
            raise Ended

        with mock.patch.object(subprocess.Popen, "wait", wait), self.assertRaises(Ended):
            bases.check(OTHER, "um")
        self.assertTrue((self.scripts / "ended").exists())


class Told(unittest.TestCase):
    """check.py that runs for another one."""

    def run_check(self, words, cases):
        """(status, what it printed) with these words and a lane of these cases."""
        with contextlib.redirect_stdout(io.StringIO()) as out, \
                mock.patch.dict(check.ALL, {"um": lambda: cases}), \
                mock.patch.object(check.lane, "run", return_value=(0, "")), \
                mock.patch.object(check.signals, "unwind"), \
                mock.patch.object(sys, "argv", ["check.py", *words]), \
                self.assertRaises(SystemExit) as end:
            check.main()
        return end.exception.code, out.getvalue()

    def test_leaves_its_cases_and_counts_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "cases"
            status, said = self.run_check([f"--cases={file}", "um"], CASES)
            self.assertFalse(status)
            self.assertEqual([tuple(row) for row in json.loads(file.read_text())], plain(CASES))
        self.assertNotIn("passed", said)

    def test_otherwise_prints_the_count(self):
        status, said = self.run_check(["um"], CASES)
        self.assertEqual(status, 1)
        self.assertIn("### um: failed: b why", said)
        self.assertTrue(said.endswith("1 passed, 1 failed, 1 skipped\n"))

    def test_the_brief_lane_is_for_another_base_alone(self):
        self.assertEqual(check.arguments(["--cases=/x", "x86-64-brief"])[0], ["x86-64-brief"])
        with self.assertRaises(SystemExit):
            check.arguments(["x86-64-brief"])


class Compared(unittest.TestCase):
    """BENCH=bases."""

    @staticmethod
    def figure(case, tracer, value):
        return figures.Figure(case, tracer, "x86-64", "instructions", [value])

    def test_the_figures_are_etchs_without_the_loop(self):
        some = [self.figure("a", "etch", 90), self.figure("a", "empty", 6),
                self.figure("a", "ftrace", 500)]
        self.assertEqual([(one.case, one.tracer, one.median)
                          for one in bench.of_base(some, OTHER)], [("a", OTHER, 84)])

    def held(self, *rows):
        """The line for rows of (case, first's, other's)."""
        found = [self.figure(case, base, value) for case, *both in rows
                 for base, value in zip((FIRST, OTHER), both)]
        with mock.patch.object(layout, "carried", return_value=[FIRST, OTHER]):
            return bench.tables("x86-64", found).splitlines()[-1]

    def test_two_of_a_hundred_are_held(self):
        self.assertRegex(self.held(("16 bytes, alone", 100, 102), ("x, alone", 100, 101)),
                         r"16 bytes, alone.*: held")

    def test_more_are_not_nor_are_fewer(self):
        for other in 103, 97:
            self.assertIn("NOT HELD", self.held(("16 bytes, alone", 100, other),
                                                ("x, alone", 100, 100)))

    def test_the_kernels_own_clocks_are_not_held_to_it(self):
        self.assertRegex(self.held(("16 bytes, mono", 100, 150), ("x, alone", 100, 100)),
                         "x, alone.*: held")

    def test_the_base_is_chosen_for_scripts_too_and_for_a_while(self):
        with mock.patch.dict(os.environ, KDIR="/mine"):
            before = dict(os.environ)
            with bench.chosen(OTHER):
                self.assertEqual((layout.BASE, os.environ["ETCH_BASE"]), (OTHER, OTHER))
                self.assertNotIn("KDIR", os.environ)
            self.assertEqual(layout.BASE, FIRST)
            self.assertEqual(os.environ["KDIR"], "/mine")
            self.assertEqual(os.environ["ETCH_BASE"], before.get("ETCH_BASE", ""))
