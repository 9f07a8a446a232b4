# SPDX-License-Identifier: GPL-2.0
"""What the code of a kernel for x86-64 must look like where events are hit.

A check gives sentences, one for each thing that is wrong; none is a pass.
"""

import re

import elf
import tap
import tracepoint

# The example: a hot place with arguments, and its event.
FUNCTION, EVENT = "__schedule", "sched_switch"
# "mov $0, %r32" of five bytes, for the registers that the reads may use.
MOVS = {0xb8: "eax", 0xb9: "ecx", 0xba: "edx", 0xbb: "ebx", 0xbe: "esi",
        0xbf: "edi"}
MOV_SIZE = 5
# What a preemptible kernel calls where preemption is enabled again and was asked for.
RESCHEDULES = ("preempt_schedule_notrace", "__SCT__preempt_schedule_notrace")
# Of many wrong places, so many are named.
SHOWN = 5


def shorten(problems):
    """The first problems, and how many more there are."""
    more = len(problems) - SHOWN
    return problems[:SHOWN] + ([f"and {more} more"] if more > 0 else [])


def one_nop(sites):
    """Every site is one NOP of two or five bytes."""
    if not sites:
        return ["there is no site"]
    return shorten([f"{site}: {site.nop.text if site.nop else 'no code'}"
                    for site in sites if not site.is_nop()])


def calls_stub(sites):
    """Each site calls its event's consumers through Etch's stub, not mainline's way."""
    calling = [(site, one.callee) for site in sites for one in site.calls()]
    if not calling:
        return ["no site calls anything"]
    return shorten([f"{site}: calls {callee}" for site, callee in calling
                    if not callee.startswith("__tracestub_")])


def arguments_and_call(sites, function=FUNCTION, event=EVENT):
    """The site of an event: one NOP, and out of line one call, no branch. Where preemption
    is counted, there are a branch and a call more, right behind the count."""
    found = [site for site in sites
             if (site.function, site.event) == (function, event)]
    if not found:
        return [f"there is no {event} in {function}"]
    problems = one_nop(found)
    for site in found:
        calls = [one for one in site.out if one.jump == "call"
                 and not one.callee.startswith(RESCHEDULES)]
        if len(calls) != 1 or calls != site.calls():
            problems.append(f"{site}: {len(calls)} calls" + "".join(
                f", {one.callee or one.text}" for one in calls))
        counts = {one.address + len(one.raw) for one in site.out
                  if re.match(r"decl +%gs:", one.text)}
        problems += [f"{site}: {one.text}" for one in site.out
                     if one.jump == "maybe" and one.address not in counts]
        if len(counts) > 1:
            problems.append(f"{site}: preemption is enabled {len(counts)} times")
    return problems


def zero_mov(image, code):
    """The name of the register that a patched read sets, or None."""
    raw = image.read(code, MOV_SIZE)
    return None if any(raw[1:]) else MOVS.get(raw[0])


def patched_reads(image):
    """Each entry of __imv_table is a five-byte move of zero."""
    entries = list(tracepoint.imv_table(image))
    if not entries:
        return ["__imv_table is empty"]
    return shorten([
        f"{code:#x}: {image.read(code, MOV_SIZE).hex(' ')}, {width} bytes"
        for code, width, _ in entries
        if not zero_mov(image, code) or width > 4])


def mentions(one, symbol):
    """Whether an instruction's operand lies in a symbol."""
    if re.search(rf"<{re.escape(symbol.name)}[+\->]", one.text):
        return True
    return any(symbol.address <= int(word, 16) < symbol.address + symbol.size
               for word in re.findall(r"\b(?:0x)?([0-9a-f]{16})\b", one.text))


def gate_look(code, start, gates):
    """The instructions that ask whether the gate that was read is positive:
    (test, jump), or None. gates: {address of a read: register}."""
    register = None
    for address in sorted(code.walk([start])):
        one = code.insns[address]
        register = gates.get(address, register)
        copy = re.match(rf"mov +%{register},%(\w+)$", one.text)
        register = copy[1] if copy else register
        if register and re.match(rf"testl? +%{register},%{register}$",
                                 one.text):
            jump = code.insns.get(address + len(one.raw))
            if jump and jump.text.split()[0] in ("jle", "jg"):
                return one, jump
    return None


def stub_leaves_memory(image, code, event=EVENT):
    """The stub reads the gate by a patched move. It goes on in a function of its own,
    which reads the tracepoint's memory, only if bit 31 of the gate is set."""
    start = image.address(f"__tracestub_{event}")
    more = image.address(f"__tracemore_{event}")
    symbol = image.by_name.get(tracepoint.PREFIX + event)
    if start not in code.insns or more not in code.insns or not symbol:
        return [f"there is no stub of {event}"]
    gates = {at: zero_mov(image, at) for at, _, imv
             in tracepoint.imv_table(image)
             if symbol.address <= imv < symbol.address + max(symbol.size, 1)}
    look = gate_look(code, start, gates)
    if not look:
        return ["no patched read of the gate whose sign is looked at"]
    test, jump = look
    after = jump.address + len(jump.raw)
    other, positive = ((jump.target, after) if jump.text.startswith("jle")
                       else (after, jump.target))
    plain = {**code.walk([start], {test.address}), **code.walk([positive])}
    problems = [f"with bit 31 clear: {one.text}" for one in plain.values()
                if mentions(one, symbol)]
    if not any(one.jump in ("call", "always") and one.target == more
               for one in code.walk([other], frozenset(plain)).values()):
        problems.append("with bit 31 set the rest is not reached")
    if not any(mentions(one, symbol) for one in code.walk([more]).values()):
        problems.append("with bit 31 set nothing looks at the tracepoint")
    return problems


def leaves_no_frame(image, code, event=EVENT):
    """The stub jumps to what records, so that no return address is on the stack but the
    site's; and it jumps to the functions, as does what comes between."""
    problems = []
    for name in ("__tracestub_", "__tracemore_"):
        start = image.address(name + event)
        if start not in code.insns:
            return [f"there is no {name}{event}"]
        inside = code.walk([start]).values()
        problems += [f"{name}{event}: {one.text}" for one in inside if one.jump == "call"
                     and (name == "__tracestub_" or one.callee.startswith("__SCT__tp_func_"))]
        if not any(one.jump == "always" and one.callee.startswith("__SCT__tp_func_")
                   for one in inside):
            problems.append(f"{name}{event}: no jump to the functions")
    return shorten(problems)


def verdict(name, problems):
    """A result."""
    status = "failed" if problems else "passed"
    return tap.Case(f"sites: {name}", status, "; ".join(problems))


def cases(kernel, module):
    """The results for a vmlinux and for a module with events."""
    try:
        image = elf.Image(kernel)
        sites, code = tracepoint.read(image, [f"__tracestub_{EVENT}",
                                              f"__tracemore_{EVENT}"])
        part = elf.Image(module)
        part_sites = tracepoint.read(part)[0]
    except (elf.ElfError, OSError) as error:
        return [verdict("code can be read", [str(error)])]
    return [
        verdict("each is one NOP in the kernel", one_nop(sites)),
        verdict("each is one NOP in a module", one_nop(part_sites)),
        verdict("they call stubs in the kernel", calls_stub(sites)),
        verdict("they call stubs in a module", calls_stub(part_sites)),
        verdict(f"{EVENT} is arguments and a call", arguments_and_call(sites)),
        verdict("patched reads in the kernel", patched_reads(image)),
        verdict("patched reads in a module", patched_reads(part)),
        verdict(f"{EVENT}'s stub reads no memory to record",
                stub_leaves_memory(image, code)),
        verdict(f"{EVENT}'s stub leaves no frame", leaves_no_frame(image, code)),
    ]
