# SPDX-License-Identifier: GPL-2.0
"""The lint of sentences that hide their subject."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lint"))
import english


class Sentences(unittest.TestCase):
    def found(self, name, text):
        """[(kind, line)] of a file."""
        with tempfile.TemporaryDirectory(dir=english.layout.TOP) as folder:
            path = Path(folder) / name
            path.write_text(text)
            return [(one.kind, one.line)
                    for one in english.problems(str(path.relative_to(english.layout.TOP)))]

    def test_each_kind_is_found(self):
        self.assertEqual(self.found("a.rst", "A reader blocks. Who waits does not.\n"),
                         [("english:headless", 1)])
        self.assertEqual(self.found("a.rst", "It is kept for whoever reads it.\n"),
                         [("english:headless", 1)])
        self.assertEqual(self.found("a.rst", "Space that cannot be had is counted.\n"),
                         [("english:passive", 1)])
        self.assertEqual(self.found("a.rst", "The reader takes his lock.\n"),
                         [("english:person", 1)])

    def test_plain_sentences_pass(self):
        text = ("A reader that waits does not block the writer. The caller, who holds the\n"
                "lock, says what it wants. The file had a line, and it told the reader.\n")
        self.assertEqual(self.found("a.rst", text), [])

    def test_a_question_passes(self):
        self.assertEqual(self.found("a.rst", "What is lost? A record.\n"), [])

    def test_a_clause_goes_over_two_lines(self):
        text = "int a;\n/*\n * A reader blocks. Who\n * waits does not.\n */\n"
        self.assertEqual(self.found("a.c", text), [("english:headless", 3)])

    def test_code_is_no_prose(self):
        self.assertEqual(self.found("a.c", "int he = who is(his);\n"), [])
        self.assertEqual(self.found("a.py", "he = [who for who in his]\n"), [])

    def test_messages_are(self):
        self.assertEqual(self.found("a.c", 'puts("It cannot be had.");\n'),
                         [("english:passive", 1)])
        self.assertEqual(self.found("a.py", "x = 1\nprint('It cannot be had.')\n"),
                         [("english:passive", 2)])
        self.assertEqual(self.found("a.sh", 'he=1\necho "It cannot be had."\n'),
                         [("english:passive", 2)])

    def test_of_a_patch_the_message_is_read_and_the_comments_in_others_files(self):
        text = ("Subject: a\n\nIt cannot be had.\n---\n a | 1 +\n\n"
                "--- a/kernel/{0}\n+++ b/kernel/{0}\n+/* It cannot be had. */\n"
                " /* It cannot be had. */\n")
        self.assertEqual(self.found("a.patch", text.format("a.c")),
                         [("english:passive", 3), ("english:passive", 9)])
        self.assertEqual(self.found("a.patch", text.format("etch/main.c")),
                         [("english:passive", 3)])
