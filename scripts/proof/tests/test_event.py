# SPDX-License-Identifier: GPL-2.0
"""What is made of the reports of BENCH=event, workload, readers, readout."""

import unittest

import event
import event_cases as cases
import event_targets
import figures
import loops
import readers
import readout
import targets
import workload


# Ticks of a hit.
COSTS = {"empty": 50, "nobody": 51, "counter": 58, "mono": 60, "local": 52,
         "floor": 60, "etch": 62, "ftrace": 90}


def report(lane, **changed):
    """A report in which each row of a lane has one round, all in order.

    changed: SITUATION=HOW-MANY-OF-TEN-HITS were stored by Etch there.
    """
    lines = ["bench: hz 1000000000"]
    for kind, how in cases.pairs(lane):
        names = [*cases.PLAIN, *(f"{tracer}_{kind}"
                                 for tracer in cases.TRACERS)]
        for name in names:
            cost = COSTS[name.split("_")[0]]
            lines += [f"bench: sample {name} {how} 1 {cost}",
                      f"bench: hits {name} {how} 10"]
        for tracer in cases.TRACERS:
            kept = 10 * cases.STORED.get(how, 1)
            if tracer == "etch":
                kept = changed.get(how, kept)
            lines.append(f"bench: stored {tracer}_{kind} {how} {kept}")
            lines.append(f"bench: bytes {tracer}_{kind} 280 10")
    return lines


class Check(unittest.TestCase):
    """check() accepts only figures whose measurement fits their name."""

    def test_a_good_report(self):
        for lane in event.LANES:
            with self.subTest(lane=lane):
                lost = event.check(report(lane), lane)
                self.assertEqual(lost, {"etch": (0, 10), "ftrace": (0, 10)})

    def test_records_that_miss(self):
        with self.assertRaises(figures.FigureError):
            event.check(report("um", overwrite=9), "um")

    def test_a_second_instance_must_have_got_its_own(self):
        with self.assertRaises(figures.FigureError):
            event.check(report("um", two=10), "um")

    def test_records_that_must_not_be(self):
        for how in ("discard", "off"):
            with self.subTest(how=how):
                with self.assertRaises(figures.FigureError):
                    event.check(report("um", **{how: 1}), "um")

    def test_a_storm_may_lose_and_it_is_told(self):
        lines = report("um", storm=7)
        lost = event.check(lines, "um")
        self.assertEqual(lost["etch"], (3, 10))
        said = event.remarks_on("um", lines, lost)
        self.assertIn("etch: 3 of 10 hits of the storm were lost.", said)

    def test_each_line_that_misses_is_an_error(self):
        lines = report("um")
        for i, line in enumerate(lines):
            if " etch_" not in line or " bytes " in line:
                continue
            with self.subTest(line=line):
                rest = lines[:i] + lines[i + 1:]
                with self.assertRaises((figures.FigureError, KeyError)):
                    event.check(rest, "um")
                    event.rows(figures.parse(rest), "um")


class Rows(unittest.TestCase):
    """Figures, and how they are printed."""

    def setUp(self):
        lines = report("um")
        self.found = event.rows(figures.parse(lines), "um")
        self.size = event.sizes(lines, "um")

    def test_every_situation_has_both_tracers(self):
        for kind, how in cases.pairs("um"):
            for tracer in cases.TRACERS:
                self.assertIsNotNone(figures.find(
                    self.found, cases.title(kind, how), tracer))

    def test_bytes_are_of_a_record(self):
        self.assertEqual({figure.median for figure in self.size}, {28.0})

    def test_no_bytes_is_an_error(self):
        with self.assertRaises(figures.FigureError):
            event.sizes(["bench: bytes etch_small 0 0"], "um")

    def test_all_is_printed(self):
        text = event.tables("um", self.found + self.size)
        self.assertIn("held to: 16 bytes, cold, times ftrace's: 0.30", text)
        self.assertNotIn("NOT MEASURED", text)

    def test_what_was_not_measured_is_told_of(self):
        cold = cases.title("small", "cold")
        some = [figure for figure in self.found if figure.case != cold]
        said = event_targets.lines("um", some, self.size)
        self.assertTrue(any(line.startswith("### NOT MEASURED: 16 bytes, cold")
                            for line in said))


class Targets(unittest.TestCase):
    """Held or not, in words."""

    def test_verdicts(self):
        self.assertTrue(targets.line("a", 1.15, 1.15).endswith(": held"))
        self.assertTrue(targets.line("a", 1.16, 1.15).endswith("NOT HELD"))
        self.assertTrue(targets.line("a", None, 1).startswith("### NOT"))


FLOOR = """\
0000000000000100 <bench_loop_empty>:
 100:\t48 83 ef 01          \tsub    $0x1,%rdi
 104:\t75 fa                \tjne    100 <bench_loop_empty>
 106:\tc3                   \tret

0000000000000140 <bench_loop_floor>:
 140:\t48 8b 0f             \tmov    (%rdi),%rcx
 143:\t0f 31                \trdtsc
 145:\t4c 0f b1 07          \tcmpxchg %r8,(%rdi)
 149:\t75 f8                \tjne    143 <bench_loop_floor+0x3>
 14b:\t49 83 e9 01          \tsub    $0x1,%r9
 14f:\t75 ef                \tjne    140 <bench_loop_floor>
 151:\tc3                   \tret
"""
SITE = """
0000000000000180 <bench_loop_etch_small>:
 180:\t0f 1f 44 00 00       \tnopl   0x0(%rax,%rax,1)
 185:\t48 83 eb 01          \tsub    $0x1,%rbx
 189:\t75 f5                \tjne    180 <bench_loop_etch_small>
 18b:\tc3                   \tret
"""
PROBED = """
00000000000001c0 <bench_loop_etch_probed>:
 1c0:\tbf 01 00 00 00       \tmov    $0x1,%edi
 1c5:\te8 00 00 00 00       \tcall   200 <bench_probed_etch>
 1ca:\t48 83 eb 01          \tsub    $0x1,%rbx
 1ce:\t75 f0                \tjne    1c0 <bench_loop_etch_probed>
 1d0:\tc3                   \tret
"""


class Look(unittest.TestCase):
    """Loops that are not what they are called."""

    def test_good_ones(self):
        event.look(FLOOR + SITE + PROBED)

    def test_a_probed_function_is_called_once(self):
        for old, new in (("call   200", "lea    0x200"), ("mov    $0x1,%edi", "call   300 <there>")):
            with self.subTest(old=old):
                with self.assertRaises(loops.LoopError):
                    event.look(FLOOR + SITE + PROBED.replace(old, new))

    def test_bad_ones(self):
        for old, new in (("rdtsc", "nop"), ("cmpxchg", "lock cmpxchg"),
                         ("mov    (%rdi),%rcx", "call   200 <there>"),
                         ("nopl   0x0(%rax,%rax,1)", "mov    %eax,%edx"),
                         ("<bench_loop_floor>:", "<bench_loop_other>:")):
            with self.subTest(old=old):
                with self.assertRaises(loops.LoopError):
                    event.look((FLOOR + SITE).replace(old, new))


class Workload(unittest.TestCase):
    """Whole workloads."""

    def lines(self, *ticks):
        """A report, with the ticks of nothing, of Etch and of ftrace."""
        rounds = workload.ROUNDS["um"]
        found = ["bench: hz 1000000000", "bench: system sched 23 23 same",
                 "bench: system irq 7 6 other"]
        for load in workload.LOADS:
            for tracer, each in zip(("nothing", "etch", "ftrace"), ticks):
                found.append(f"bench: sample {load} {tracer} 1"
                             + f" {each - 5} {each + 5}" * (rounds // 2))
                found.append(f"bench: stored {load} {tracer} "
                             f"{0 if tracer == 'nothing' else 100}")
        return found

    def figures(self, lines):
        """The figures of a report."""
        rounds = figures.parse(lines)
        workload.check(lines, rounds, "um")
        return [figures.Figure(title, tracer, "um", "ns", rounds[load, tracer])
                for load, title in workload.LOADS.items()
                for tracer in ("nothing", "etch", "ftrace")]

    def test_the_slow_downs_are_compared(self):
        text = workload.tables("um", self.figures(self.lines(1000, 1100, 1400)))
        self.assertIn("times ftrace's: 0.25 (at most 0.5, least "
                      "samples 0.25): held", text)

    def test_noise_is_told_of(self):
        text = workload.tables("um", self.figures(self.lines(1000, 900, 1004)))
        self.assertIn("### NOT COMPARED: files in memory", text)
        self.assertNotIn("held to", text)

    def test_systems_that_differ_are_told_of(self):
        said = workload.remarks_on(self.lines(9, 9, 9), 40)
        self.assertEqual(said[0], "On were sched (23 events).")
        self.assertTrue(said[1].startswith("NOT COMPARED: irq: 7 events"))

    def test_other_numbers_of_records_are_told_of(self):
        lines = [line.replace("stored pipe etch 100", "stored pipe etch 90")
                 for line in self.lines(9, 9, 9)]
        self.assertTrue(any(line.startswith("NOT THE SAME")
                            for line in workload.remarks_on(lines, 40)))

    def test_a_tracer_that_recorded_nothing(self):
        lines = [line.replace("stored pipe etch 100", "stored pipe etch 0")
                 for line in self.lines(9, 9, 9)]
        with self.assertRaises(figures.FigureError):
            self.figures(lines)

    def test_rounds_that_miss(self):
        lines = [line for line in self.lines(9, 9, 9)
                 if "sample fork etch" not in line]
        with self.assertRaises(figures.FigureError):
            self.figures(lines)


class Readers(unittest.TestCase):
    """Reading."""

    def rounds(self, etch, ftrace):
        """Rounds as if each had cost the same."""
        number = readers.ROUNDS["um"]
        return {(name, tracer): [cost] * number for name in readers.FILES
                for tracer, cost in (("etch", etch), ("ftrace", ftrace))}

    def test_the_rate(self):
        found = readers.rows(self.rounds(500.0, 1000.0), "um")
        text = readers.tables("um", found)
        self.assertIn("2,000,000  1,000,000", text)
        self.assertIn("trace_pipe: a record's cost, times ftrace's: 0.50",
                      text)

    def test_a_round_that_misses(self):
        rounds = self.rounds(1.0, 1.0)
        rounds["trace", "etch"].pop()
        with self.assertRaises(figures.FigureError):
            readers.rows(rounds, "um")


class Readout(unittest.TestCase):
    """Taking records out."""

    def rounds(self, etch, ftrace):
        """Rounds as if each had cost the same."""
        number = readout.DRAIN["um"]["rounds"]
        costs = zip(readout.TRACERS, (etch, ftrace, ftrace))
        return {(way, tracer): [cost] * number
                for tracer, cost in costs for way in readout.WAYS}

    def rates(self, *each):
        """A report of rates, one for each tracer."""
        number = readout.RATE["um"]["rounds"]
        return [f"bench: rate {tracer} {rate} lost"
                for tracer, rate in zip(readout.TRACERS, each)] * number

    def found(self, etch, ftrace, rates):
        """All figures of a lane."""
        lines = [f"bench: bytes file {tracer} 3200 100"
                 for tracer in readout.TRACERS]
        found = readout.rows(self.rounds(etch, ftrace), "um")
        found += readout.sizes(lines, "um")
        for size in readout.SIZES:
            found += readout.rate_rows(rates, size, "um")
        return found

    def test_what_it_is_held_to(self):
        text = readout.tables("um", self.found(8.0, 16.0, self.rates(9, 6, 6)))
        self.assertIn("125,000,000  62,500,000", text)
        self.assertRegex(text, "splice to a socket +0.25 +0.50 +0.50")
        self.assertIn("splice to a file: a record's cost, times ftrace's: "
                      "0.50", text)
        self.assertIn("8192 KiB: ftrace's, times Etch's: 0.67", text)
        self.assertNotIn("NOT HELD", text)

    def test_slower_is_not_held(self):
        text = readout.tables("um", self.found(9.0, 6.0, self.rates(6, 9, 9)))
        self.assertEqual(text.count("NOT HELD"), text.count("held to"))

    def test_rounds_that_miss(self):
        rounds = self.rounds(1.0, 1.0)
        rounds["socket", "ftrace"].pop()
        with self.assertRaises(figures.FigureError):
            readout.rows(rounds, "um")
        with self.assertRaises(figures.FigureError):
            readout.rate_rows(self.rates(1, 2, 3)[1:], 1408, "um")

    def test_a_wake_up_is_what_waited_hits_cost_more(self):
        rounds = {(f"{tracer}_small", how): [cost] * readout.WAKE["rounds"]
                  for tracer in ("etch", "ftrace")
                  for how, cost in (("quiet", 100.0), ("waited", 100.5))}
        found = readout.wake_rows(rounds, "x86-64")
        self.assertEqual([figure.median for figure in found],
                         [readout.WAKE["hits"] / 2] * 2)
        rounds["etch_small", "waited"].pop()
        with self.assertRaises(figures.FigureError):
            readout.wake_rows(rounds, "x86-64")

    def test_a_rate_without_an_end_is_told_of(self):
        lines = [line.replace("etch 5 lost", "etch 5 producer")
                 for line in self.rates(5, 5, 5)]
        said = readout.remarks_on({1408: self.rates(5, 5, 5), 8192: lines},
                                  "um")
        loud = [line for line in said if line.startswith("NOT AN END")]
        self.assertEqual(len(loud), 1)
        self.assertIn("8192 KiB: etch lost nothing", loud[0])


if __name__ == "__main__":
    unittest.main()
