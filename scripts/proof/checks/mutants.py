# SPDX-License-Identifier: GPL-2.0
"""Would the kselftests notice? One rule at a time is taken out of a kernel, and a test must fail."""

import contextlib
import re

import layout
import tap
from checks import guests
from checks.lane import SCRIPTS, LaneError, need, say

# In kernel/etch/: the mutant's fault, the file, a pattern, and the text that takes its place.
# The patterns span no lines, but where they say so. The kselftest that has to fail.
USER = [
    ("losses that rings tell of are in no packet", "ctf/user_packet.c",
     r"\ttail->lost \+= item->lost - item->overwritten;\n", "", "etch:user_packets"),
    ("records that gave way are in no packet", "ctf/user_packet.c",
     r"\ttail->overwritten \+= item->overwritten;\n", "", "etch:user_packets"),
    ("a record with losses in front of it does not begin a packet", "ctf/user_packet.c",
     r"return !item->lost && ", "return ", "etch:user_packets"),
    ("the last losses have no packet", "ctf/user_packet.c",
     r"if \(tail->told == tail->overwritten \+ tail->lost\)", "if (tail->told)",
     "etch:user_packets"),
    ("packets have one number", "ctf/user_packet.c",
     r"\+\+tail->seq;", "tail->seq;", "etch:user_packets"),
    ("a packet ends with its first record's time", "ctf/user_packet.c",
     r"\thead->timestamp_end = item->time;\n", "\thead->timestamp_end = head->timestamp_begin;\n",
     "etch:user_packets"),
    ("a packet counts a record too many", "ctf/user_packet.c",
     r"head->records = page->records;", "head->records = page->records + 1;",
     "etch:user_packets"),
    ("older records stand behind those of a packet", "ctf/packet.c",
     r"\tmemset\(memory \+ content, 0, bytes - content\);\n", "", "etch:user_packets"),
    ("a ring that goes takes its losses along", "user/ring.c",
     r"\tetch_user_untold\(inst, ring\);\n", "", "etch:user_packets"),
    ("a record's event is not looked at", "user/block.c",
     r"if \(event && event->user\)", "if (event)", "etch:user_hostile"),
    ("a record's thread is not looked at", "user/block.c",
     r"if \(!xa_load\(&ring->process->tids, pid\)\)", "if (0)", "etch:user_hostile"),
    ("any thread is taken for the one before", "user/block.c",
     r"\(pid && pid == view->pid\)", "view->pid", "etch:user_hostile"),
    ("any event is taken for the one before", "user/block.c",
     r"view->fixed_len && id == view->fixed && ", "view->fixed_len && ", "etch:user_hostile"),
    ("a run goes on over another thread's record", "user/block.c",
     r"head->pid != first->pid \|\| ", "", "etch:user_packets"),
    ("a run goes on over another event's record", "user/block.c",
     r"etch_head_id\(head\) != etch_head_id\(first\) \|\|\s+", "", "etch:user_packets"),
    ("a run goes on over words that no record has", "user/block.c",
     r" \|\|\s+head->word >> ETCH_CONTEXT_SHIFT\)\s+break;", ")\n\t\t\tbreak;",
     "etch:user_packets"),
    ("a run goes on over records of another ring", "user/reader.c",
     r"i < r->heap.nr && i <= 2", "i < r->heap.nr && i <= 1", "etch:user_packets"),
    ("a run goes on behind the packet's end", "ctf/user_packet.c",
     r"bytes = ETCH_USER_PACKET - at;", "bytes = ETCH_USER_PACKET;", "etch:user_packets"),
    ("a run's records are counted as one", "user/block.c",
     r"\tview->place.seen \+= nr - 1;\n", "", "etch:user_packets"),
    ("a ring is not charged to its user", "user/ring.c",
     r"ETCH_USER_PAGES, &user->locked_vm\) > limit",
     "ETCH_USER_PAGES, &user->locked_vm) > (limit | ~0UL)", "etch:user_quota"),
    ("a ring's memory is charged to no group", "user/ring.c",
     r"GFP_KERNEL_ACCOUNT \| __GFP_ZERO", "GFP_KERNEL | __GFP_ZERO", "etch:user_quota"),
    ("a group without memory has its programs killed", "user/ring.c",
     r" \|\s+__GFP_RETRY_MAYFAIL", "", "etch:user_quota"),
    ("a user may have any number of events", "user/event.c",
     r"if \(nr < ETCH_USER_QUOTA\)", "if (nr < 2 * ETCH_USER_QUOTA)", "etch:user_quota"),
]


@contextlib.contextmanager
def changed(path, pattern, instead):
    """A source of the tree that is built, with one rule less; as it was afterwards."""
    text = path.read_text()
    mutant, times = re.subn(pattern, lambda match: instead, text)
    if times != 1:
        raise LaneError(f"{path.name} has {times} of {pattern}: this mutant needs a new pattern")
    path.write_text(mutant)
    try:
        yield
    finally:
        path.write_text(text)


def kernel(name):
    """The kernel of a lane, from the tree as it is."""
    need([SCRIPTS / "lab/build.sh", name])


def noticed(name, test, limit=300):
    """Does this kselftest fail, or the guest?"""
    cases = guests.boot(name, "kselftest", limit, guests.BOOT + [f"kselftest={test}"])
    return any(case.status == "failed" for case in cases)


def user(only=""):
    """Rules taken out of the kernel's part of programs' events, in the lane um-user."""
    name = "um-user"
    guests.prepare(name)
    tests = sorted({row[-1] for row in USER})
    cases = [tap.Case(f"{test} passes in the kernel as it is",
                      "failed" if noticed(name, test) else "passed") for test in tests]
    for title, file, pattern, instead, test in USER:
        if only not in title:
            continue
        say(f"Mutant: {title}.")
        with changed(layout.BUILD / "linux/kernel/etch" / file, pattern, instead):
            kernel(name)
            seen = noticed(name, test)
        cases.append(tap.Case(f"{title}: noticed by {test}", "passed" if seen else "failed"))
    kernel(name)
    return cases
