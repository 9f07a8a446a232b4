# SPDX-License-Identifier: GPL-2.0
"""trace.dat, as trace-cmd reads it; and its lines beside those of the kernel."""

import re
from collections import Counter, defaultdict

import printed
import truth

SUFFIX = ".dat"
_LINE = re.compile(r"^ *(.*)-(-?\d+) +\[(\d+)\] +(\d+\.\d+): (\w+): *(.*)$", re.S)
_DROPPED = re.compile(r"^CPU:(\d+) \[(\d+) EVENTS DROPPED\]$")

# Events that libtraceevent 1.7 prints otherwise than the kernel, from the same print format.
LIMITS = {
    "the text is at an address of the kernel": {"rcu_utilization"},
    "names of values that are expressions": {
        "hrtimer_start", "hrtimer_init", "timer_start", "block_io_start", "block_io_done",
        "block_rq_complete", "block_rq_error", "block_rq_insert", "block_rq_issue",
        "block_rq_merge", "block_rq_requeue"},
    "an address behind the last function": {"iomap_iter"},
    "an array, or a mask of CPUs": {"etch_sample_list", "etch_sample_masks"},
    "a 0 with %#x": {"net_dev_start_xmit", "netif_rx_entry", "netif_receive_skb_entry",
                     "netif_receive_skb_list_entry", "napi_gro_receive_entry",
                     "napi_gro_frags_entry"},
    "a pointer below the first page": {"percpu_alloc_percpu", "percpu_free_percpu"},
    "no event's folder has a print format": {"marker_raw"},
}
_LIMITED = set().union(*LIMITS.values())
_UNPARSED = "[FAILED TO PARSE]"
_POINTER = re.compile(r"\(nil\)|\b0x[0-9a-f]{1,16}\b|\b[0-9a-f]{16}\b")


def lines(path, *options):
    """trace-cmd's lines, those of more than one together: matches, or (cpu, count)."""
    text, _ = truth.output(["trace-cmd", "report", *options, path])
    whole = []
    for line in text.split("\n"):
        dropped = _DROPPED.match(line)
        if dropped:
            whole.append((int(dropped[1]), int(dropped[2])))
        elif _LINE.match(line):
            whole.append(line)
        elif whole and line and isinstance(whole[-1], str):
            whole[-1] += "\n" + line
    return [_LINE.match(line) if isinstance(line, str) else line for line in whole]


def read(path):
    """The file's Content."""
    return truth.Content(
        each if isinstance(each, tuple) else
        truth.Row(int(each[3]), truth.ns(each[4]), each[5])
        for each in lines(path, "-t", "-N"))


def complaints(path):
    """What trace-cmd says on the standard error."""
    return truth.output(["trace-cmd", "report", "-N", path])[1].splitlines()


def contexts(path, trace):
    """Sentences on records without the priority that an instance adds: trace-cmd filters by it."""
    if not any("prio" in added for _, added in trace.samples.values()):
        return []
    want = [added["prio"] for _, added in trace.samples.values()]
    shown = [line for line in lines(
                 path, "-N", "-F", f"etch_sample_begin: common_prio == {want[0]}")
             if not isinstance(line, tuple)]
    if len(set(want)) == 1 and len(shown) != trace.truth().count():
        return [f"{len(shown)} records have the priority {want[0]}"]
    return [] if shown else [f"no record has the priority {want[0]}"]


def rounds(path, trace):
    """Sentences on the sample's events that have another number in trace-cmd's lines."""
    mine = defaultdict(list)
    for each in lines(path, "-N"):
        if not isinstance(each, tuple):
            mine[int(each[3])].append(each[6])
    return [f"CPU {cpu}, record {index}: {mine[cpu][index]} for {fields['round']}"
            for (cpu, index), (fields, _) in trace.samples.items()
            if not mine[cpu][index].startswith(f"round={fields['round']} ")]


def stats(path):
    """{cpu: records that were lost}, of all causes: trace-cmd report --stat."""
    text, _ = truth.output(["trace-cmd", "report", "--stat", path])
    return {int(block.group(1)): sum(map(int, re.findall(
        r"^(?:overwritten|lost [a-z ]+): (\d+)$", block.group(2), re.M)))
            for block in re.finditer(r"^CPU: (\d+)$(.*?)(?=^CPU: |^$)", text, re.M | re.S)}


# ---- The kernel's own lines ----

class Text:
    """A trace's text as the kernel wrote it, and trace-cmd's lines of the same records."""

    def __init__(self, trace, known):
        self.trace = trace
        # By names alone, as trace-cmd has them.
        self.print = {layout.name: layout.print for layout in known.values()}
        self.same, self.left, self.apart = 0, Counter(), None

    def compare(self, path):
        """Sentences on lines that differ; also fills same and left."""
        mine = defaultdict(list)
        for each in lines(path, "-t", "-N"):
            if not isinstance(each, tuple):
                mine[int(each[3])].append(each)
        wrong = []
        for file in sorted(self.trace.folder.glob("text.cpu*")):
            kernel = [printed.parse(line)
                      for line in printed.lines(file.read_text(errors="replace"))]
            others = mine[int(file.name[8:])]
            if len(kernel) != len(others):
                wrong.append(f"{file.name}: {len(others)} lines for {len(kernel)}")
            for line, other in zip(kernel, others):
                wrong += self._line(line, other)
        if self.same < sum(self.left.values()):
            wrong.append(f"only {self.same} lines were compared: {self.left}")
        return wrong

    def _line(self, line, other):
        """Sentences on one line."""
        name, body = other[5], other[6]
        # Both begin somewhere: text of a clock that counts at its first record.
        apart = truth.ns(other[4]) - line.us * 1000
        self.apart = apart if self.apart is None else self.apart
        if (line.comm, line.pid) != (other[1], int(other[2])) or abs(apart - self.apart) > 2000:
            return [f"{other[0]!r} for {line}"]
        form = self.print.get(name, "")
        # A variable of the kernel is nothing that a trace has.
        if (name in _LIMITED or _UNPARSED in body or re.search(r"\bjiffies\b", form)
                or (not self.trace.symbols and re.search("%p[sS]", form))):
            self.left[name] += 1
            return []
        if self._plain(*self._kernel(name, line.body)) == self._plain(name, body):
            self.same += 1
            return []
        return [f"{name}: {body!r} for {line.body!r}"]

    @staticmethod
    def _kernel(name, body):
        """A line of the kernel with system calls in the form of their print formats."""
        if name.startswith("sys_exit_"):
            return name, body.rpartition("-> ")[2]
        if name.startswith("sys_enter_"):
            return name, body.partition("(")[2].rpartition(")")[0]
        return name, body.partition(": ")[2]

    def _plain(self, name, body):
        """Without what differs by design: hashed pointers, sizes of functions, zeroes."""
        if name.startswith(("sys_enter_", "sys_exit_")):
            return re.sub(r"\b(?:0x)?0*([0-9a-f]+)\b", r"\1", body).strip()
        body = re.sub(r"(\+0x[0-9a-f]+)/0x[0-9a-f]+(?: \[\w+\])?", r"\1", body)
        if "%p" in self.print.get(name, ""):
            body = _POINTER.sub("P", body)
        return body.rstrip()
