# SPDX-License-Identifier: GPL-2.0
"""The tool etch of tools/: a trace that is made here, shown, checked, cut and broken."""

import http.client
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import layout
import terminal

SOURCE = layout.TOP / "tools"
UAPI = layout.TOP / "include-trace/uapi"
# The page of etch view, as the Makefile makes it.
VIEW = {"html": ("page.html",), "css": ("page.css",),
        "js": ("trace.js", "draw.js", "tables.js", "keys.js")}
PATIENCE = 60       # seconds
# What the tool answers where the kernel has no tree of Etch's.
NO_TREE = "there is no " if os.geteuid() == 0 else "so they are root's alone"

# struct etch_packet_header, of include-trace/uapi/linux/etch_packet.h.
HEADER = struct.Struct("<I16sIQ4I16sIi2I6Q")
UUID = bytes(range(16))
PAGE = 4096

METADATA = """/* CTF 1.8 */
trace { uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f"; };

env {
	hostname = "here";
	tracer_name = "etch";
};

clock {
	name = mono;
	freq = 1000000000;
	offset_s = 1700000000;
	offset = 5;
	absolute = true;
};

stream {
	id = 0;
	event.context := struct {
		enum : integer { size = 2; align = 1; signed = false; } {
			task = 0, softirq = 1, hardirq = 2, nmi = 3
		} context;
		integer { size = 32; align = 1; signed = true; } pid;
		integer { size = 32; align = 1; signed = true; base = 10; } prio;
	};
};

event {
	id = 7;
	name = "sys:number";
	stream_id = 0;
	fields := struct {
		int32_t _a;
		/* "one" = 0x1; "two" = 0x2; */
		xint64_t _b;
		char8_t _name[8];
	};
};

event {
	id = 9;
	name = "sys:text";
	stream_id = 0;
	fields := struct {
		loc16_t __msg_offset;
		uint16_t __msg_length;
		char8_t _msg[__msg_length];
	};
};
"""
FORMATS = """name: number
ID: 7
format:
	field:unsigned short common_type;	offset:6;	size:2;	signed:0;

	field:int a;	offset:12;	size:4;	signed:1;
	field:unsigned long b;	offset:16;	size:8;	signed:0;
	field:char name[8];	offset:24;	size:8;	signed:0;

print fmt: "a=%d b=%s name=%s half=%u%% %s", REC->a, (REC->b) ? __print_flags(REC->b, "|", { 1UL << 0, "one" }, { 0x2, "two" }, { HOW, "secret" }) : "none", REC->name, REC->a >> 1, __print_symbolic(REC->a & 1, { 0, "even" }, { 1, "odd" })
name: text
ID: 9
format:
	field:unsigned short common_type;	offset:6;	size:2;	signed:0;

	field:__data_loc char[] msg;	offset:12;	size:4;	signed:0;

print fmt: "%-6s at %ps", __get_str(msg), (void *)0xffffffff81000010UL
"""
# Of these there are no format files.
CALLS = "".join(f"""event {{
	id = {number};
	name = "{name}";
	stream_id = 0;
	fields := struct {{
		{fields}
	}};
}};

""" for number, name, fields in (
    (11, "syscalls:sys_enter_read", "int32_t ___syscall_nr; xint64_t _fd; xint64_t _count;"),
    (12, "syscalls:sys_exit_read", "int32_t ___syscall_nr; int64_t _ret;"),
    (13, "syscalls:sys_enter_exit_group", "int32_t ___syscall_nr; xint64_t _code;"),
    (14, "sched:sched_switch", "char8_t _prev_comm[16]; int32_t _prev_pid; int64_t _prev_state; "
     "char8_t _next_comm[16]; int32_t _next_pid;"),
    (15, "sched:sched_waking", "char8_t _comm[16]; int32_t _pid;"),
    (18, "sys:relative", "loc16_t __one_offset; uint16_t __one_length; loc16_t __two_offset; "
     "uint16_t __two_length; char8_t _one[__one_length]; char8_t _two[__two_length];"),
    (16, "raw_syscalls:sys_enter", "int64_t _id; xint64_t _args[6];"),
    (17, "raw_syscalls:sys_exit", "int64_t _id; int64_t _ret;")))
# What a kernel with events of programs describes, too.
PROGRAMS = """
stream {
	id = 1;
	event.context := struct {
		enum : integer { size = 2; align = 1; signed = false; } {
			task = 0, softirq = 1, hardirq = 2, nmi = 3
		} context;
		integer { size = 32; align = 1; signed = true; } pid;
	};
};

event {
	id = 20;
	name = "sys:mark";
	stream_id = 1;
	fields := struct {
		uint32_t _a;
	};
};
"""
SYMBOLS = "ffffffff81000000 T begin\nffffffff81000100 t other\t[mod]\n"
TASKS = "start 41 41 1 shell\nstart 42 41 1 two words\nend 41 41 1 later\n"


def number(when, pid, a, b, name=b"n"):
    """A record of sys:number, with its context."""
    return struct.pack("<Qi", when | 7 << 48, pid) + struct.pack(
        "<iiQ8s", 120, a, b, name)


def text(when, pid, msg, level=0):
    """A record of sys:text."""
    body = msg.encode() + b"\0"
    record = struct.pack("<Qi", when | 9 << 48 | level << 62, pid) + struct.pack(
        "<iI", 120, len(body) << 16 | 16) + body
    return record + bytes(-len(record) % 4)


def other(event, when, pid, layout_of, *values):
    """A record of one of CALLS."""
    return struct.pack("<Qii", when | event << 48, pid, 120) + struct.pack(
        "<" + layout_of, *values)


def packet(cpu, seq, records, begin, lost=(0, 0, 0, 0, 0), end=None):
    """A packet; lost: overwritten, full, throttled, nested, too big."""
    content = b"".join(records)
    size = HEADER.size + len(content)
    whole = -(-size // PAGE) * PAGE
    header = HEADER.pack(0xC1FC1FC1, UUID, 0, *lost, b"task", cpu, 7, 1, len(records), begin,
                         end or begin + 1000, size * 8, whole * 8, seq, sum(lost))
    return (header + content).ljust(whole, b"\0")


class Etch(unittest.TestCase):
    """What the program prints."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.program = Path(cls.scratch.name) / "etch"
        made = Path(cls.scratch.name)
        (made / "view").mkdir()
        for kind, names in VIEW.items():
            text = "".join((SOURCE / "view" / name).read_text() for name in names)
            (made / f"view/page.{kind}.inc").write_text("".join(
                '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"\n'
                for line in text.splitlines()))
        subprocess.run(
            ["gcc", "-O1", "-g", "-Wall", "-Werror", "-fsanitize=address,undefined",
             "-fno-sanitize-recover=all", "-pthread", "-I", SOURCE, "-I", made, "-idirafter",
             UAPI, "-o", cls.program, *SOURCE.glob("*/*.c")],
            check=True)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.trace = Path(folder.name) / "trace"
        (self.trace / ".etch").mkdir(parents=True)
        self.put("metadata", METADATA)
        self.put(".etch/formats", FORMATS)
        self.put(".etch/symbols", SYMBOLS)
        self.put(".etch/tasks", TASKS)
        second = 10**9
        self.packets = {
            0: [packet(0, 1, [number(second + 1, 41, 3, 1), number(second + 500, 41, -2, 7)],
                       second),
                packet(0, 4, [text(second + 5000, 42, "hello", 2)], second + 4000,
                       (12, 5, 0, 0, 0))],
            1: [packet(1, 1, [text(second + 600, 42, "x"), number(second + 700, 0, 8, 0),
                              number(second + 6000, 99, 0, 2)], second + 100)],
        }
        for cpu, packets in self.packets.items():
            (self.trace / f"cpu{cpu}").write_bytes(b"".join(packets))

    def put(self, name, content):
        """A file of the trace."""
        (self.trace / name).write_text(content)

    def run_etch(self, *words, expected=0, said=""):
        """What it prints; said: what the standard error must have."""
        done = subprocess.run([self.program, *map(str, words)], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              errors="replace", timeout=PATIENCE)
        self.assertEqual(done.returncode, expected, done.stderr)
        if said:
            self.assertIn(said, done.stderr)
        else:
            self.assertEqual(done.stderr, "")
        return done.stdout

    def show(self, *options, **expected):
        """Lines, without those at the top."""
        return self.run_etch("show", "-H", *options, self.trace, **expected).splitlines()

    # ---- show ----

    def test_shows_all(self):
        self.assertEqual(self.show("-N"), [
            "           shell-41      [000] .....     1.000000001: number: "
            "a=3 b=one name=n half=1% odd {prio=120}",
            "           shell-41      [000] .....     1.000000500: number: "
            "a=-2 b=one|two|0x4 name=n half=4294967295% even {prio=120}",
            "       two words-42      [001] .....     1.000000600: text: "
            "x      at begin {prio=120}",
            "          <idle>-0       [001] .....     1.000000700: number: "
            "a=8 b=none name=n half=4% even {prio=120}",
            "CPU:0 [LOST 17 EVENTS] 12 overwritten, 5 because the buffer was full",
            "       two words-42      [000] ..h..     1.000005000: text: "
            "hello  at begin {prio=120}",
            "           <...>-99      [001] .....     1.000006000: number: "
            "a=0 b=two name=n half=0% even {prio=120}",
        ])

    def test_shows_records_of_programs(self):
        """A file of their own, of a stream without the contexts; also where cpuN is missing."""
        self.put("metadata", METADATA + PROGRAMS)
        for cpu, records in ((1, [(650, 3), (651, 4)]), (2, [(900, 5)])):
            data = packet(cpu, 1, [struct.pack("<QiI", 10**9 + at | 20 << 48, 42, a)
                                   for at, a in records], 10**9 + records[0][0], end=10**9 + 950)
            data += packet(cpu, 2, [], 10**9 + 960, (0, 7, 0, 0, 0), end=10**9 + 960)
            (self.trace / f"user{cpu}").write_bytes(data)
        lines = self.show("-N")
        self.assertEqual([line.strip() for line in lines if "mark" in line], [
            "two words-42      [001] .....     1.000000650: mark: a=3",
            "two words-42      [001] .....     1.000000651: mark: a=4",
            "two words-42      [002] .....     1.000000900: mark: a=5"])
        self.assertEqual(len(lines), 7 + 3 + 2)
        self.assertEqual([line.split(": ")[1][:4] for line in lines if "CPU" not in line],
                         ["numb", "numb", "text", "mark", "mark", "numb", "mark", "text", "numb"])
        checked = self.run_etch("check", self.trace)
        self.assertIn("whole: 9 records of 3 CPUs", checked)
        self.assertRegex(checked, r"\n  1u +2 +2 +0 +7 ")
        self.assertIn(" 31 lost", checked)
        for suffix in ("json", "csv", "perfetto", "svg", "trace.dat", "perf", "ctf-lttng"):
            with self.subTest(format=suffix):
                done = subprocess.run([self.program, "export", "-f", suffix, "-o",
                                       self.trace.parent / f"out.{suffix}", self.trace],
                                      check=False, text=True, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 0, done.stderr)
        out = (self.trace.parent / "out.json").read_text().splitlines()
        self.assertEqual(sum("sys:mark" in line for line in out), 3)
        self.assertFalse([line for line in out if "sys:mark" in line and "contexts" in line])
        (self.trace / "user1").write_bytes((self.trace / "user1").read_bytes()[:-PAGE - 4000])
        self.show(said="/user1: ")
        self.run_etch("check", self.trace, expected=1)
        self.run_etch("repair", self.trace, said="user1: ")
        self.run_etch("check", self.trace)

    def test_has_a_header_for_people(self):
        out = self.run_etch("show", self.trace).splitlines()
        self.assertEqual(out[0], "# tracer: etch")
        self.assertEqual(len([line for line in out if not line.startswith("#")]), 7)

    def test_without_notes(self):
        for path in (self.trace / ".etch").iterdir():
            path.unlink()
        (self.trace / ".etch").rmdir()
        lines = self.show()
        self.assertIn("number: a=3 b=0x1 name=n {prio=120}", lines[0])
        self.assertTrue(lines[0].startswith("           <...>-41 "), lines[0])
        self.assertIn("text: msg=x {prio=120}", lines[2])

    def test_words_that_count_from_behind_themselves(self):
        """Of __rel_loc; metadata has no other word for these."""
        self.put("metadata", METADATA + CALLS)
        records = [other(18, 10**9 + at, 41, f"HHHH{len(one)}s{len(two)}s", 4, len(one),
                         len(one), len(two), one, two)
                   for at, one, two in ((1, b"", b"only\0\0\0\0"), (2, b"left\0\0\0\0", b"last"),
                                        (3, 60 * b"long", b"more"))]
        (self.trace / "cpu0").write_bytes(packet(0, 1, records, 10**9))
        (self.trace / "cpu1").write_bytes(b"")
        self.assertEqual(self.texts(), ["relative: one= two=only", "relative: one=left two=last",
                                        f"relative: one={60 * 'long'} two=more"])

    def test_other_tracers_need_a_library(self):
        """Which this program has not. babeltrace2 keeps the tracer's name in what it writes."""
        for text_of in (METADATA.replace('"etch"', '"lttng-modules"'),
                        METADATA.replace("\tid = 0;\n", "\tid = 0;\n\tevent.header := struct {\n"
                                         "\t\tuint64_t id;\n\t};\n", 1)):
            self.put("metadata", text_of)
            self.run_etch("top", self.trace, expected=1,
                          said="another tracer's: etch reads it if it is built with libbabeltrace2")
        self.put("metadata", "No metadata")
        self.run_etch("top", self.trace, expected=1, said="describes no stream")

    def chosen(self, *options):
        """Which records: the ends of their times, and L for a loss."""
        return [line.split(": ")[0][-4:] if not line.startswith("CPU:") else "L"
                for line in self.show("-N", *options)]

    def test_chooses(self):
        for options, expected in (
                (("-e", "text"), ["0600", "L", "5000"]),
                (("-e", "sys:num*", "-c", "0"), ["0001", "0500", "L"]),
                (("-e", "sys", "-c", "1"), ["0600", "0700", "6000"]),
                (("-t", "two *"), ["0600", "L", "5000"]),
                (("-t", "41", "-t", "99"), ["0001", "0500", "L", "6000"]),
                (("-f", "a > 2"), ["0001", "0700", "L"]),
                (("-f", "a > 3"), ["0700", "L"]),
                (("-f", "a >= 3"), ["0001", "0700", "L"]),
                (("-f", "a<0"), ["0500", "L"]),
                (("-f", "b & 2", "-f", "a == 0"), ["L", "6000"]),
                (("-f", "msg ~ h*"), ["L", "5000"]),
                (("-f", "msg != x"), ["L", "5000"]),
                (("-f", "prio = 120", "-f", "cpu != 0"), ["0600", "0700", "L", "6000"]),
                (("-f", "context = hardirq"), ["L", "5000"]),
                (("--from", "1.0000006", "--to", "1.0000007"), ["0600", "0700"]),
                (("--from", "+0.000005"), ["6000"]),
                (("--to", "+0.0000005"), ["0001", "0500"]),
                (("-n", "2"), ["0001", "0500"])):
            with self.subTest(options=options):
                self.assertEqual(self.chosen(*options), expected)

    def test_refuses_what_makes_no_sense(self):
        for options, said, status in (
                (("-e", "nothing"), "no event 'nothing'", 1),
                (("-f", "weight > 3"), "no event of the trace has a field 'weight'", 1),
                (("-f", "a >"), "is no condition", 2),
                (("-f", "a > big"), "a text is compared by", 2),
                (("--from", "noon"), "is no time in seconds", 2),
                (("-Z",), "no such option", 2)):
            with self.subTest(options=options):
                self.show(*options, expected=status, said=said)
        self.run_etch("show", expected=2, said="name one folder")
        self.run_etch("show", self.trace / "no", expected=1, said="Name the folder of a trace")
        self.run_etch("shaw", expected=2, said="there is no verb 'shaw'")

    def test_arithmetic(self):
        """As C has it; and no index leads out of a field."""
        for text_of, value in (
                ("REC->name[0]", "110"), ("REC->name[7]", "0"), ("REC->name[8]", "0"),
                ("REC->name[REC->a - 4]", "0"), ("REC->name[1UL << 40]", "0"),
                ("-1 > 0U", "1"), ("(u8)-1", "255"), ("(s8)255 >> 1", "-1"),
                ("7 / (REC->a - 3)", "?"), ("2 + 3 * 4 == 14 && !0", "1"),
                ("REC->a ? REC->a ?: 9 : 8", "3"), ("~0x0fU >> 28", "15"),
                ("1 << 31 < 0", "1"), ("sizeof(u64) - sizeof(int)", "4"),
                ("unknown(REC->a)", "?"), ("REC->nothing", "?"), ("(" * 300 + "1" + ")" * 300, "?"),
                ("(" * 90 + "1" + ")" * 90, "1")):
            with self.subTest(expression=text_of[:40]):
                self.put(".etch/formats", FORMATS.replace("a=%d b", "%d b", 1).replace(
                    "REC->a,", f"{text_of},", 1))
                self.assertIn(f"number: {value} b=one", self.show("-n", "1")[0])

    def test_fields_by_name(self):
        self.assertIn("number: a=-2 b=7 name=n {", self.show("-F")[1])

    # ---- Durations ----

    def record_calls(self):
        """A trace of two threads' calls and switches; a loss on CPU 1 in the middle."""
        self.put("metadata", METADATA + CALLS)

        def enter(when, pid, count):
            return other(11, when, pid, "iQQ", 0, 3, count)

        def leave(when, pid, ret):
            return other(12, when, pid, "iq", 0, ret)

        def switch(when, one, state, two):
            return other(14, when, one, "16siq16si", b"n", one, state, b"n", two)

        data = {
            0: [packet(0, 1, [
                leave(1000, 42, 7), enter(2000, 41, 64), switch(3000, 41, 1, 0),
                other(15, 20003000, 0, "16si", b"n", 41), switch(35003000, 0, 0, 41),
                leave(35003500, 41, 5), other(16, 35004000, 41, "q6Q", 0, *range(6)),
                enter(35004010, 41, 8), leave(35005000, 41, -2),
                other(17, 35005010, 41, "qq", 0, -2), enter(35006000, 41, 9),
                # Another thread was there: for how long it ran nobody knows.
                switch(35006800, 43, 1, 0)], 0,
                end=35007000)],
            1: [packet(1, 1, [enter(35006500, 42, 1)], 35006100, end=35006600),
                packet(1, 2, [leave(35009000, 42, 1), enter(35009100, 42, 2),
                              other(13, 35009200, 43, "iQ", 231, 1)],
                       35008900, (0, 4, 0, 0, 0), end=35009300)]}
        for cpu, packets in data.items():
            (self.trace / f"cpu{cpu}").write_bytes(b"".join(packets))

    def texts(self, *options):
        """The text behind the times of the lines."""
        return [line if line[0] in "#C" else line.split(": ", 1)[1].replace(" {prio=120}", "")
                for line in self.show(*options)]

    def test_durations(self):
        self.record_calls()
        switch = "sched_switch: prev_comm=n prev_pid={} prev_state={} next_comm=n next_pid={}"
        self.assertEqual(self.texts("-D"), [
            "read(...) = 7 <?>",
            switch.format(41, 1, 0),
            "sched_waking: comm=n pid=41 <n-41 slept 20.00 ms>",
            switch.format(0, 0, 41) + " <n-41 waited 15.00 ms !>",
            "read(fd: 3, count: 40) = 5 <35.00 ms !>",
            "read(fd: 3, count: 8) = -2 (No such file or directory) <1.0 us>",
            switch.format(43, 1, 0),
            "CPU:1 [LOST 4 EVENTS] 4 because the buffer was full",
            "read(fd: 3, count: 1) = 1 <?>",
            "exit_group(code: 1)",
            "# n-41 is in read(fd: 3, count: 9) since     0.035006, for 3.2 us",
            "# two words-42 is in read(fd: 3, count: 2) since     0.035009, for 0.1 us"])

    def test_durations_of_chosen_records(self):
        self.record_calls()
        for options, expected in (
                (("-t", "42"), ["read(...) = 7 <?>", "CPU", "read(fd: 3, count: 1) = 1 <?>",
                                "# two"]),
                (("-f", "count > 8"), ["read(fd: 3, count: 40) = 5 <35.00 ms !>", "CPU",
                                       "# n-41"]),
                (("-f", "ret < 0", "-c", "0"),
                 ["read(fd: 3, count: 8) = -2 (No such file or directory) <1.0 us>"]),
                (("-e", "sched_switch", "-n", "1"), ["sched_switch"]),
                (("-F", "-e", "sys_exit_read", "-n", "2"),
                 ["sys_exit_read: __syscall_nr=0 ret=7", "sys_exit_read: __syscall_nr=0 ret=5"])):
            with self.subTest(options=options):
                lines = self.texts("--durations", *options)
                self.assertEqual(len(lines), len(expected), lines)
                for line, start in zip(lines, expected):
                    self.assertTrue(line.startswith(start), line)

    # ---- trace ----

    def test_traces_only_where_there_is_a_kernel(self):
        for options, said, status in (
                ((), NO_TREE, 1), (("-d", "soon"), "-d needs a number", 2),
                (("-p", "none"), "etch trace: there is no preset 'none'", 2),
                (("-Z",), "there is no such option", 2)):
            with self.subTest(options=options):
                self.run_etch("trace", "--tree", self.trace / "none", *options,
                              expected=status, said=said)

    # ---- Tables of the present, and Perfetto's page ----

    def test_lives_only_where_there_is_a_kernel(self):
        for options, said in (
                (("--live", self.trace), "is no number of seconds"),
                (("--live", "0.01"), "is no number of seconds"),
                (("--live=1", "2", "3"), "--live takes one number"),
                (("--live", "--from", "3"), "--live shows the present"),
                (("--live", "--"), "the command behind -- is missing")):
            with self.subTest(options=options):
                self.run_etch("top", *options, expected=2, said=said)
        self.run_etch("diff", "--live", self.trace, self.trace, expected=2,
                      said="--live shows the present")

    def serve(self):
        """etch view --perfetto, and the path of the file that it serves; or waits for the port."""
        end = time.monotonic() + PATIENCE
        while True:
            server = subprocess.Popen([self.program, "view", "--perfetto", self.trace],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      env={**os.environ, "TMPDIR": str(self.trace.parent)})
            self.addCleanup(server.communicate)
            self.addCleanup(server.kill)
            first, address = server.stdout.readline(), server.stdout.readline().strip()
            if address or time.monotonic() > end:
                break
            self.assertIn("Address already in use", server.stderr.read())
            time.sleep(1)
        self.assertIn("Open this in a browser", first)
        start = "https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001"
        self.assertTrue(address.startswith(start + "/etch-"), address)
        return server, address.removeprefix(start)

    def ask(self, method, path):
        """An answer: status, headers, body."""
        to = http.client.HTTPConnection("127.0.0.1", 9001, timeout=PATIENCE)
        self.addCleanup(to.close)
        to.request(method, path, headers={"Origin": "https://ui.perfetto.dev"})
        answer = to.getresponse()
        return answer.status, answer.headers, answer.read()

    def test_serves_perfettos_page(self):
        server, path = self.serve()
        expected = subprocess.run(
            [self.program, "export", "-f", "perfetto", "-o", "-", self.trace], check=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        # A connection that asks for nothing, as browsers make, keeps nobody waiting.
        idle = socket.create_connection(("127.0.0.1", 9001), timeout=PATIENCE)
        self.addCleanup(idle.close)
        for other_path in ("/", path + "x", "/etch-000000/trace.pftrace"):
            self.assertEqual(self.ask("GET", other_path)[0], 404)
        status, headers, _ = self.ask("OPTIONS", path)
        self.assertEqual(status, 204)
        self.assertEqual(headers["Access-Control-Allow-Private-Network"], "true")
        self.assertIsNone(server.poll())
        status, headers, body = self.ask("GET", path)
        self.assertEqual(status, 200)
        self.assertEqual(headers["Access-Control-Allow-Origin"], "https://ui.perfetto.dev")
        self.assertEqual(body, expected)
        self.assertEqual(server.wait(PATIENCE), 0)
        self.assertEqual(server.stdout.read(), "Perfetto's page has the trace.\n")
        self.assertEqual(list(self.trace.parent.glob("etch-*")), [])

    def test_serves_all_of_it(self):
        """A browser that goes away in the middle has not got it."""
        server, path = self.serve()
        with socket.create_connection(("127.0.0.1", 9001), timeout=PATIENCE) as to:
            to.send(f"GET {path} HT".encode())
        with socket.create_connection(("127.0.0.1", 9001), timeout=PATIENCE) as to:
            to.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            to.send(f"GET {path} HTTP/1.1\r\n\r\n".encode())
        time.sleep(0.5)
        self.assertIsNone(server.poll())
        self.run_etch("view", "--perfetto", self.trace, expected=1,
                      said="Address already in use. End the program that uses it")
        self.run_etch("view", "--perfetto", "-o", "x", self.trace, expected=2,
                      said="--perfetto is of all of the trace")

    # ---- Damage ----

    def test_cut_anywhere(self):
        whole = (self.trace / "cpu1").read_bytes()
        content = HEADER.size + sum(map(len, (text(0, 0, "x"), number(0, 0, 0, 0),
                                              number(0, 0, 0, 0))))
        for cut in (0, 1, HEADER.size - 1, HEADER.size, 200, content - 1, content,
                    len(whole) - 1):
            with self.subTest(cut=cut):
                (self.trace / "cpu1").write_bytes(whole[:cut])
                there = cut >= content
                lines = self.show(said=f"cpu1: {cut} bytes behind the last whole packet"
                                  if cut and not there else "")
                self.assertEqual(len(lines), 7 if there else 4)
                self.run_etch("check", self.trace, expected=0 if there or not cut else 1)

    def test_a_record_that_makes_no_sense(self):
        for place, bits, said in ((HEADER.size + 6, 0xff, "which nothing describes"),
                                  (HEADER.size + 18, 0xff, "does not fit")):
            data = bytearray(b"".join(self.packets[1]))
            data[place] ^= bits
            (self.trace / "cpu1").write_bytes(data)
            lines = self.show(said=said)
            self.assertEqual(len(lines), 4)
            self.assertIn("cpu1 has 3 records that make no sense",
                          self.run_etch("check", self.trace, expected=1, said=said))

    def test_a_time_that_no_clock_reaches(self):
        """Behind it, times would go back."""
        begin = 0xffff << 48
        (self.trace / "cpu1").write_bytes(packet(
            1, 1, [number(9, 0, 1, 1), number(8, 0, 2, 2), number(10, 0, 3, 3)], begin,
            end=begin + 9))
        self.assertEqual(len(self.show(said="has a time that no clock reaches")), 5)
        self.assertIn("cpu1 has 2 records that make no sense", self.run_etch(
            "check", self.trace, expected=1, said="has a time that no clock reaches"))

    def test_bytes_of_any_kind(self):
        chance = random.Random(1)
        for name in ("cpu0", "cpu1", "metadata", ".etch/formats", ".etch/symbols",
                     ".etch/tasks"):
            good = (self.trace / name).read_bytes()
            for _ in range(10):
                data = bytearray(good)
                for _ in range(chance.choice((1, 3, 30))):
                    data[chance.randrange(len(data))] = chance.choice(b"\0\xff(\"%{;1 \n")
                (self.trace / name).write_bytes(data)
                for verb in ("show", "check"):
                    done = subprocess.run([self.program, verb, self.trace], check=False,
                                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                          timeout=PATIENCE)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
            (self.trace / name).write_bytes(good)

    # ---- check and repair ----

    def test_checks(self):
        self.put(".etch/account", "".join(
            f"cpu{cpu} {name}: {count}\n" for cpu, name, count in (
                (0, "read", 3), (0, "overwritten", 12), (0, "lost full", 5), (1, "read", 3),
                (1, "lost full", 0))))
        out = self.run_etch("check", self.trace)
        self.assertIn(f"{self.trace} is whole: 6 records of 2 CPUs in 0.00 s, 17 lost", out)
        self.assertIn("lost on CPU 0 between     1.000001 and     1.000004: "
                      "12 overwritten, 5 because the buffer was full", out)
        self.assertIn("The kernel counts the same.", out)
        self.put(".etch/account", "cpu0 read: 4\n")
        self.assertIn("cpu0: the kernel counts 4 records read, and the trace has 3",
                      self.run_etch("check", self.trace, expected=1))

    def test_disorder(self):
        (self.trace / "cpu0").write_bytes(b"".join(reversed(self.packets[0])))
        out = self.run_etch("check", self.trace, expected=1, said="does not belong behind")
        self.assertIn("is not whole", out)

    def test_repairs(self):
        data = (self.trace / "cpu0").read_bytes()
        (self.trace / "cpu0").write_bytes(data[:PAGE + 140])
        self.run_etch("repair", self.trace,
                      said="cpu0: 140 bytes behind the last whole packet are cut off")
        self.assertEqual((self.trace / "cpu0").read_bytes(), data[:PAGE])
        self.run_etch("check", self.trace)

    # ---- list ----

    def tree(self):
        """Files as those of Etch's tree, with two instances; its folder."""
        root = self.trace.parent / "tree"
        for name, on in (("", "sys:text\n"), ("instances/mine", "sys:text\nsys:number\n"),
                         ("instances/idle", "")):
            (root / name).mkdir(parents=True, exist_ok=True)
            (root / name / "set_event").write_text(on)
        (root / "available_events").write_text("sys:text\nsys:number\nother:odd_one\nsys:gone\n")
        for system, text_of in (("sys", FORMATS.replace("name: text", "\nname: text")),
                                ("other", "name: odd_one\nID: 3\nformat:\n\nprint fmt: \"\"\n")):
            (root / "events" / system).mkdir(parents=True)
            (root / "events" / system / "format").write_text(text_of + "\n")
        return root

    def test_lists_the_kernels_events(self):
        tree = self.tree()
        self.assertEqual(self.run_etch("list", "-t", tree).splitlines(), [
            "other:odd_one",
            "sys:number     a b name (on in instance mine)",
            "sys:text       msg (on in the main tree, instance mine)"])
        for words, expected in ((("-n",), ["other:odd_one", "sys:number", "sys:text"]),
                                (("-n", "-o"), ["sys:number", "sys:text"]),
                                (("-n", "o*", "text"), ["other:odd_one", "sys:text"]),
                                (("-n", "sys"), ["sys:number", "sys:text"])):
            with self.subTest(words=words):
                self.assertEqual(self.run_etch("list", "-t", tree, *words).split(), expected)
        self.assertIn("\tfield:int a;\toffset:12;\tsize:4;\tsigned:1;\n",
                      self.run_etch("list", "-t", tree, "-v", "number"))
        self.run_etch("list", "-t", tree, "gone", expected=1,
                      said="etch list: this kernel has no event 'gone'")
        self.run_etch("list", "-t", tree / "none", expected=1, said="etch list: ")
        self.run_etch("list", "-t", tree, "-d", self.trace, expected=2, said="exclude each other")

    def test_lists_the_events_of_a_trace(self):
        self.assertEqual(self.run_etch("list", "-d", self.trace).splitlines(), [
            "        4  sys:number  a b name", "        2  sys:text    msg"])
        (self.trace / "cpu1").write_bytes(b"")
        (self.trace / "cpu0").write_bytes(self.packets[0][0])
        self.assertEqual(self.run_etch("list", "-o", "-d", self.trace),
                         "        2  sys:number  a b name\n")
        (self.trace / ".etch/formats").unlink()
        self.assertEqual(self.run_etch("list", "-v", "-d", self.trace, "tex*").splitlines(),
                         ["        0  sys:text  msg"])

    # ---- record ----

    def test_opens_only_what_it_can_open(self):
        """Before anything is recorded; with the verb, the recorder looks for its tree."""
        there = "etch view" in self.run_etch()
        self.run_etch("record", "--open", "-e", "sched", "-t", self.trace / "none",
                      expected=1 if there else 2, said=NO_TREE if there else
                      "etch record: --open needs the verb view, and this program has none")

    # ---- The program ----

    def test_helps(self):
        out = self.run_etch()
        self.assertLessEqual(out.count("\n"), 20)
        for line in out.splitlines()[1:-1]:
            verb = line.split()[1]
            with self.subTest(verb=verb):
                text_of_verb = self.run_etch(verb, "--help")
                self.assertEqual(text_of_verb, self.run_etch("help", verb))
                self.assertTrue(text_of_verb.startswith(f"etch {verb}: "))
                self.assertLessEqual(text_of_verb.count("\n"), 40)
                self.assertLessEqual(max(map(len, text_of_verb.splitlines())), 90)
        self.assertIn("etch ", self.run_etch("--version"))

    def test_the_man_page_has_all_verbs(self):
        page = (layout.TOP / "Documentation/etch.rst").read_text()
        self.assertEqual(re.findall(r"(?m)^\*\*etch (\w+)\*\* ", page),
                         re.findall(r"(?m)^  etch (\w+) ", self.run_etch()))

    @unittest.skipUnless((layout.PRISTINE / "tools").is_dir(),
                         "there is no kernel source: make fetch")
    def test_installs(self):
        """In a folder with what the Makefile needs of a kernel's tree."""
        tree = self.trace.parent
        for to, source in (("tools/tracing/etch", SOURCE),
                           ("tools/scripts", layout.PRISTINE / "tools/scripts"),
                           ("include/uapi/linux", UAPI / "linux"),
                           ("Documentation/trace/etch", layout.TOP / "Documentation")):
            shutil.copytree(source, tree / to)
        make = ["make", "-s", "-j2", "-C", tree / "tools/tracing/etch", f"DESTDIR={tree}/to",
                "CFLAGS=-O0", "LIBRARIES=", "install"]
        for more, expected in (
                (["RST2MAN=cp"], {"etch.1", "etch-record.1"}), (["RST2MAN="], set())):
            shutil.rmtree(tree / "to", ignore_errors=True)
            done = subprocess.run(make + more, check=False, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)
            with self.subTest(more=more):
                for place, names in (("bin", {"etch", "etch-record"}),
                                     ("share/bash-completion/completions",
                                      {"etch", "etch-record"}),
                                     ("share/fish/vendor_completions.d",
                                      {"etch.fish", "etch-record.fish"}),
                                     ("share/zsh/site-functions", {"_etch"}),
                                     ("share/man/man1", expected)):
                    folder = tree / "to/usr" / place
                    self.assertEqual({path.name for path in folder.glob("*") if path.exists()},
                                     names)

    def complete(self, *typed):
        """What bash makes of lines that end with a tab."""
        path = f"{self.program.parent}:{os.environ['PATH']}"
        return terminal.completed(
            ["bash", "--norc", "--noprofile", "-i"],
            {"PATH": path, "TERM": "dumb", "PS1": "", "HOME": "/nonexistent",
             "INPUTRC": "/dev/null", "HISTFILE": ""},
            f". {SOURCE}/etch-completion.bash; cd {self.trace.parent}", typed)[0]

    def test_bash_completes(self):
        self.tree()
        for name in ("etch", "etch-record"):
            os.symlink(self.program, self.trace.parent / name)
        for typed, expected in (
                ("etch rep", "etch repair"),
                ("etch list -t tree odd", "etch list -t tree odd"),
                ("etch list -t tree oth", "etch list -t tree other"),
                ("etch list -t tree sys:nu", "etch list -t tree sys:number"),
                ("etch record -t tree -e sys:tex", "etch record -t tree -e sys:text"),
                ("etch record -t tree -e sys:text,other:o",
                 "etch record -t tree -e sys:text,other:odd_one"),
                ("etch record -t tree -e sys:text,oth", "etch record -t tree -e sys:text,other"),
                ("etch record -p sc", "etch record -p sched"),
                ("etch record -p sched,sy", "etch record -p sched,syscalls"),
                ("etch trace --tree tree -e sys:tex", "etch trace --tree tree -e sys:text"),
                ("etch trace -p sc", "etch trace -p sched"),
                ("etch record -m ov", "etch record -m overwrite"),
                ("etch record --o", "etch record --open"),
                ("etch record -e x -- tra", "etch record -e x -- trace/"),
                ("etch show --fr", "etch show --from"),
                ("etch show tra", "etch show trace/"),
                ("./etch-record -p irq,bo", "./etch-record -p irq,boot"),
                ("etch help rec", "etch help rec")):    # record, receive: a tab is not enough
            with self.subTest(typed=typed):
                self.assertEqual(self.complete(typed), [expected])

    def test_is_the_recorder_by_that_name(self):
        link = self.trace.parent / "etch-record"
        os.symlink(self.program, link)
        done = subprocess.run([link, "-h"], check=True, stdout=subprocess.PIPE, text=True)
        self.assertIn("etch-record -e EVENT...", done.stdout)


if __name__ == "__main__":
    unittest.main()
