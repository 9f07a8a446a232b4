# SPDX-License-Identifier: GPL-2.0
"""Traces made by hand: packets and metadata as a kernel would write them."""

import struct

from formats import WIDTHS

UUID = bytes(range(16))
PAGE = 4096
# As struct etch_packet_header: see include-trace/uapi/linux/etch_packet.h.
HEADER = struct.Struct("<I16sIQIIII16sIiIIQQQQQQ")
TASK, SOFTIRQ, HARDIRQ, NMI = range(4)

PRELUDE = """\
/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 16; signed = false; } := uint16_t;
typealias integer { size = 32; align = 32; signed = false; } := uint32_t;
typealias integer { size = 64; align = 32; signed = false; } := uint64_t;
typealias integer { size = 32; align = 32; signed = true; } := int32_t;
typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := char8_t;
trace {
	major = 1;
	minor = 8;
	uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
	byte_order = le;
	packet.header := struct {
		uint32_t magic;
		uint8_t uuid[16];
		uint32_t stream_id;
	};
};
env {
	hostname = "here";
	domain = "kernel";
	tracer_name = "etch";
	tracer_major = 1;
};
clock {
	name = counter;
	uuid = "10010203-0405-0607-0809-0a0b0c0d0e0f";
	freq = 1000000000;
	offset_s = 1000;
	offset = 5;
	absolute = false;
};
typealias integer { size = 64; align = 32; map = clock.counter.value; } := ts64_t;
typealias integer { size = 64; align = 128; map = clock.counter.value; } := ts64_begin_t;
typealias integer { size = 48; align = 1; map = clock.counter.value; } := ts48_t;
stream {
	id = 0;
	packet.context := struct {
		uint32_t cpu_id;
		ts64_begin_t timestamp_begin;
		ts64_t timestamp_end;
		uint64_t content_size;
		uint64_t packet_size;
		uint64_t packet_seq_num;
		uint64_t events_discarded;
	} align(512);
	event.header := struct {
		ts48_t timestamp;
		integer { size = 14; align = 1; } id;
	} align(32);
	event.context := struct {
		enum : integer { size = 2; align = 1; } { task, softirq, hardirq, nmi } context;
		integer { size = 32; align = 1; signed = true; } pid;
	};
};
"""


def padded(data, to):
    """The bytes and zeroes up to a multiple."""
    return data + bytes(-len(data) % to)


def record(time, event, payload=b"", pid=1, context=TASK):
    """One record: its head and its payload."""
    word = (time & (1 << 48) - 1) | event << 48 | context << 62
    return struct.pack("<Qi", word, pid) + payload


def packet(records, begin, end, seq=0, discarded=0, cpu=0, pages=1, **more):
    """A packet of whole pages; records: bytes of each.

    more: other fields of the header that get another value than a right packet has.
    """
    body = b""
    for each in records:
        body = padded(body, 4) + each
    size = HEADER.size + len(body)
    fields = {"magic": 0xC1FC1FC1, "uuid": UUID, "stream_id": 0,
              "overwritten": 0, "lost_full": 0, "lost_throttled": 0, "lost_nested": 0,
              "lost_too_big": 0, "comm": b"made", "cpu": cpu, "pid": 1, "generation": 1,
              "records": len(records), "begin": begin, "end": end,
              "content": size * 8, "size": pages * PAGE * 8, "seq": seq,
              "discarded": discarded, **more}
    return (HEADER.pack(*fields.values()) + body).ljust(pages * PAGE, b"\0")


def _element(field):
    """The type of a field, or of its elements."""
    if field.type == "cpumask_t":
        return "integer { size = 64; align = 32; signed = false; base = 16; }"
    if field.text:
        return "char8_t"
    if field.name == "f":       # the one that has flags
        return "integer { size = 32; align = 32; signed = false; base = 16; }"
    size = field.size if field.number else WIDTHS.get(field.type, 1)
    return (f"integer {{ size = {size * 8}; align = {min(size, 4) * 8};"
            f" signed = {str(field.signed).lower()}; }}")


def metadata(formats):
    """Metadata of events, by their format files."""
    text = PRELUDE
    for each in formats:
        fixed, behind = "", ""
        for field in each.fields:
            if field.dynamic:
                width = WIDTHS.get(field.type, 8 if field.type == "cpumask_t" else 1)
                low = width.bit_length() - 1
                fixed += (" integer { size = 16; align = 32; }"
                          f" __{field.name}_offset;")
                # Elements, not bytes: without the lowest bits, which are zero.
                if low:
                    fixed += f" integer {{ size = {low}; align = 1; }} __{field.name}_rest;"
                fixed += (f" integer {{ size = {16 - low}; align = 1; }}"
                          f" __{field.name}_length;")
                behind += f" {_element(field)} _{field.name}[__{field.name}_length];"
            else:
                count = ("" if field.number
                         else f"[{field.size // WIDTHS.get(field.type, 1)}]")
                fixed += f" {_element(field)} _{field.name}{count};"
        text += (f"event {{ id = {each.id}; name = \"{each.full_name}\"; stream_id = 0;"
                 f" fields := struct {{{fixed}{behind} }}; }};\n")
    return text


# ---- A whole folder, as scripts/lab/guest/ctf.sh leaves it ----

FORMATS = {
    "sys/number": """\
name: number
ID: 11
format:
\tfield:unsigned char common_timestamp[6];\toffset:0;\tsize:6;\tsigned:0;
\tfield:unsigned short common_type;\toffset:6;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:8;\tsize:4;\tsigned:1;

\tfield:unsigned int n;\toffset:12;\tsize:4;\tsigned:0;
\tfield:long c;\toffset:16;\tsize:8;\tsigned:1;
\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;
\tfield:unsigned int f;\toffset:40;\tsize:4;\tsigned:0;

print fmt: "n=%u c=%ld comm=%s f=%s", REC->n, REC->c, REC->comm, __print_flags(REC->f, "|", \
{ 1, "one" }, { 2, "two" })
""",
    "sys/list": """\
name: list
ID: 12
format:
\tfield:__data_loc char[] s;\toffset:12;\tsize:4;\tsigned:0;
\tfield:__rel_loc int[] v;\toffset:16;\tsize:4;\tsigned:1;

print fmt: "s=%s v=%s", __get_str(s), __print_array(__get_rel_dynamic_array(v), \
__get_rel_dynamic_array_len(v) / sizeof(int), sizeof(int))
""",
    "sys/round": """\
name: round
ID: 13
format:
\tfield:unsigned int round;\toffset:12;\tsize:4;\tsigned:0;

print fmt: "round=%u", REC->round
""",
}
START = 5 * 10 ** 9         # ns
LINE = "            made-1       [{:03}] .....  {:5}.{:06}: {}\n"


def number(time, n):
    """(record, its text) of an event with numbers."""
    return (record(time, 11, struct.pack("<Iq16sI", n, -n, b"made", n % 4)),
            f"number: n={n} c={-n} comm=made f={('', 'one', 'two', 'one|two')[n % 4]}")


def numbers(time, n):
    """(record, its text) of an event with sequences."""
    text = b"x" * (n % 5) + b"\0"
    values = [n, -n][:n % 3]
    start = 20 + len(text) + (-len(text) & 3)
    payload = padded(struct.pack("<HHHH", 20, len(text), start - 20, len(values) * 4)
                     + text, 4) + struct.pack(f"<{len(values)}i", *values)
    shown = ",".join(f"0x{value & 0xffffffff:x}" for value in values)
    return record(time, 12, payload), f"list: s={text[:-1].decode()} v={{{shown}}}"


def stats(folder, cpu, written, overwritten=0, full=0, throttled=0):
    """What became of the records of a CPU."""
    (folder / f"stats.cpu{cpu}").write_text(
        f"entries: 0\nwritten: {written}\nread: {written - overwritten}\n"
        f"overwritten: {overwritten}\nlost full: {full}\nlost too big: 0\n"
        f"lost nested: 0\nlost throttled: {throttled}\nlost off: 1\nbytes: 0\n")


def make_events(folder):
    """A trace of two CPUs without loss, and its text."""
    for cpu in (0, 1):
        data, text = b"", "# tracer: etch\n#\n"
        for seq in range(4):
            begin = START + (seq * 2 + cpu) * 1000000
            times = range(begin, begin + 1500000, 50000)
            made = [(number, numbers)[i % 2](time, seq * 100 + i)
                    for i, time in enumerate(times)]
            data += packet([each for each, _ in made], begin, times[-1], seq, cpu=cpu)
            text += "".join(LINE.format(cpu, time // 10 ** 9, time % 10 ** 9 // 1000, line)
                            for time, (_, line) in zip(times, made))
        (folder / f"ctf/cpu{cpu}").write_bytes(data)
        (folder / f"text.cpu{cpu}").write_text(text)
        stats(folder, cpu, 4 * 30)
    (folder / "began").write_text("1005\n")
    (folder / "ended").write_text("1005\n")


def make_loss(folder, cause):
    """Each time ten rounds, of which two are lost in front, but for the last."""
    data, lost = packet([], START, START), 0
    for seq in range(1, 6):
        lost += 2
        begin = START + seq * 1000
        made = [record(begin + i, 13, struct.pack("<I", i)) for i in range(2, 10)]
        data += packet(made, begin, begin + 99, seq, lost, **{cause: lost})
    lost += 10
    data += packet([], START + 9000, START + 9000, 6, lost, **{cause: lost})
    (folder / "ctf/cpu0").write_bytes(data)
    (folder / "rounds").write_text("10 6\n")
    if cause == "overwritten":
        stats(folder, 0, 60, overwritten=lost)
    elif cause == "lost_full":
        stats(folder, 0, 60 - lost, full=lost)
    else:
        stats(folder, 0, 60 - lost, throttled=lost)


def make_folder(folder, known):
    """All of it; known: the Formats of FORMATS."""
    for name in ("load", "twice", "discard", "overwrite", "throttled"):
        (folder / name / "ctf").mkdir(parents=True)
        (folder / name / "ctf/metadata").write_text(metadata(known.values()))
    make_events(folder / "load")
    for path in (folder / "load").glob("text.*"):
        path.unlink()
    make_events(folder / "twice")
    make_loss(folder / "discard", "lost_full")
    make_loss(folder / "overwrite", "overwritten")
    make_loss(folder / "throttled", "lost_throttled")


def make_formats(folder):
    """FORMATS, as files."""
    for name, text in FORMATS.items():
        path = folder / "formats" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
