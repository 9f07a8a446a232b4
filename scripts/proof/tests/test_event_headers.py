# SPDX-License-Identifier: GPL-2.0
"""Event headers, the lines of make about objects, and the events in objects."""

import contextlib
import io
import subprocess
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

import event_headers
import headers
import tap

HEADER = """\
DECLARE_EVENT_CLASS(cow,
	TP_PROTO(int legs),
DEFINE_EVENT(cow, cow_moos,
	TP_PROTO(int legs),
#define DEFINE_COW(name) \\
	DEFINE_EVENT(cow, name, \\
DEFINE_COW(cow_grazes);
TRACE_EVENT(/* small */
	calf,
"""
LOG = """\
  CC      mm/slab_common.o
  CC [M]  fs/x.o
/src/fs/x.c:3:1: error: expected ';'
make[4]: *** [/src/scripts/Makefile.build:229: fs/x.o] Error 1
make[2]: *** No rule to make target 'arch/x86/none.o'.  Stop.
make[3]: Nothing to be done for 'fs/nothing.o'.
make[3]: *** [/src/scripts/Makefile.build:478: fs] Error 2
"""
CMD = """\
deps_mm/x.o := \\
    $(wildcard include/config/SMP) \\
  ../linux/include/linux/types.h \\
  /top/linux/include/trace/events/kmem.h \\
  /usr/lib/gcc/x86_64-linux-gnu/12/include/stdarg.h \\
"""
OBJECT = """
char _etch[0];
static int etch_event_a, __tracecall_a;
__attribute__((used, section("_etch_events"))) static void *etch_event_ptr_a = &etch_event_a;
__attribute__((used, section("_ftrace_events"))) static void *__event_a = &__tracecall_a;
__attribute__((used)) static void *__event_enter__read = &__tracecall_a;
__attribute__((used)) static void *__p_syscall_meta__read = &__tracecall_a;
__attribute__((used)) static void *__event_enter_door = &__tracecall_a;
__attribute__((used)) static void etch_print_class(void) { }
"""


class EventHeadersTest(unittest.TestCase):
    """Text, and one object."""

    def test_names(self):
        self.assertLessEqual({"cow", "cow_moos", "cow_grazes", "calf"},
                             event_headers.names(HEADER))

    def test_outcome(self):
        missing, failed = event_headers.outcome(LOG)
        self.assertEqual(missing, {"arch/x86/none.o", "fs/nothing.o"})
        self.assertEqual(list(failed), ["fs/x.o"])
        self.assertIn("expected ';'", failed["fs/x.o"])

    def test_depends(self):
        self.assertEqual(event_headers.depends(CMD, "/top/headers", "/top/linux"),
                         {"include/linux/types.h", "include/trace/events/kmem.h"})

    def object(self, source):
        """An object that the compiler makes of a source."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.o"
            subprocess.run(["gcc", "-w", "-c", "-x", "c", "-", "-o", path], input=source,
                           text=True, check=True)
            return event_headers.Object(path)

    def test_object(self):
        found = self.object(OBJECT)
        self.assertEqual(found.etch, {"a"})
        self.assertLessEqual({"a", "class"}, found.names)
        self.assertEqual(found.problems(),
                         ["ftrace's but not Etch's: enter_door"])

    def test_object_without_a_pointer(self):
        found = self.object(OBJECT.replace('section("_etch_events")', "unused"))
        self.assertIn("_etch_events has 0 pointers, and there are 1 events",
                      found.problems())

    def test_each_source_is_one_result(self):
        of = {"x86-64": types.SimpleNamespace(problems={"bad.c": ["no pointer"]},
                                              objects={"good.c": 1, "empty.c": 1},
                                              empty={"empty.c"}),
              "arm64": types.SimpleNamespace(problems={}, objects={"empty.c": 1},
                                             empty=set())}
        sources = ["bad.c", "empty.c", "good.c", "nowhere.c"]
        with mock.patch.object(event_headers, "sources", lambda _: sources), \
                mock.patch.object(headers, "Architecture", lambda name, _: of[name]), \
                contextlib.redirect_stdout(io.StringIO()) as out:
            headers.compile_all(tap.Report(), list(of))
        self.assertEqual(out.getvalue().splitlines(), [
            "not ok 1 - x86-64: bad.c", "# no pointer", "ok 2 - x86-64: good.c",
            "ok 3 - arm64: empty.c",
            "ok 4 - nowhere.c # SKIP no event in it for x86-64, arm64"])
