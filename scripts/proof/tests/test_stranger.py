# SPDX-License-Identifier: GPL-2.0
"""What a bare Debian shows first: names of modules, missing packages; and CI's runs there."""

import os
import re
import subprocess
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
        self.assertIn(fakes.SCRIPTS / "proof/checks", found)
        self.assertIn(fakes.SCRIPTS / "lib/tree.py", found)
        self.assertEqual([], [str(path.relative_to(TOP)) for path in found
                              if path.stem in sys.stdlib_module_names])


class Needs(unittest.TestCase):
    """Lanes with tools of their own ask fetch.sh for them before anything else."""

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
                self.assertEqual([str(fakes.SCRIPTS / "lab/fetch.sh"), packages],
                                 self.first(name))


class Commands(fakes.ScriptTest):
    """readme-commands.sh and stranger/run.sh, with stand-ins for make."""

    def setUp(self):
        super().setUp()
        self.make("echo 12 passed, 0 failed, 3 skipped")

    # The output of make record, and the page that it leaves.
    RECORDS = """printf 'TASK RUN CPU\nsh  1.25 ms  4.0%%\ntrace.html: 7 records, 1 CPU\n'
        printf '<html>\n</html>\n' > "$ETCH_BUILD/trace.html" """

    def make(self, check_does, record_does=RECORDS):
        """A stand-in for make, which keeps its words. check_does, record_does: shell code for
        make check and make record."""
        self.build.mkdir(exist_ok=True)
        self.fake("make", f'''echo "make $*" >> "$TOP/said"
            if [ "$1" = record ]; then {record_does}
            fi
            [ "$1" = check ] || exit 0\n''' + check_does)

    def said(self):
        """The commands that were given."""
        return (self.top / "said").read_text().splitlines()

    def readme(self):
        """The commands of the README."""
        return re.findall(r"^ +\$ (.*)$", (TOP / "README").read_text(), re.M)

    def test_those_of_the_readme(self):
        self.good("readme-commands.sh")
        self.assertEqual(["make run", "make check"], self.said()[:2])
        self.assertEqual(self.readme(), self.said())

    def test_one_that_fails_is_the_last(self):
        self.fake("make", 'echo "make $*" >> "$TOP/said"; exit 3')
        self.assertIn("README: make run: failed", self.bad("readme-commands.sh"))
        self.assertEqual(["make run"], self.said())

    def test_the_first_hour_has_an_answer_and_a_page(self):
        for lacks, said in (
                (("sh  1.25 ms", "sh"), "no answer of etch top is on the screen"),
                (("TASK RUN", "TASKS"), "no answer of etch top is on the screen"),
                (("7 records", "0 records"), "no page of etch view is in"),
                (("</html>", ""), "no page of etch view is in"),
                (("trace.html\"", "other\""), "no page of etch view is in")):
            with self.subTest(lacks=lacks):
                self.make("exit 0", self.RECORDS.replace(*lacks))
                self.assertIn(said, self.bad("readme-commands.sh"))

    def outside(self, *lanes):
        """(status, lines) of run.sh where there is no right to have namespaces."""
        self.fake("unshare", "echo unshare: not permitted >&2; exit 1")
        status, said = self.run_script("stranger/run.sh", *lanes, TMPDIR=self.top,
                                       HUGE_PAGES=self.top / "enabled")
        self.assertEqual([], list(self.top.glob("etch-stranger.*")))
        return status, said.splitlines()

    def test_without_a_root_it_is_said_at_the_end(self):
        status, lines = self.outside()
        self.assertEqual(0, status)
        self.assertIn("NOT IN A BARE DEBIAN: ", lines[-3])
        self.assertEqual("12 passed, 0 failed, 3 skipped", lines[-1])
        self.assertEqual(self.readme(), self.said())

    def test_only_some_lanes(self):
        self.outside("ring", "docs")
        self.assertIn("make check CHECK=ring docs", self.said())
        self.assertNotIn("make check", self.said())

    def test_failed_tests_are_counted(self):
        self.make("echo 12 passed, 2 failed, 3 skipped; exit 2")
        status, lines = self.outside()
        self.assertEqual(1, status)
        self.assertEqual("12 passed, 2 failed, 3 skipped", lines[-1])

    def test_huge_pages_are_as_in_debian_until_the_end(self):
        file = self.top / "enabled"
        for before, during, after, said in (
                ("always [madvise] never", "always", "madvise", True),
                ("[always] madvise never", "[always] madvise never", "[always] madvise never",
                 False)):
            with self.subTest(before):
                file.write_text(f"{before}\n")
                self.make(f"cp {file} {self.top}/during; echo 1 passed, 0 failed, 0 skipped")
                _, lines = self.outside()
                self.assertEqual(f"{during}\n", (self.top / "during").read_text())
                self.assertEqual(f"{after}\n", file.read_text())
                self.assertEqual(said, any("Huge pages for all" in line for line in lines))

    def test_what_fails_without_a_count_is_one(self):
        self.make("exit 2")
        status, lines = self.outside()
        self.assertEqual(1, status)
        self.assertEqual("0 passed, 1 failed, 0 skipped", lines[-1])


class Enter(unittest.TestCase):
    """enter.sh, for which it takes root, and the right to mount."""

    SCRIPT = str(fakes.SCRIPTS / "proof/stranger/enter.sh")

    def status(self, *words):
        """What it ends with, without a word."""
        return subprocess.run([self.SCRIPT, *words], check=False,
                              stderr=subprocess.DEVNULL).returncode

    def test_words_status_and_environment(self):
        tried = self.status("--try")
        if os.geteuid():
            # Only root may; the others are refused, and not asked for a password.
            self.assertNotEqual(0, tried)
            return
        if tried:
            self.skipTest("nobody can be put into a root here")
        result = subprocess.run([self.SCRIPT, "/", "root", 'echo "a  b" $HOME $SECRET; exit 7'],
                                check=False, text=True, stdout=subprocess.PIPE,
                                env={"PATH": "/bin:/usr/bin", "SECRET": "x"})
        self.assertEqual((7, "a  b /root\n"), (result.returncode, result.stdout))


if __name__ == "__main__":
    unittest.main()
