# SPDX-License-Identifier: GPL-2.0
"""The rooms of kernel/etch/, and uses of a room above."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lint"))
import rooms


class Links(unittest.TestCase):
    """On objects that the compiler made."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def compile(self, name, text):
        """An object of kernel/etch/."""
        path = self.folder / rooms.PLACE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-w", "-x", "c", "-c", "-o", path, "-"], input=text,
                       text=True, check=True)

    def test_a_use_of_a_room_below_is_none(self):
        self.compile("ring/ring.o", "void take(void) {}")
        self.compile("text/line.o", "void take(void); void line(void) { take(); }")
        self.assertEqual(rooms.links(self.folder), [])
        self.assertEqual(rooms.uses(self.folder),
                         {(Path("text/line.o"), Path("ring/ring.o")): {"take"}})

    def test_a_use_of_a_room_above_is_named(self):
        self.compile("ring/ring.o", "void line(void); void take(void) { line(); }")
        self.compile("text/line.o", "void line(void) {}")
        found = rooms.links(self.folder)
        self.assertEqual(len(found), 1)
        self.assertIn("ring/ring.o uses line of text/line.o", found[0])

    def test_so_is_one_on_the_same_floor_and_of_a_module(self):
        self.compile("text/line.o", "void line(void) {}")
        self.compile("ctf/raw_mod.o", "extern void line(void); void (*raw)(void) = line;")
        self.assertEqual(len(rooms.links(self.folder)), 1)

    def test_files_of_a_room_that_use_each_other_are_named(self):
        self.compile("ring/a.o", "void c(void); void a(void) { c(); }")
        self.compile("ring/b.o", "void a(void); void b(void) { a(); }")
        self.assertEqual(rooms.circles(self.folder), [])
        self.compile("ring/c.o", "void b(void); void c(void) { b(); }")
        self.assertEqual(rooms.circles(self.folder),
                         ["ring/a.o, ring/b.o, ring/c.o use each other"])

    def test_a_test_may_close_a_circle(self):
        self.compile("ring/a.o", "void c(void); void a(void) { c(); }")
        self.compile("ring/a_kunit.o", "void a(void); void c(void) { a(); }")
        self.assertEqual(rooms.circles(self.folder), [])

    def test_no_objects_are_no_answer(self):
        self.assertEqual(len(rooms.links(self.folder)), 1)


class Includes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=rooms.layout.TOP)
        self.addCleanup(folder.cleanup)
        self.sources = Path(folder.name)
        for room in rooms.FLOOR:
            if room != "main":
                (self.sources / room).mkdir()
        patch = mock.patch.object(rooms, "SOURCES", self.sources)
        patch.start()
        self.addCleanup(patch.stop)

    def test_headers_of_rooms_above_are_named(self):
        (self.sources / "ring/a.c").write_text('#include "ring/b.h"\n#include "text/c.h"\n')
        (self.sources / "text/a.c").write_text('#include "ring/b.h"\n#include <text/c.h>\n')
        found = rooms.includes()
        self.assertEqual(len(found), 1)
        self.assertIn("ring/a.c includes a header of text/", found[0])

    def test_a_folder_without_a_floor_is_named(self):
        self.assertEqual(rooms.lost(), [])
        (self.sources / "attic").mkdir()
        (self.sources / "text").rmdir()
        self.assertEqual(len(rooms.lost()), 2)


if __name__ == "__main__":
    unittest.main()
