# SPDX-License-Identifier: GPL-2.0
"""The first event of Documentation/authors.rst: built, loaded and recorded as the page has it.

The page's blocks are the files of a module, its commands run in the guest, and each of the
mistakes in its table is made once, to see what the compiler says first.
"""

import re
import subprocess
import textwrap

import guest
import layout
import machine
import tap
from checks import example
from checks.lane import SCRIPTS, build_environment, need, say

PAGE = layout.TOP / "Documentation/authors.rst"
PLACE = layout.BUILD / "first-event"
# Seconds until the guest is given up.
LIMIT = 120
COMMANDS = re.compile(r"As root::\n\n((?:\t.*\n)+)")
# A row of the table: a mistake, and the first error.
ROW = re.compile(r"^(?P<mistake>\S.*?)  +``(?P<error>.*)``$", re.M)
ERROR = re.compile(r"^(?:ERROR: modpost: |\S+:\d+:\d+: (?:fatal error|error|warning): )(.*)$", re.M)
# The mistakes: a file, its text, and the text in its place.
MISTAKES = {
    "no ``CREATE_TRACE_POINTS``":
        ("pond.c", "#define CREATE_TRACE_POINTS\n", ""),
    "no ``TRACE_HEADER_MULTI_READ``":
        ("pond_trace.h", " || defined(TRACE_HEADER_MULTI_READ)", ""),
    "no ``TRACE_INCLUDE_PATH``":
        ("pond_trace.h", "#define TRACE_INCLUDE_PATH .\n", ""),
    "no ``-I$(src)``":
        ("Kbuild", "CFLAGS_pond.o := -I$(src)\n", ""),
    "a field's name is misspelt":
        ("pond_trace.h", "__entry->cm = cm", "__entry->mc = cm"),
    "a comma behind ``__field()``":
        ("pond_trace.h", "__field(unsigned int, cm)", "__field(unsigned int, cm),"),
    "a source in ``__assign_str()``":
        ("pond_trace.h", "__assign_str(frog)", "__assign_str(frog, frog)"),
    "a format that is not the field's":
        ("pond_trace.h", "cm=%u", "cm=%s"),
}


def files():
    """{name: text} of the module, as the page has it."""
    return example.blocks(PAGE.read_text())


def compile_module(name, folder, texts):
    """(status, output) of the kernel's make for a module of these files."""
    subprocess.run(["rm", "-rf", folder], check=True)
    folder.mkdir(parents=True)
    for path, text in texts.items():
        (folder / path).write_text(text)
    result = subprocess.run(
        ["make", "-s", "-C", layout.LINUX, f"O={layout.BUILD / name}",
         f"ARCH={machine.lane(name)['KARCH']}", f"M={folder}", "modules"],
        env={**build_environment(), "LANG": "C", "LC_ALL": "C"}, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout


def first_error(said):
    """What the compiler, or modpost, says first, without its place."""
    match = ERROR.search(said)
    if not match:
        return "no error"
    error = re.sub(r" \[-W[\w=+-]+\]$|(?<=\[)\S+/(?=pond\.ko)", "", match[1])
    return re.sub("[\u2018\u2019]", "'", error)


def mistakes(name, texts):
    """A case for each mistake, and one that the page has all of them."""
    rows = {row["mistake"].strip(): row["error"] for row in ROW.finditer(PAGE.read_text())
            if row["mistake"].strip() in MISTAKES}
    cases = [tap.Case("the page of authors has the mistakes that are tried",
                      "passed" if set(rows) == set(MISTAKES) else "failed",
                      f"it lacks {sorted(set(MISTAKES) - set(rows))}")]
    for mistake, (path, old, new) in MISTAKES.items():
        wrong = dict(texts)
        wrong[path] = texts[path].replace(old, new)
        _, said = compile_module(name, PLACE / "mistake", wrong)
        error = first_error(said)
        good = wrong[path] != texts[path] and error == rows.get(mistake)
        cases.append(tap.Case(f"the first error is on the page: {mistake}",
                              "passed" if good else "failed", f"it is: {error}"))
    return cases


def recorded(name, texts):
    """The cases of a guest that runs the page's commands."""
    status, said = compile_module(name, PLACE / "module", texts)
    cases = [tap.Case("the first event compiles without a warning",
                      "failed" if status or said else "passed", said[-500:])]
    commands = COMMANDS.search(PAGE.read_text())
    if status or not commands:
        return cases + [tap.Case("the page of authors has commands", "failed")]
    (PLACE / "module/commands").write_text(textwrap.dedent(commands[1]))
    need(["env", f"BENCH={PLACE / 'module'}", SCRIPTS / "lab/rootfs.sh", name])
    result = guest.boot(name, PLACE / "module.gz", "first-event", LIMIT,
                        folder=layout.BUILD / name)
    say(f"Guest ran {result.seconds:.0f} s.")
    return (cases + tap.parse(result.lines())
            + [tap.Case(problem, "failed") for problem in result.problems()])


def first_event(name):
    """The cases of the page's first event in a lane's kernel, which is there."""
    say(f"The first event of Documentation/authors.rst, in {name}.")
    texts = files()
    return recorded(name, texts) + mistakes(name, texts)
