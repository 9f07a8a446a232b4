# SPDX-License-Identifier: GPL-2.0
"""What ftrace's own selftests gave, beside what they were to give."""

import unittest

import ftracetest

REPORT = """\
=== Ftrace unit tests ===
[1] Basic trace file check	[PASS]
ftracetest: PASS 00basic/basic1.tc
ftracetest: FAIL 00basic/basic2.tc
    | + . /tmp/ftrace/test.d/00basic/basic2.tc
    | + test -f available_tracers
ftracetest: UNSUPPORTED filter/a.tc
    | a.tc is missing
ftracetest: PASS 00basic/basic1.tc (instance)
"""
PAGE = """\
Heading
=======

FAIL is said here of ``nothing``.

PASS
    ``00basic/basic1``,
    ``00basic/basic1 (instance)``

FAIL: there are no ``tracers``
    ``00basic/basic2``

UNSUPPORTED: there are no filters
    ``filter/a``

NOT RUN: not our subject
    ``kprobe/``, ``ftrace/b``

Text that names ``other/things``.
"""
FILES = {"00basic/basic1", "00basic/basic2", "filter/a", "kprobe/c", "ftrace/b"}


def seen(*changes):
    """The report, with words in it replaced."""
    text = REPORT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return ftracetest.Seen(text.splitlines())


def failed(cases):
    """The names and reasons of those that failed."""
    return [f"{case.name}: {case.why}" for case in cases
            if case.status == "failed"]


class Page(unittest.TestCase):
    """The lists on the page."""

    def test_what_is_on_it(self):
        found = ftracetest.page(PAGE)
        self.assertEqual(found["00basic/basic1 (instance)"], ("PASS", ""))
        self.assertEqual(found["00basic/basic2"],
                         ("FAIL", "there are no ``tracers``"))
        self.assertEqual(found["kprobe/"], ("NOT RUN", "not our subject"))
        self.assertEqual(len(found), 6)

    def test_a_failure_without_a_reason(self):
        with self.assertRaisesRegex(ftracetest.FtracetestError, "reason"):
            ftracetest.page(PAGE.replace("FAIL: there are no ``tracers``", "FAIL"))

    def test_a_test_that_is_on_it_twice(self):
        with self.assertRaisesRegex(ftracetest.FtracetestError, "twice"):
            ftracetest.page(PAGE.replace("``filter/a``", "``00basic/basic1``"))

    def test_it_tells_of_every_test(self):
        expected = ftracetest.page(PAGE)
        self.assertEqual(ftracetest.unknown(expected, FILES), [])
        self.assertEqual(ftracetest.unknown(expected, FILES | {"filter/new"}),
                         ["filter/new is not on the page"])
        self.assertEqual(ftracetest.unknown(expected, FILES - {"kprobe/c"}),
                         ["kprobe/ is on the page, but there is no such test"])

    def test_the_real_one_can_be_read(self):
        results = {result for result, _
                   in ftracetest.page(ftracetest.PAGE.read_text()).values()}
        self.assertLessEqual({"PASS", "NOT RUN"}, results)


class InEtch(unittest.TestCase):
    """Results beside the page."""

    def cases(self, *changes):
        """Those of the report, with words in it replaced."""
        return ftracetest.in_etch(seen(*changes), ftracetest.page(PAGE))

    def test_as_on_the_page(self):
        cases = self.cases()
        self.assertEqual([case.status for case in cases],
                         ["passed", "passed", "skipped", "skipped"])
        self.assertIn("there are no filters: filter/a", cases[3].why)

    def test_a_failure(self):
        found = failed(self.cases(("PASS 00basic/basic1.tc (", "FAIL 00basic/basic1.tc (")))
        self.assertEqual(found, ["Etch's tree: 00basic/basic1 (instance): "
                                 "FAIL, not PASS"])

    def test_a_pass_that_the_page_denies(self):
        found = failed(self.cases(("FAIL", "PASS")))
        self.assertEqual(len(found), 1)
        self.assertIn("PASS, not FAIL\n    | + . /tmp", found[0])

    def test_a_result_that_did_not_come(self):
        found = failed(self.cases(("ftracetest: FAIL", "FAIL")))
        self.assertEqual(found, ["Etch's tree: 00basic/basic2: no result, not FAIL"])

    def test_a_test_that_is_not_on_the_page(self):
        found = failed(self.cases(("filter/a", "filter/b")))
        self.assertEqual(len(found), 2)

    def test_two_results(self):
        with self.assertRaisesRegex(ftracetest.FtracetestError, "two results"):
            seen(("basic2", "basic1"))


class AsMainline(unittest.TestCase):
    """Results beside mainline's."""

    def test_the_same(self):
        there = seen().results
        cases = ftracetest.as_mainline(seen(), there)
        self.assertEqual(failed(cases), [])
        self.assertEqual([case.status for case in cases].count("passed"), 2)

    def test_any_difference(self):
        there = {**seen().results, "00basic/basic2": "UNSUPPORTED"}
        self.assertEqual(len(failed(ftracetest.as_mainline(seen(), there))), 1)
        there = {**seen().results, "more": "PASS"}
        self.assertEqual(len(failed(ftracetest.as_mainline(seen(), there))), 1)

    def test_what_is_kept(self):
        results = seen().results
        text = ftracetest.to_list(results)
        self.assertEqual(ftracetest.from_list(text), results)
        with self.assertRaises(ftracetest.FtracetestError):
            ftracetest.from_list(text + "PASSED everything\n")


if __name__ == "__main__":
    unittest.main()
