# SPDX-License-Identifier: GPL-2.0
"""The TAP reader, on output as the runners print it."""

import unittest

import tap

KSELFTEST = """\
TAP version 13
1..3
# timeout set to 45
# selftests: etch: hello.sh
# TAP version 13
# 1..2
# ok 1 - tree is there
# ok 2 - second # SKIP no reason
ok 1 selftests: etch: hello.sh
# timeout set to 45
# selftests: etch: value
# TAP version 13
# 1..2
# # Starting 2 tests from 1 test cases.
# #  RUN           global.value_is_five ...
# #            OK  global.value_is_five
# ok 1 global.value_is_five
# # value.c:20:other:Expected 5 (5) == v (6)
# not ok 2 global.other
# # FAILED: 1 / 2 tests passed.
# # Totals: pass:1 fail:1 xfail:0 xpass:0 skip:0 error:0
not ok 2 selftests: etch: value # exit=1
# timeout set to 45
# selftests: etch: absent
ok 3 selftests: etch: absent # SKIP
"""

KTAP = """\
KTAP version 1
1..1
  KTAP version 1
  # Subtest: etch_ring
  1..3
  ok 1 reserve
  not ok 2 commit
  ok 3 resize # SKIP needs two processors
# etch_ring: pass:1 fail:1 skip:1 total:3
not ok 1 etch_ring
"""


def statuses(text):
    """The statuses of a text's cases."""
    return [case.status for case in tap.parse(text.splitlines())]


class Plain(unittest.TestCase):
    """TAP that is not nested."""

    def test_counts_each_result(self):
        self.assertEqual(statuses("1..2\nok 1 - a\nnot ok 2 - b\n"),
                         ["passed", "failed"])

    def test_a_name_with_a_number_sign(self):
        cases = tap.parse(["1..3", "not ok 1 - name #2", "ok 2 - name # 3",
                           "ok 3 - name #4 # SKIP no"])
        self.assertEqual([(case.name, case.status) for case in cases],
                         [("name #2", "failed"), ("name # 3", "passed"),
                          ("name #4", "skipped")])

    def test_reads_directives(self):
        self.assertEqual(statuses("ok 1 - a # SKIP no\nok 2 b # skip\n"
                                  "ok 3 - c # TODO later\n1..3\n"),
                         ["skipped"] * 3)

    def test_a_failed_skip_is_a_failure(self):
        self.assertEqual(statuses("not ok 1 - a # SKIP no\n"), ["failed"])

    def test_missing_results_are_a_failure(self):
        cases = tap.parse(["1..3", "ok 1 - a"])
        self.assertEqual([case.status for case in cases],
                         ["passed", "failed"])
        self.assertIn("2 planned", cases[1].name)

    def test_text_is_no_result(self):
        self.assertEqual(statuses("okay\nnothing is ok 1\n# a comment\n"), [])

    def test_tells_what_was_said_of_a_failed_test(self):
        cases = tap.parse(["# seed 7", "ok 1 - a", "# 5 written", "# x.c:1: failed: n",
                           "not ok 2 - b", "not ok 3 - c", "# d is missing", "# and e",
                           "ok 4 - d"])
        self.assertEqual([case.why for case in cases],
                         ["", "5 written; x.c:1: failed: n", "d is missing; and e", ""])

    def test_a_reason_before_a_skip(self):
        cases = tap.parse(["# a note", "# no such file", "ok 1 a # SKIP", "ok 2 b # SKIP",
                           "# a note", "ok 3 c # SKIP no c"])
        self.assertEqual([case.why for case in cases], ["no such file", "", "no c"])

    def test_remarks_on_the_run_are_of_no_test(self):
        cases = tap.parse(["### ctf: svg: 0.2 s", "not ok 1 - a", "# b is missing",
                           "# ### x", "not ok 2 - c", "### ctf: sql: 1.0 s", "# no d"])
        self.assertEqual([case.why for case in cases], ["b is missing", "no d"])

    def test_tells_no_more_of_a_failed_test_than_a_line(self):
        many = [f"# {n}" for n in range(9)]
        before = tap.parse([*many, "not ok 1 - a"])
        behind = tap.parse(["not ok 1 - a", *many])
        self.assertEqual([case.why for case in before + behind], ["6; 7; 8", "0; 1; 2"])

    def test_skip_all(self):
        self.assertEqual(statuses("1..0 # SKIP not root\n"), ["skipped"])
        self.assertEqual(tap.parse(["1..0 # SKIP not root"])[0].why, "not root")


class Kselftest(unittest.TestCase):
    """The kselftest runner's output."""

    def test_counts_leaves(self):
        self.assertEqual(statuses(KSELFTEST), ["passed", "skipped", "passed",
                                               "failed", "skipped"])

    def test_names_the_program(self):
        names = [case.name for case in tap.parse(KSELFTEST.splitlines())]
        self.assertEqual(names[3], "selftests: etch: value: global.other")

    def test_tells_the_place_of_a_failed_check(self):
        cases = tap.parse(KSELFTEST.splitlines())
        self.assertEqual(cases[3].why, "value.c:20:other:Expected 5 (5) == v (6)")
        # What the runner prints of each program is no reason of a skip.
        self.assertEqual(cases[4].why, "")

    def test_a_crash_after_good_results_is_a_failure(self):
        text = KSELFTEST.replace("# not ok 2 global.other", "# ok 2 other")
        self.assertEqual(statuses(text)[3:5], ["passed", "failed"])

    def test_a_crash_before_the_last_result(self):
        text = KSELFTEST.replace("# not ok 2 global.other\n", "")
        self.assertEqual(statuses(text).count("failed"), 1)

    def test_a_runner_that_broke_off(self):
        text = KSELFTEST.split("# selftests: etch: absent")[0]
        self.assertEqual(statuses(text)[-1], "failed")

    def test_a_timeout(self):
        text = "1..1\n# selftests: etch: pipe\n# TAP version 13\n# 1..2\n" \
               "# ok 1 a\n#\nnot ok 1 selftests: etch: pipe # TIMEOUT 45 s\n"
        self.assertIn("failed", statuses(text))


class Ktap(unittest.TestCase):
    """KUnit's output."""

    def test_counts_leaves(self):
        self.assertEqual(statuses(KTAP), ["passed", "failed", "skipped"])

    def test_streams_one_after_the_other(self):
        """Each suite's results have a head and a plan of their own."""
        self.assertEqual(statuses(KTAP + KTAP), ["passed", "failed", "skipped"] * 2)

    def test_a_stream_that_broke_off_is_not_made_up_for_by_the_next(self):
        broken = KTAP.replace("not ok 1 etch_ring\n", "")
        self.assertEqual(statuses(broken + KTAP + KTAP).count("failed"), 4)


if __name__ == "__main__":
    unittest.main()
