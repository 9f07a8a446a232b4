# SPDX-License-Identifier: GPL-2.0
"""What two boots say of the records that outlived the first one."""

import unittest

import persist

REPORT = """\
guest: boot 6.12.117 x86_64
state: recording
counted: 0 5
counted: 1 4
marks: 3
guest: boot 6.12.117 x86_64
state: found
status: state: found
status: cpu0: 2 packets, 7 records, 0 overwritten, 0 lost
status: cpu1: 1 packets, 4 records, 0 overwritten, 0 lost
ok - the second kernel goes on where the first one died
guest: end 0
"""
RECORDS = {0: 7, 1: 4}
MARKS = {0: [1, 2, 3], 1: [1, 2, 3]}


class Compare(unittest.TestCase):
    """Right records pass, and wrong ones are found."""

    def wrong(self, report=REPORT, records=None, marks=None, said=()):
        records = records or RECORDS
        return persist.compare(report, records, marks or MARKS, sum(records.values()), said)

    def test_right(self):
        self.assertEqual(self.wrong(), [])

    def test_complaint(self):
        self.assertTrue(self.wrong(said=["a warning"]))

    def test_record_missing(self):
        self.assertTrue(self.wrong(records={0: 6, 1: 4}))

    def test_fewer_than_counted(self):
        self.assertTrue(self.wrong(REPORT.replace("7 records", "4 records"), {0: 4, 1: 4}))

    def test_mark_missing(self):
        self.assertTrue(self.wrong(marks={0: [1, 3], 1: [1, 2, 3]}))

    def test_torn(self):
        self.assertTrue(self.wrong(REPORT.replace(
            "4 records, 0 overwritten, 0 lost",
            "4 records, 0 overwritten, 0 lost; torn and left out: 1 packets, told to have "
            "2 records")))

    def test_damaged(self):
        self.assertTrue(self.wrong(REPORT.replace("7 records, 0 overwritten, 0 lost",
                                                  "7 records, 0 overwritten, 0 lost; its "
                                                  "ring is damaged")))

    def test_nothing_of_the_end(self):
        self.assertTrue(self.wrong(REPORT.replace("7 records", "5 records"), {0: 5, 1: 4}))

    def test_nothing_counted(self):
        self.assertTrue(self.wrong("guest: boot\n"))
