# SPDX-License-Identifier: GPL-2.0
"""The example of Documentation/design-tree.rst, built and booted as the page has it.

Each block of code there has a file of the kernel tree as its caption. A new file has the
block's text, and one that is there gets the text at its end.
"""

import re
import subprocess
import textwrap

import guest
import layout
import tap
from checks import ahead
from checks.lane import SCRIPTS, need, say

PAGE = layout.TOP / "Documentation/design-tree.rst"
BLOCK = re.compile(r"^\.\. code-block:: \w+\n +:caption: (?P<path>\S+)\n\n(?P<text>(?: .*\n|\n)+)",
                   re.M)
LANE = "um-core"
PLACE = layout.BUILD / "example"
# Seconds until the guest is given up.
LIMIT = 120


def blocks(text):
    """{path in the kernel tree: text} of a page's blocks with captions."""
    return {block["path"]: textwrap.dedent(block["text"]).strip("\n") + "\n"
            for block in BLOCK.finditer(text)}


def write(source, added):
    """Put the blocks into a tree whose files other trees share."""
    for path, text in added.items():
        file = source / path
        before = file.read_text() + "\n" if file.exists() else ""
        file.parent.mkdir(exist_ok=True)
        file.unlink(missing_ok=True)
        file.write_text(before + text)


def example():
    """The cases of a kernel with the room that the page adds."""
    say("Layers: with the room of the example in design-tree.rst.")
    added = blocks(PAGE.read_text())
    source, out = PLACE / "linux", PLACE / LANE
    subprocess.run(["rm", "-rf", source], check=True)
    out.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-al", layout.LINUX, source], check=True)
    write(source, added)
    ahead.wait(LANE)
    settings = [f"{name}={value}" for name, value in (("OUT", out), ("SOURCE", source))]
    need(["env", *settings, SCRIPTS / "lab/build.sh", LANE])
    need(["env", *settings, SCRIPTS / "lab/rootfs.sh", LANE])
    result = guest.boot(LANE, out / "initrd.gz", "hello", LIMIT, folder=out)
    say(f"Guest ran {result.seconds:.0f} s.")
    return (tap.parse(result.lines())
            + [tap.Case(problem, "failed") for problem in result.problems()])
