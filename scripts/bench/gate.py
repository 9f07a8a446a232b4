# SPDX-License-Identifier: GPL-2.0
"""What a tracepoint's site costs, in Etch's kernel and in mainline's.

In um in nanoseconds, over several boots, the two kernels taking turns; in
x86-64 in instructions, which are the same in each boot.
"""

import figures
import kernels
import layout
import loops

TITLE = "What a site costs"
LANES = ("um", "x86-64")
TRACERS = ("etch", "mainline")
BOOTS = {"um": 3, "x86-64": 1}
SOURCES = layout.TOP / "scripts/bench/kernel"

MODULES = ("bench-gate", "bench-probe")

# What the modules call a case, and what it is; from the least to the most.
CASES = {
    "empty": "empty loop",
    "off": "site off",
    "flag": "flag, load and test",
    "jump": "key on, empty body",
    "on": "site on, empty probe",
    "kprobe-jump": "kprobe, jump",
    "kprobe-int3": "kprobe, int3",
}
HOWS = ("warm", "cold")
PROBES = ("kprobe-jump", "kprobe-int3")
# Trap against branch against NOP.
LADDER = ("kprobe-int3", "kprobe-jump", "on", "jump", "off")


def title(name, how):
    """A case as it is printed."""
    return f"{CASES[name]} ({how})"


def empty(case):
    """The empty loop of a case, measured in the same way."""
    return title("empty", case[case.rindex("(") + 1:-1])


def counts(lane):
    """Whether a lane counts instructions, rather than time."""
    return lane != "um"


def build(lane):
    """The lane's two kernels, each with its modules."""
    pair = [kernels.Kernel(lane, tracer, "gate") for tracer in TRACERS]
    for kernel in pair:
        kernel.build(SOURCES)
    return pair


def describe(kernel):
    """A sentence about what is measured; an error if it is not what it seems.
    """
    found = sites(kernel)
    return (f"In {kernel.tracer}'s kernel the site is {found['off']}, the "
            f"flag {found['flag']}, the key {found['jump']}.")


def sites(kernel):
    """What the sites of a kernel's modules are; the loops are as they must."""
    found = {}
    for module in MODULES:
        path = kernel.files / f"{module}.ko"
        if path.exists():
            found.update(loops.look(path))
    if found["empty"] != "nothing":
        raise loops.LoopError(f"empty: {found['empty']} in the loop")
    return found


def wanted(kernel):
    """The samples that a kernel has to give."""
    hows = HOWS[:1] if counts(kernel.lane) else HOWS
    names = [name for name in CASES if name not in PROBES]
    keys = [(name, how) for how in hows for name in names]
    if kernel.has("KPROBES"):
        keys += [(name, "warm") for name in PROBES]
    return keys


def pool(boots, kernel):
    """Rounds by case over all boots; every one that is due is there."""
    rounds = {}
    for lines in boots:
        for key, some in figures.parse(lines, counts(kernel.lane)).items():
            rounds.setdefault(key, []).extend(some)
    missing = [key for key in wanted(kernel) if key not in rounds]
    if missing:
        raise figures.FigureError(
            f"{kernel.lane}, {kernel.tracer}: no sample of {missing[0]}")
    return rounds


def boot(lane, pair):
    """{kernel: its rounds}; the kernels take turns."""
    reports = {kernel: [] for kernel in pair}
    append = [f"bench.cold={int(not counts(lane))}"]
    for _ in range(BOOTS[lane]):
        for kernel in pair:
            reports[kernel].append(
                kernel.boot("bench-gate", append, counts(lane)))
    return {kernel: pool(reports[kernel], kernel) for kernel in pair}


def measure(lane):
    """(figures, remarks) of a lane."""
    pair = build(lane)
    remarks = [describe(kernel) for kernel in pair]
    rounds = boot(lane, pair)
    unit = "instructions" if counts(lane) else "ns"
    found = [figures.Figure(title(name, how), kernel.tracer, lane, unit,
                            rounds[kernel][name, how])
             for how in HOWS for name in CASES for kernel in pair
             if (name, how) in rounds[kernel]]
    return found, remarks + remarks_on(lane, pair)


def remarks_on(lane, pair):
    """What a reader of the table must know."""
    said = ["Each figure holds its loop; nothing was subtracted but in the "
            "column \"over empty\"."]
    if counts(lane):
        said.append("An instruction count says nothing of what a trap costs a "
                    "processor: QEMU counts the int3 as one instruction, as "
                    "any other, and then the handler's.")
    else:
        said.append("Cold is one hit after 16 MiB were walked. Much of it is "
                    "the measurement: that is the empty loop's row.")
    for kernel in pair:
        if not kernel.has("KPROBES"):
            said.append(f"NOT MEASURED in {lane}, {kernel.tracer}: kprobes, "
                        "by trap and by jump. This kernel has none.")
    return said


def ladder(lane, found):
    """Trap against branch against NOP: what each way is above the loop."""
    rows = []
    for name in LADDER:
        row, case = [CASES[name]], title(name, "warm")
        for tracer in TRACERS:
            figure = figures.find(found, case, tracer)
            row.append(figures.number(
                figures.over(found, figure, empty(case)))
                if figure else "not measured")
        rows.append(row)
    unit = found[0].unit
    head = [f"{lane}, {unit} above the empty loop", *TRACERS]
    return figures.grid(head, rows)


def tables(lane, found):
    """All that is printed of a lane."""
    return (figures.table(found, "mainline", empty)
            + "\n\nTrap against branch against NOP\n" + ladder(lane, found))
