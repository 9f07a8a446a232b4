# SPDX-License-Identifier: GPL-2.0
"""What BENCH=event measures: the events, the situations, and their names."""

TRACERS = ("etch", "ftrace")
# Words for the guest.
SETTINGS = {
    "um": {"rounds": 25, "iterations": 2500, "storm": 500000,
           "cheap": "local", "trust": 0},
    "x86-64": {"rounds": 20, "iterations": 500, "storm": 20000,
               "cheap": "x86-tsc", "trust": 1},
}

KINDS = {
    "small": "16 bytes",
    "large": "64 bytes",
    "string": "16 characters",
    "switch": "sched_switch",
}
# What the guest calls a situation, and what it is.
SITUATIONS = {
    "warm": "alone",
    "clock_mono": "mono",
    "clock_local": "local",
    "clock_seq": "a number for a clock",
    "overwrite": "overwriting",
    "subbuf_4": "overwriting, sub-buffers of 4 KiB",
    "subbuf_64": "overwriting, sub-buffers of 64 KiB",
    "discard": "full, discarding",
    "two": "two instances",
    "four": "four instances",
    "eight": "eight instances",
    "beside": "an instance off beside",
    "off": "tracing_on 0",
    "storm": "interrupt storm",
    "cold": "cold",
}
CLOCKS = ("warm", "clock_mono", "clock_local", "clock_seq")
ONLY_UM = ("cold",)
# How often a hit is stored, where it is not once.
STORED = {"discard": 0, "off": 0, "two": 2, "four": 4, "eight": 8}
# The rows that are no event, each with the tracer that it is shown as.
PLAIN = {"empty": "empty", "counter": "clock", "mono": "clock",
         "local": "clock", "floor": "floor", "nobody": "disabled"}


def counts(lane):
    """Whether a lane counts instructions, rather than time."""
    return lane != "um"


def situations(lane):
    """The situations that are measured in a lane."""
    return [how for how in SITUATIONS
            if not counts(lane) or how not in ONLY_UM]


def title(kind, how):
    """A case as it is printed."""
    return f"{KINDS[kind]}, {SITUATIONS[how]}"


def pairs(lane):
    """Each kind of event, in the situations that it is measured in."""
    found = [(kind, "warm") for kind in KINDS]
    return found + [("small", how) for how in situations(lane)[1:]]
