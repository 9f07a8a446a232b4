# SPDX-License-Identifier: GPL-2.0
"""The recorder of tools/record, in a tree of plain files and pipes."""

import contextlib
import os
import random
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

import layout

SOURCE = layout.TOP / "tools/record"
UAPI = layout.TOP / "include-trace/uapi"

# struct etch_packet_header, of include-trace/uapi/linux/etch_packet.h.
HEADER = struct.Struct("<I16sIQ4I16sIi2I6Q")
UUID = bytes(range(16))
DASHED = "00010203-0405-0607-0809-0a0b0c0d0e0f"
PAGE = 4096
PATIENCE = 20       # seconds
HEAD = f'/* CTF 1.8 */ trace {{ uuid = "{DASHED}"; }};'

SETTINGS = {
    "set_event": "irq:irq_entry\n", "tracing_on": "1\n", "error_log": "",
    "trace_clock": "[counter] mono\n", "buffer_mode": "[overwrite] discard\n",
    "buffer_size_kb": "1024\n", "buffer_percent": "0\n", "metadata": HEAD,
}
STATS = ("entries: 0\nwritten: {0}\nread: {0}\noverwritten: 0\nlost full: 0\n"
         "lost too big: 0\nlost nested: 0\nlost throttled: 0\n"
         "lost off: 0\nlost no buffer: 0\n")


def packet(cpu, number, records=3, content=1000, generation=1, uuid=UUID):
    """One packet: a header, content, and padding to whole pages."""
    size = HEADER.size + content
    whole = -(-size // PAGE) * PAGE
    header = HEADER.pack(0xC1FC1FC1, uuid, 0, 0, 0, 0, 0, 0, b"task", cpu, 7,
                         generation, records, number, number, size * 8, whole * 8, number, 0)
    return (header + random.Random(number).randbytes(content)).ljust(
        whole, b"\0")


def wait_for(what):
    """Until it is true, or patience ends."""
    end = time.monotonic() + PATIENCE
    while not what():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.01)


FORMAT = """name: {}
ID: {}
format:
	field:int x;	offset:12;	size:4;	signed:1;

print fmt: "x=%d", REC->x
"""
EVENT = """
event {{
	id = {1};
	name = "sys:{0}";
}};
"""


class Tree:
    """Files as Etch's, and a pipe for each CPU."""

    def __init__(self, path):
        self.path = path
        self.pipes = {}
        path.mkdir()
        (path / "per_cpu").mkdir()
        for name, text in SETTINGS.items():
            (path / name).write_text(text)

    def add_cpu(self, cpu):
        """It comes whole, by a rename."""
        new = self.path / f"new{cpu}"
        new.mkdir()
        (new / "stats").write_text(STATS.format(0))
        os.mkfifo(new / "trace_pipe_raw")
        new.rename(self.path / f"per_cpu/cpu{cpu}")

    def add_event(self, name, number, other=None):
        """Metadata has it, and events/ its format; of an older event, with another number."""
        folder = self.path / "events"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "format").open("a") as formats:
            formats.write(FORMAT.format(name, other or number) + "\n")
        metadata = self.path / "metadata"
        metadata.write_text(metadata.read_text() + EVENT.format(name, number))

    def is_read(self, cpu, kind="trace"):
        """Has somebody opened the CPU's packets?"""
        path = self.path / f"per_cpu/cpu{cpu}/{kind}_pipe_raw"
        key = cpu if kind == "trace" else (cpu, kind)
        try:
            if key not in self.pipes:
                self.pipes[key] = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
                os.set_blocking(self.pipes[key], True)
        except OSError:
            return False
        return True

    def feed(self, cpu, *packets):
        """Give the packets, in odd pieces, to the reader of the CPU."""
        wait_for(lambda: self.is_read(cpu))
        data = b"".join(packets)
        pieces = random.Random(cpu)
        while data:
            data = data[os.write(self.pipes[cpu],
                                 data[:pieces.randrange(1, 9000)]):]

    def counts(self, cpu, records):
        """What the kernel says was read."""
        (self.path / f"per_cpu/cpu{cpu}/stats").write_text(
            STATS.format(records))

    def end(self):
        """No packet comes any more."""
        for pipe in self.pipes.values():
            os.close(pipe)
        self.pipes = {}


class Record(unittest.TestCase):
    """Packets come out as they went in."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.program = Path(cls.scratch.name) / "etch-record"
        subprocess.run(
            ["gcc", "-O1", "-g", "-Wall", "-Werror",
             "-fsanitize=address,undefined", "-pthread", "-idirafter",
             UAPI, "-o", cls.program, *SOURCE.glob("*.c")], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.trace = self.folder / "trace"
        self.tree = Tree(self.folder / "tree")
        self.addCleanup(self.tree.end)
        self.tree.add_cpu(0)

    def start(self, *args, **kwargs):
        """The program, killed at the end if it has not ended by then."""
        process = subprocess.Popen(
            [self.program, *map(str, args)], stderr=subprocess.PIPE,
            text=True, **kwargs)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def record(self, *args, **kwargs):
        """A recording of the whole tree."""
        return self.start("-t", self.tree.path, "-i", ".", *args, **kwargs)

    def end(self, process, expected=0):
        """Ctrl-C. What it said."""
        self.tree.end()
        process.send_signal(signal.SIGINT)
        return self.ended(process, expected)

    def ended(self, process, expected=0):
        """It has ended by itself."""
        said = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual(process.returncode, expected, said)
        return said

    def size(self, name):
        """Bytes of a file of the trace."""
        file = self.trace / name
        return file.stat().st_size if file.exists() else 0

    def test_records_of_programs(self):
        """A file of their own; the account of the CPUs does not have them."""
        folder = self.tree.path / "per_cpu/cpu0"
        os.mkfifo(folder / "user_pipe_raw")
        fed = [packet(0, i, content=100 + 777 * i) for i in range(10)]
        process = self.record("-e", "sched", "-o", self.trace)
        self.tree.feed(0, *fed[:4])
        self.tree.counts(0, 12)
        wait_for(lambda: self.tree.is_read(0, "user"))
        os.write(self.tree.pipes[0, "user"], b"".join(fed))
        wait_for(lambda: self.size("user0") == len(b"".join(fed)))
        wait_for(lambda: self.size("cpu0") == len(b"".join(fed[:4])))
        self.assertIn("42 records of 1 CPU", self.end(process))
        self.assertEqual((self.trace / "user0").read_bytes(), b"".join(fed))
        self.assertEqual(sorted(os.listdir(self.trace)), [".etch", "cpu0", "metadata", "user0"])

    def test_header(self):
        self.assertEqual(HEADER.size, 128)

    def test_two_cpus_one_of_them_late(self):
        fed = [[packet(cpu, i, content=100 + 777 * i) for i in range(40)]
               for cpu in range(2)]
        process = self.record("-e", "sched,timer", "-o", self.trace)
        self.tree.feed(0, *fed[0])
        self.tree.add_cpu(1)
        self.tree.feed(1, *fed[1])
        for cpu in range(2):
            self.tree.counts(cpu, 120)
            wait_for(lambda cpu=cpu: self.size(f"cpu{cpu}") ==
                     len(b"".join(fed[cpu])))
        said = self.end(process)
        self.assertIn("240 records of 2 CPUs", said)
        for cpu in range(2):
            self.assertEqual((self.trace / f"cpu{cpu}").read_bytes(),
                             b"".join(fed[cpu]))
        self.assertEqual(sorted(os.listdir(self.trace)),
                         [".etch", "cpu0", "cpu1", "metadata"])

    def notes(self):
        """The files of .etch, and that nothing else is there."""
        return {path.name: path.read_text() for path in (self.trace / ".etch").iterdir()}

    def check_notes(self, notes):
        """What test_notes and test_sent expect of them."""
        self.assertLessEqual({"account", "command", "formats", "tasks"}, set(notes))
        self.assertLessEqual(set(notes), {"account", "command", "formats", "symbols", "tasks"})
        self.assertEqual(notes["formats"], FORMAT.format("one", 1) + "\n" +
                         FORMAT.format("two", 2) + "\n")
        self.assertIn("cpu0 written: 60\n", notes["account"])
        self.assertRegex(notes["command"], r"^recorder: \S+ -t \S+ -i \. .*\nbegan: \d+\.\d{9}\n"
                         r"boot: \d+\.\d{9}\nended: \d+\.\d{9}\nstatus: 0\n$")
        for when in ("start", "end"):
            self.assertRegex(notes["tasks"], rf"(?m)^{when} {os.getpid()} {os.getpid()} "
                             rf"{os.getppid()} \S")

    def test_notes(self):
        """What readers need beside packets; formats of events that come later, too."""
        self.tree.add_event("one", 1)
        process = self.record("-e", "it's", "-o", self.trace)
        self.tree.feed(0, packet(0, 0))
        wait_for(lambda: self.size("cpu0"))
        self.assertEqual(self.notes()["formats"], FORMAT.format("one", 1) + "\n")
        self.tree.add_event("two", 2)
        self.tree.add_event("old", 3, 4)
        self.tree.feed(0, packet(0, 1, records=57, generation=2))
        wait_for(lambda: self.size("cpu0") == 2 * PAGE)
        self.tree.counts(0, 60)
        self.end(process)
        notes = self.notes()
        self.check_notes(notes)
        self.assertIn(" -e 'it'\\''s' ", notes["command"])

    def test_a_note_that_cannot_be_written(self):
        """It is said, and the trace has its packets."""
        process = self.record("-o", self.trace)
        wait_for(lambda: self.size(".etch/tasks"))
        (self.trace / ".etch/.account.new").mkdir()
        self.tree.feed(0, packet(0, 0))
        self.tree.counts(0, 3)
        said = self.end(process)
        self.assertIn("/.etch/account cannot be written: Is a directory", said)
        self.assertEqual((self.trace / "cpu0").read_bytes(), packet(0, 0))

    def test_settings_come_back(self):
        process = self.record("-e", "sched,timer", "-m", "discard", "-c",
                              "mono", "-b", "4M", "-o", self.trace)
        wait_for(lambda: self.size("metadata"))
        wait_for(lambda: "sched timer" in
                 (self.tree.path / "set_event").read_text())
        self.assertEqual((self.tree.path / "buffer_size_kb").read_text(),
                         "4096")
        self.end(process)
        for name in ("set_event", "tracing_on", "buffer_size_kb",
                     "buffer_percent"):
            self.assertEqual((self.tree.path / name).read_text().strip(),
                             SETTINGS[name].strip())
        self.assertEqual((self.tree.path / "buffer_mode").read_text(),
                         "overwrite")

    def preset(self, *names):
        """What set_event becomes, and what the recorder says."""
        process = self.record(*(word for name in names for word in ("-p", name)),
                              "-o", self.trace)
        wait_for(lambda: self.size("metadata"))
        events = (self.tree.path / "set_event").read_text()
        said = self.end(process)
        for path in sorted(self.trace.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        return events.removeprefix(SETTINGS["set_event"]), said

    def test_presets(self):
        """Events that the tree has; those that it lacks are named."""
        (self.tree.path / "available_events").write_text(
            "sched:sched_switch\nsched:sched_process_exit\nraw_syscalls:sys_enter\n"
            "block:block_rq_issue\nirq:irq_handler_exit\n")
        events, said = self.preset("sched")
        self.assertEqual(events, "sched:sched_switch sched:sched_process_*")
        self.assertEqual(said.count("this kernel lacks"), 1)
        self.assertIn("of the preset sched, this kernel lacks sched:sched_wak* ", said)
        events, said = self.preset("syscalls,irq")
        self.assertEqual(events, "raw_syscalls:* irq:*")
        self.assertIn("of the preset irq, this kernel lacks irq_vectors:* ipi:* nmi:*;", said)
        self.assertNotIn("syscalls,", said)
        events, said = self.preset("all")
        self.assertEqual(events, "*:*")
        self.assertNotIn("lacks", said)
        with open(self.tree.path / "available_events", "a", encoding="ascii") as file:
            file.write("syscalls:sys_enter_read")
        self.assertEqual(self.preset("syscalls")[0], "syscalls:*")

    def test_presets_that_are_none(self):
        (self.tree.path / "available_events").write_text("sched:sched_switch\n")
        for name, status, expected in (
                ("io", 1, "this kernel has no event of the preset io: block:*"),
                ("sched,shed", 2, "there is no preset 'shed'. The presets are sched, syscalls"),
                ("", 2, "there is no preset ''")):
            with self.subTest(name=name):
                said = self.ended(self.record("-p", name, "-o", self.trace), status)
                self.assertIn(expected, said)
                self.assertFalse(self.trace.exists())

    def test_progress(self):
        """Once a second, with -v; never without, because this is no terminal."""
        process = self.record("-v", "-o", self.trace)
        self.tree.feed(0, packet(0, 0))
        wait_for(lambda: self.size("cpu0"))
        self.tree.counts(0, 3)
        lines = [process.stderr.readline() for _ in range(3)]
        self.assertRegex(lines[0], r"^ +1 s  0\.0 MB  3 events, [1-9]\d*/s  "
                         r"0 overwritten  0 lost$")
        self.assertRegex(lines[2], r"^ +3 s  .* 3 events, 0/s ")
        self.end(process)

    def test_no_progress(self):
        process = self.record("-d", "2", "-o", self.trace)
        self.tree.feed(0)
        wait_for(lambda: self.size("metadata"))
        time.sleep(1.5)
        self.tree.end()
        self.assertNotIn(" events, ", self.ended(process))

    def test_open_needs_a_viewer(self):
        said = self.ended(self.record("--open", "-o", self.trace), 2)
        self.assertIn("--open needs the verb view", said)
        self.assertIn("exclude each other", self.ended(self.record("--open", "-s", "[::1]:9"), 2))

    def test_metadata_is_newer_than_packets(self):
        process = self.record("-o", self.trace)
        self.tree.feed(0, packet(0, 0))
        wait_for(lambda: self.size("cpu0"))
        newer = HEAD + " newer"
        (self.tree.path / "metadata").write_text(newer)
        self.tree.feed(0, packet(0, 1))
        wait_for(lambda: self.size("cpu0") == 2 * PAGE)
        self.assertEqual((self.trace / "metadata").read_text(), HEAD)
        self.tree.feed(0, packet(0, 2, generation=2))
        wait_for(lambda: self.size("cpu0") == 3 * PAGE)
        self.assertEqual((self.trace / "metadata").read_text(), newer)
        self.tree.counts(0, 9)
        self.end(process)

    def test_another_uuid_is_another_trace(self):
        process = self.record("-o", self.trace)
        self.tree.feed(0, packet(0, 0), packet(0, 1, uuid=bytes(16)))
        self.tree.end()
        said = self.ended(process, 1)
        self.assertIn("changed the instance's clock", said)
        self.assertEqual((self.trace / "cpu0").read_bytes(), packet(0, 0))

    def test_what_is_no_packet(self):
        process = self.record("-o", self.trace)
        self.tree.feed(0, packet(0, 0), b"no packet" * 100)
        self.tree.end()
        self.assertIn("no packet follows byte 4096", self.ended(process, 1))
        self.assertEqual((self.trace / "cpu0").read_bytes(), packet(0, 0))

    def test_a_file_that_may_not_grow(self):
        def limit():
            import resource
            resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))

        process = self.record("-o", self.trace, preexec_fn=limit)
        self.tree.feed(0, *[packet(0, i) for i in range(3)])
        self.tree.counts(0, 9)
        self.tree.end()
        said = self.ended(process, 1)
        self.assertIn("a file may not grow more", said)
        self.assertIn("3 records were taken out", said)
        self.assertEqual((self.trace / "cpu0").read_bytes(),
                         packet(0, 0) + packet(0, 1))

    def test_it_is_said_that_records_are_missing(self):
        process = self.record("-o", self.trace)
        self.tree.feed(0, packet(0, 0))
        wait_for(lambda: self.size("cpu0"))
        self.tree.counts(0, 5)
        self.assertIn("ATTENTION: 2 records are missing",
                      self.end(process, 1))

    def test_sent(self):
        self.tree.add_cpu(1)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = "127.0.0.1:%d" % probe.getsockname()[1]
        receiver = self.start("-l", address, "-o", self.trace)
        self.assertIn("listening", receiver.stderr.readline())
        self.tree.add_event("one", 1)
        self.tree.add_event("two", 2)
        metadata = (self.tree.path / "metadata").read_text()
        process = self.record("-s", address)
        fed = [[packet(cpu, i, content=3000 * i, generation=1 + i)
                for i in range(20)] for cpu in range(2)]
        for cpu in range(2):
            self.tree.feed(cpu, *fed[cpu])
            self.tree.counts(cpu, 60)
        self.end(process)
        self.ended(receiver)
        for cpu in range(2):
            self.assertEqual((self.trace / f"cpu{cpu}").read_bytes(),
                             b"".join(fed[cpu]))
        self.assertEqual((self.trace / "metadata").read_text(), metadata)
        self.check_notes(self.notes())

    def old_receiver(self, listener, got):
        """As receivers were before there were notes: all else ends the connection."""
        control = listener.accept()[0]
        with control, control.makefile("rwb") as stream:
            for line in stream:
                got.append(line)
                kind, *size = line.decode().split()
                if kind not in ("metadata", "end"):
                    return
                got.append(stream.read(int(*size)) if size else b"")
                stream.write(b"ok %d\n" % len(got[-1]))
                stream.flush()
                if kind == "end":
                    return

    def test_sent_to_an_old_receiver(self):
        """It gets no notes, and the recording is complete."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(PATIENCE)
            got = []
            thread = threading.Thread(target=self.old_receiver, args=(listener, got))
            thread.start()
            self.addCleanup(thread.join)
            process = self.record("-s", "127.0.0.1:%d" % listener.getsockname()[1])
            wait_for(lambda: len(got) > 1)
            self.tree.feed(0)
            said = self.end(process)
            self.assertEqual(said.count("is an older receiver"), 1)
            thread.join(PATIENCE)
        self.assertEqual([line.split()[0] for line in got[::2]],
                         [b"metadata", b"metadata", b"end"])
        self.assertEqual(got[1], HEAD.encode())

    def test_sent_to_a_receiver_of_some_notes(self):
        """It names those that it takes, and a later one may know others."""
        answers = []

        def receiver(listener):
            control = listener.accept()[0]
            with control, control.makefile("rwb") as stream:
                for line in stream:
                    words = line.decode().split()
                    answers.append(words[:-1])
                    size = int(words[-1]) if len(words) > 1 else 0
                    stream.read(size)
                    stream.write(b"ok %d%s\n" % (
                        size, b" notes command later" if words[0] == "metadata" else b""))
                    stream.flush()
                    if words == ["end"]:
                        return

        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(PATIENCE)
            thread = threading.Thread(target=receiver, args=(listener,))
            thread.start()
            self.addCleanup(thread.join)
            process = self.record("-s", "127.0.0.1:%d" % listener.getsockname()[1])
            self.tree.feed(0)
            self.assertIn("keeps no tasks", self.end(process))
            thread.join(PATIENCE)
        self.assertEqual(answers, [["metadata"], ["note", "command"], ["metadata"],
                                   ["note", "command"], []])

    def test_received_from_an_old_recorder(self):
        """It sends no notes, and reads the answer's number."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = probe.getsockname()
        receiver = self.start("-l", "%s:%d" % address, "-o", self.trace)
        self.assertIn("listening", receiver.stderr.readline())
        with socket.create_connection(address) as control, control.makefile("rb") as answers:
            control.sendall(b"metadata 1\nx")
            self.assertRegex(answers.readline(), rb"^ok 1( |\n)")
            with socket.create_connection(address) as file, file.makefile("rb") as answer:
                file.sendall(b"cpu0\n" + packet(0, 0))
                file.shutdown(socket.SHUT_WR)
                self.assertEqual(answer.readline(), b"ok %d\n" % len(packet(0, 0)))
            control.sendall(b"end\n")
            self.assertEqual(answers.readline(), b"ok 0\n")
        self.ended(receiver)
        self.assertEqual(sorted(os.listdir(self.trace)), ["cpu0", "metadata"])

    def test_a_note_of_another_name(self):
        """A sender may write what a trace has, and nothing else."""
        for name in ("../metadata", "x", ".formats.new"):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                address = probe.getsockname()
            receiver = self.start("-l", "%s:%d" % address, "-o", self.folder / "other")
            self.assertIn("listening", receiver.stderr.readline())
            with socket.create_connection(address) as sender:
                sender.sendall(b"metadata 1\nx" + f"note {name} 1\ny".encode())
                # It may have hung up already.
                with contextlib.suppress(OSError):
                    sender.shutdown(socket.SHUT_WR)
                self.assertIn("instead of metadata", self.ended(receiver, 1))
            self.assertEqual(os.listdir(self.folder / "other"), ["metadata"])
            (self.folder / "other/metadata").unlink()

    def test_strangers_do_no_harm(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = probe.getsockname()
        receiver = self.start("-l", "%s:%d" % address, "-o", self.trace)
        self.assertIn("listening", receiver.stderr.readline())
        for hello in (b"GET / HTTP/1.0\n", b"cpu0\n", b"../../x\n", b"\n",
                      b"x" * 1000):
            with socket.create_connection(address) as stranger:
                stranger.sendall(hello)
        receiver.send_signal(signal.SIGINT)
        self.ended(receiver, 1)
        self.assertEqual(os.listdir(self.trace), [])

    def test_repair(self):
        packets = [packet(0, 0), packet(0, 1, content=4500), packet(0, 2)]
        whole = b"".join(packets)
        content = len(packets[0]) + len(packets[1]) + HEADER.size + 1000
        self.trace.mkdir()
        (self.trace / "metadata").write_text(HEAD)
        for cut in list(range(0, len(whole) + 1, 509)) + [
                content - 1, content, content + 1, len(whole) - 1]:
            (self.trace / "cpu0").write_bytes(whole[:cut])
            self.ended(self.start("-r", self.trace))
            expected = b""
            for one in packets:
                needed = struct.unpack_from("<Q", one, 96)[0] // 8
                if cut - len(expected) < needed:
                    break
                expected += one
            self.assertEqual((self.trace / "cpu0").read_bytes(), expected,
                             cut)

    def test_repair_of_a_header_that_asks_for_too_much(self):
        """What no sub-buffer can hold is no packet: the file does not grow for it."""
        good, bad = packet(0, 0), bytearray(packet(0, 1))
        self.trace.mkdir()
        (self.trace / "metadata").write_text(HEAD)
        for size in ((512 << 10) * 8 + 8, 1 << 40, (1 << 64) - 8):
            struct.pack_into("<Q", bad, 104, size)
            (self.trace / "cpu0").write_bytes(good + bad)
            self.ended(self.start("-r", self.trace))
            self.assertEqual((self.trace / "cpu0").stat().st_size, len(good))


if __name__ == "__main__":
    unittest.main()
