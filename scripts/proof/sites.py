#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the sites of tracepoints cost in code, and each event once.

  sites.py KERNEL [MAINLINE]

KERNEL is a vmlinux, or a module (.ko), with Etch; MAINLINE the same built
without it, to be shown beside. Both are x86-64's.

A site costs a NOP in line, code out of line, an entry of __jump_table, and an
entry of .static_call_sites for each static call that is out of line. Code that
the sites of a function share is counted once in sums, and in full for each of
the sites that use it.
"""

import re
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import elf
import tracepoint

# Sites that are shown by name, if they are there: (function, event).
NAMED = (("__schedule", "sched_switch"), ("try_to_wake_up", "sched_waking"),
         ("wake_up_new_task", "sched_wakeup_new"),
         ("__handle_irq_event_percpu", "irq_handler_entry"),
         ("handle_softirqs", "softirq_entry"),
         ("syscall_trace_enter", "sys_enter"),
         ("__kmalloc_noprof", "kmalloc"))

# What an event has once: (title, its symbols).
ONCE = (("stub", r"__trace(stub|more)_"), ("tracepoint", r"__tracepoint_"),
        ("iterator", r"__traceiter_"), ("probe stub", r"__probestub_"),
        ("static call", r"__SC[KT]__tp_func_"), ("name", r"__tpstrtab_"))


class Kernel:
    """The figures of one kernel, or of one module."""

    def __init__(self, path):
        self.image = elf.Image(path)
        if self.image.machine != elf.X86_64:
            raise elf.ElfError(f"{path} is not of x86-64")
        self.sites = tracepoint.read(self.image)[0]
        if not self.sites:
            raise elf.ElfError(f"{path} has no tracepoint's site")
        self.calling = [site for site in self.sites if site.calls()]
        self.out = {one.address: len(one.raw)
                    for site in self.sites for one in site.out}
        self.static_calls = sum(
            call in self.out for call in tracepoint.static_calls(self.image))
        self.imv_reads = len(list(tracepoint.imv_table(self.image)))

    def nops(self, size):
        """How many NOPs of a size."""
        return sum(site.inline() == size for site in self.sites
                   if site.is_nop())

    def odd(self):
        """Sites that are no NOP."""
        return sum(not site.is_nop() for site in self.sites)

    def inline(self):
        """Bytes in line, of all sites."""
        return sum(site.inline() for site in self.sites)

    def tables(self):
        """Bytes of tables, of all sites."""
        return (len(self.sites) * tracepoint.JUMP_ENTRY.size
                + self.static_calls * tracepoint.STATIC_CALL.size)

    def total(self):
        """Bytes of all sites together."""
        return self.inline() + sum(self.out.values()) + self.tables()

    def once(self, pattern):
        """Bytes of the symbols whose names begin so."""
        expression = re.compile(pattern)
        symbols = {symbol.name: symbol.size for symbol in self.image.symbols
                   if symbol.address is not None
                   and expression.match(symbol.name)}
        return sum(symbols.values())

    def events(self):
        """Tracepoints that are defined here."""
        return sum(symbol.name.startswith(tracepoint.PREFIX)
                   and symbol.section not in (elf.UNDEFINED, elf.ABSOLUTE)
                   and symbol.size > 0 for symbol in self.image.symbols)


def name(path):
    """A column's head: a module's name, or that of a kernel's folder."""
    path = Path(path).resolve()
    return path.parent.name if path.name == "vmlinux" else path.name


def line(title, values, form="{:.0f}"):
    """A row: a value for each kernel, and the first in the second."""
    shown = [form.format(value) for value in values]
    if len(values) == 2 and values[1]:
        shown.append(f"{values[0] / values[1]:.2f}")
    print(f"{title:<50}" + "".join(f"{word:>15}" for word in shown))


def outline(title, lists):
    """Rows about bytes out of line: a list of sites for each kernel."""
    sizes = [[site.outline() for site in sites] for sites in lists]
    if not all(sizes):
        return
    line(f"{title}: median", [statistics.median(one) for one in sizes])
    line("  mean", [statistics.mean(one) for one in sizes], "{:.1f}")
    line("  smallest", [min(one) for one in sizes])
    line("  largest", [max(one) for one in sizes])
    line("  sum", [sum(one) for one in sizes])


def matched(kernels):
    """Sites that are at the same places in both kernels, in one order."""
    places = [tracepoint.by_place(kernel.calling) for kernel in kernels]
    common = sorted(set(places[0]) & set(places[1]))
    return [[found[place] for place in common] for found in places]


def show_sites(kernels):
    """All sites of a kernel."""
    line("sites", [len(kernel.sites) for kernel in kernels])
    line("  that call, rather than ask", [len(k.calling) for k in kernels])
    line("in line: NOPs of 2 bytes", [kernel.nops(2) for kernel in kernels])
    line("         NOPs of 5 bytes", [kernel.nops(5) for kernel in kernels])
    line("         anything else", [kernel.odd() for kernel in kernels])
    outline("out of line, sites that call",
            [kernel.calling for kernel in kernels])
    print("all sites together, bytes")
    line("  in line", [kernel.inline() for kernel in kernels])
    line("  out of line", [sum(k.out.values()) for k in kernels])
    line("  __jump_table, .static_call_sites",
         [kernel.tables() for kernel in kernels])
    line("  sum", [kernel.total() for kernel in kernels])
    line("  sum for each site",
         [k.total() / len(k.sites) for k in kernels], "{:.1f}")


def show_named(kernels):
    """Some sites by name."""
    places = [tracepoint.by_place(kernel.calling) for kernel in kernels]
    for function, event in NAMED:
        found = [one.get((function, event, 0)) for one in places]
        if all(found):
            line(f"  {event} in {function}",
                 [site.outline() for site in found])


def show_once(kernels):
    """What each event has once, on average."""
    events = [kernel.events() for kernel in kernels]
    if not all(events):
        return
    line("events", events)
    print("once for each event, bytes")
    sums = [0] * len(kernels)
    for title, pattern in ONCE:
        bytes_ = [kernel.once(pattern) for kernel in kernels]
        sums = [total + one for total, one in zip(sums, bytes_)]
        line(f"  {title}", [one / n for one, n in zip(bytes_, events)],
             "{:.1f}")
    tables = [kernel.imv_reads * tracepoint.IMV_ENTRY.size
              for kernel in kernels]
    line("  __imv_table", [one / n for one, n in zip(tables, events)],
         "{:.1f}")
    line("  sum", [(one + more) / n for one, more, n
                   in zip(sums, tables, events)], "{:.1f}")


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        kernels = [Kernel(path) for path in sys.argv[1:]]
    except (elf.ElfError, OSError) as error:
        sys.exit(f"error: {error}")
    titles = [name(path) for path in sys.argv[1:]] + ["ratio"]
    titles = titles[:2 * len(kernels) - 1]
    print(f"{'':<50}" + "".join(f"{title:>15}" for title in titles))
    show_sites(kernels)
    if len(kernels) == 2:
        both = matched(kernels)
        line("sites at the same places in both", [len(one) for one in both])
        outline("  out of line", both)
    print("out of line, by name")
    show_named(kernels)
    show_once(kernels)


if __name__ == "__main__":
    main()
