# SPDX-License-Identifier: GPL-2.0
"""What checks binary traces, but for babeltrace2: see scripts/proof/ctf/broken.py for that."""

import unittest

import cexpr
import formats
import made
import packets
import printed
from cexpr import Array, Int

GREET = """\
name: greet
ID: 7
format:
\tfield:unsigned char common_timestamp[6];\toffset:0;\tsize:6;\tsigned:0;
\tfield:unsigned short common_type;\toffset:6;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:8;\tsize:4;\tsigned:1;

\tfield:int n;\toffset:12;\tsize:4;\tsigned:1;
\tfield:const char * where;\toffset:16;\tsize:8;\tsigned:0;
\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;
\tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:0;
\tfield:__rel_loc unsigned long[] mask;\toffset:44;\tsize:4;\tsigned:0;

print fmt: "n=%d", REC->n
"""


def evaluated(text, **env):
    """The value of an expression of C."""
    return cexpr.Parser(text, printed.FUNCTIONS).whole()(env)


def number(value, bits=32, signed=True):
    """A field's value."""
    return Int(value, bits, signed)


class Packets(unittest.TestCase):
    """Bytes and the packets in them."""

    def setUp(self):
        self.records = [made.record(5, 13, b"\1\0\0\0"), made.record(9, 13, b"\2\0\0\0")]
        self.one = made.packet(self.records, 4, 10)
        self.two = made.packet([], 10, 10, seq=1, pages=2)

    def test_packets_of_a_file(self):
        found, end = packets.packets(self.one + self.two)
        self.assertEqual([packet.header.seq for packet in found], [0, 1])
        self.assertEqual(end, 3 * made.PAGE)

    def test_a_cut_in_content(self):
        data = self.one + self.one[:packets.HEADER_BYTES + 3]
        self.assertEqual(packets.whole(data), self.one)

    def test_a_cut_in_a_header(self):
        self.assertEqual(packets.whole(self.one + self.one[:7]), self.one)

    def test_a_cut_in_padding_loses_nothing(self):
        self.assertEqual(packets.whole(self.one[:-9]), self.one)

    def test_zeroes_behind(self):
        self.assertEqual(packets.whole(self.one + bytes(made.PAGE)), self.one)

    def test_nothing(self):
        self.assertEqual(packets.packets(b""), ([], 0))

    def test_order(self):
        found, _ = packets.packets(self.one + self.two)
        self.assertEqual(packets.check_order(found), [])
        self.assertEqual(len(packets.check_order(found[::-1])), 2)

    def test_times_go_on_where_48_bits_end(self):
        begin = (1 << 48) - 2
        data = made.packet([made.record(begin + i, 13, bytes(4)) for i in (0, 5)],
                           begin, begin + 5)
        known = {13: formats.Format(made.FORMATS["sys/round"], "sys")}
        found = packets.records(data, packets.packets(data)[0][0], known)
        self.assertEqual([record.time - begin for record in found], [0, 5])

    def test_bytes_left_over(self):
        data = made.packet([*self.records, b"1234"], 4, 10)
        known = {13: formats.Format(made.FORMATS["sys/round"], "sys")}
        with self.assertRaises(packets.Broken):
            packets.records(data, packets.packets(data)[0][0], known)


class Formats(unittest.TestCase):
    """Fields by their format files."""

    def setUp(self):
        self.format = formats.Format(GREET, "sys")
        self.field = {field.name: field for field in self.format.fields}

    def test_fields(self):
        self.assertEqual(list(self.field), ["n", "where", "comm", "name", "mask"])
        self.assertTrue(self.field["n"].number and self.field["where"].number)
        self.assertTrue(self.field["comm"].text and self.field["name"].text)
        self.assertFalse(self.field["mask"].number or self.field["mask"].text)
        self.assertEqual(self.format.print, '"n=%d", REC->n')

    def test_places(self):
        body = bytearray(80)
        body[40:44] = (48 | 3 << 16).to_bytes(4, "little")
        body[44:48] = (4 | 8 << 16).to_bytes(4, "little")
        body[48:51] = b"ab\0"
        body[52] = 1
        data = bytes(8) + bytes(body)
        self.assertEqual(self.field["name"].bytes(data, 8), b"ab\0")
        self.assertEqual(self.field["mask"].bytes(data, 8), b"\1" + bytes(7))
        self.assertEqual(self.format.length(data, 8, len(data)), 60)
        with self.assertRaises(packets.Broken):
            self.format.length(data, 8, 66)

    def differs(self, name, content, value):
        """Does it?"""
        return bool(formats.differs(self.field[name], content, value))

    def test_values(self):
        self.assertFalse(self.differs("n", b"\xff\xff\xff\xff", -1))
        self.assertTrue(self.differs("n", b"\xff\xff\xff\xff", 0xffffffff))
        self.assertFalse(self.differs("comm", b"sh\0x", "sh"))
        self.assertTrue(self.differs("comm", b"sh\0x", "shx"))
        self.assertTrue(self.differs("comm", b"sh\0\0", [115, 104, 0, 0]))
        self.assertTrue(self.differs("n", b"\1\0\0\0", [1, 0, 0, 0]))

    def test_widths_of_elements(self):
        content = b"\1" + bytes(7)
        self.assertFalse(self.differs("mask", content, [1]))
        self.assertTrue(self.differs("mask", content, [1, 0]))
        self.assertTrue(self.differs("mask", content, []))
        self.assertFalse(self.differs("mask", b"", []))

    def test_bytes_that_are_no_text(self):
        self.assertFalse(self.differs("comm", b"\xe9\0", "\udce9"))


class SystemCalls(unittest.TestCase):
    """Their lines are not what their format files say."""

    TEXT = """\
name: {}
ID: 9
format:
\tfield:int __syscall_nr;\toffset:12;\tsize:4;\tsigned:1;
\tfield:union bpf_attr * attr;\toffset:16;\tsize:8;\tsigned:0;
\tfield:long ret;\toffset:24;\tsize:8;\tsigned:1;

print fmt: "attr: 0x%08lx", ((unsigned long)(REC->attr))
"""

    def agrees(self, name, body):
        """The fields that the line shows."""
        layout = formats.Format(self.TEXT.format(name), "syscalls")
        self.assertTrue(layout.fields[1].number)
        env = {"attr": number(255, 64, False), "ret": number(-1, 64)}
        return printed.Print(printed.form_of(layout)).agrees(env, body)

    def test_enter(self):
        self.assertEqual(self.agrees("sys_enter_bpf", f"sys_bpf(attr: ff, ret: {'f' * 16})"),
                         {"attr", "ret"})

    def test_exit(self):
        self.assertEqual(self.agrees("sys_exit_bpf", f"sys_bpf -> 0x{'f' * 16}"), {"ret"})
        self.assertIsNone(self.agrees("sys_exit_bpf", "sys_bpf -> 0x0"))


class Expressions(unittest.TestCase):
    """C, as print formats have it."""

    def value(self, text, **env):
        """As a number."""
        return evaluated(text, **env).value

    def test_precedence(self):
        self.assertEqual(self.value("1 + 2 * 3 << 1 | 1"), 15)
        self.assertEqual(self.value("(1 << 20) - 1 & 0xff"), 255)
        self.assertEqual(self.value("0 ? 1 : 2 == 2 && !0"), 1)

    def test_widths(self):
        self.assertEqual(self.value("-1"), -1)
        self.assertEqual(self.value("-1UL"), (1 << 64) - 1)
        self.assertEqual(self.value("REC->a + 1", a=number(0xffffffff, 32, False)), 0)
        self.assertEqual(self.value("(u8)REC->a", a=number(257)), 1)
        self.assertEqual(self.value("(long)REC->a", a=number(-3)), -3)
        self.assertEqual(self.value("(unsigned int)REC->a >> 28", a=number(-1)), 15)
        self.assertEqual(self.value("-1 < 1U"), 0)
        self.assertEqual(self.value("-7 / 2"), -3)
        self.assertEqual(self.value("017"), 15)

    def test_what_is_not_known(self):
        for text in ("CLOCK + 1", "REC->a[1]", "f(REC->a)", "(struct x)1", "1 / 0", "1 +"):
            with self.assertRaises(cexpr.Unsupported, msg=text):
                evaluated(text, a=number(1))

    def test_names(self):
        table = '{ 0, "idle" }, { (1 << 1), "two" }'
        self.assertEqual(evaluated(f"__print_symbolic(REC->a, {table})", a=number(2)), "two")
        self.assertEqual(evaluated(f"__print_symbolic(REC->a, {table})", a=number(5)), "0x5")
        flags = '__print_flags(REC->a, "|", { 1, "r" }, { 4, "x" })'
        self.assertEqual(evaluated(flags, a=number(5)), "r|x")
        self.assertEqual(evaluated(flags, a=number(12)), "x|0x8")
        self.assertEqual(evaluated(flags, a=number(0)), "")

    def test_arrays(self):
        self.assertEqual(evaluated("__print_hex(REC->a, 2)", a=Array([1, 255, 3], 1)), "01 ff")
        self.assertEqual(evaluated("__print_array(__get_dynamic_array(a), "
                                   "__get_dynamic_array_len(a) / sizeof(int), sizeof(int))",
                                   a=Array([1, -1], 4)), "{0x1,0xffffffff}")
        self.assertEqual(evaluated("__get_bitmask(a)", a=Array([1, 2], 8)),
                         "00000000,00000002,00000000,00000001")


class Printed(unittest.TestCase):
    """Lines, and what print formats make of fields."""

    def test_lines(self):
        text = ("# tracer: etch\n"
                "            a b-1       [001] ..s..     3.000004: e: x\nmore\n"
                "CPU:0 [LOST 3 EVENTS]\n"
                "           <...>-22     [000] .....    13.100004: f: y=1\n")
        one, two = (printed.parse(line) for line in printed.lines(text))
        self.assertEqual((one.comm, one.pid, one.cpu, one.flags[2], one.us, one.body),
                         ("a b", 1, 1, "s", 3000004, "e: x\nmore"))
        self.assertEqual((two.comm, two.pid, two.body), ("<...>", 22, "f: y=1"))

    def agrees(self, form, body, **env):
        """The fields that are shown."""
        return printed.Print(form).agrees(env, body)

    def test_agreement(self):
        form = '"n=%d s=%s", REC->n, __get_str(s)'
        self.assertEqual(self.agrees(form, "n=-1 s=a b", n=number(-1), s="a b"), {"n", "s"})
        self.assertIsNone(self.agrees(form, "n=-1 s=a c", n=number(-1), s="a b"))
        self.assertIsNone(self.agrees(form, "n=-1 s=a bc", n=number(-1), s="a b"))

    def test_what_cannot_be_known_may_be_anything(self):
        form = '"p=%p n=%d f=%pS m=%d", REC->p, REC->n, REC->f, REC->m'
        env = {"p": number(1), "n": number(7), "f": number(1), "m": number(8)}
        self.assertEqual(self.agrees(form, "p=00ab n=7 f=main+1/2 m=8", **env), {"n", "m"})
        self.assertIsNone(self.agrees(form, "p=00ab n=6 f=main+1/2 m=8", **env))
        self.assertIsNone(self.agrees(form, "p=00ab n=7 f=main+1/2 m=88", **env))

    def test_conversions(self):
        for spec, value, text in (("%u", number(-1), "4294967295"),
                                  ("%llu", number(-1, 64), "18446744073709551615"),
                                  ("%hhd", number(255), "-1"), ("%#x", number(0), "0x0"),
                                  ("%08lx", number(-1, 64), "f" * 16),
                                  ("%03d", number(5), "005"), ("%o", number(8), "10"),
                                  ("%3d", number(1), "  1"), ("%-3d", number(1), "1  ")):
            self.assertEqual(self.agrees(f'"{spec}", REC->n', text, n=value), {"n"},
                             msg=spec)
        self.assertEqual(self.agrees('"%%%c", REC->n', "%a", n=number(97)), {"n"})


if __name__ == "__main__":
    unittest.main()
