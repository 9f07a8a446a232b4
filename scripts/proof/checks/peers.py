# SPDX-License-Identifier: GPL-2.0
"""ftrace's own selftests."""

import ftracetest as peer
import guest
import layout
import tap
import tree
from checks.lane import LOGS, SCRIPTS, need, say, LaneError

# Seconds until a guest with ftrace's own selftests is given up.
PEER_LIMITS = {"um": 1200, "x86-64-ftrace": 3600, "x86-64-probes": 1800}


def peer_kernel(name, mainline=False):
    """A lane's kernel with ftrace's selftests, or mainline's: the folder of it."""
    folder = layout.BUILD / (f"bench-{name}" if mainline else name)
    env = ["env", f"OUT={folder}"]
    if mainline:
        need([*env, f"SOURCE={tree.mainline(name)}", "WITHOUT=etch",
              SCRIPTS / "lab/build.sh", name])
    else:
        need([*env, SCRIPTS / "lab/build.sh", name])
    expected = peer.page(peer.PAGE.read_text())
    need([*env, SCRIPTS / "lab/rootfs.sh", name, peer.prepare(expected)])
    return folder


def peer_boot(name, folder, kind):
    """ftrace's selftests in a kernel: (what was seen, cases of what went wrong).

    kind: "etch" in Etch's tree; else in ftrace's, and only a name for the files.
    """
    def show(data):
        """Print the runner's lines as they come: a test's name, and then its result."""
        for line in data.decode("utf-8", "replace").splitlines(keepends=True):
            if line.startswith(("[", "\t[")):
                print(f"    {line}" if line[0] == "[" else line, end="", flush=True)

    say(f"ftrace's selftests in {folder.name} ({kind}), at most {PEER_LIMITS[name]} s.")
    result = guest.boot(name, folder / "initrd.gz", "ftracetest", PEER_LIMITS[name],
                        show, [f"ftracetest.tree={kind}"], folder=folder)
    for file in folder.glob("ftracetest.*"):
        file.replace(file.with_stem(f"ftracetest-{kind}"))
    say(f"Guest ran {result.seconds:.0f} s.")
    return (peer.Seen(result.lines()),
            [tap.Case(problem, "failed") for problem in result.problems()])


def peer_both(name, folder, mainline):
    """Both trees of a lane's kernel. mainline: {test: result} there, or None."""
    expected = peer.page(peer.PAGE.read_text())
    cases = [tap.Case(problem, "failed")
             for problem in peer.unknown(expected, peer.files())]
    seen, problems = peer_boot(name, folder, "etch")
    cases += problems + peer.in_etch(seen, expected)
    if mainline is None:
        return cases + [tap.Case("ftrace's tree", "skipped",
                                 "it is not kept what mainline gives")]
    seen, problems = peer_boot(name, folder, "ftrace")
    return cases + problems + peer.as_mainline(seen, mainline)


def ftracetest_probes(name):
    """ftrace's own selftests of probes in Etch's tree of a lane's kernel, which is built."""
    first = next(iter(layout.BASES))
    if layout.BASE != first:
        return [tap.Case("ftrace's tests of probes", "skipped",
                         f"the list of what they give is for Linux {first}")]
    expected = peer.page(peer.PROBES.read_text())
    need([SCRIPTS / "lab/rootfs.sh", name, peer.prepare(expected)])
    seen, problems = peer_boot(name, layout.BUILD / name, "etch")
    return problems + peer.in_etch(seen, expected) + [
        tap.Case(problem, "failed")
        for problem in peer.unknown(expected, peer.files(peer.PROBE_FOLDERS))]


def ftracetest():
    """ftrace's own selftests in User-mode Linux, in ftrace's tree and in Etch's."""
    return peer_both("um", peer_kernel("um"), peer.kept("um"))


def ftracetest_mainline():
    """The same in mainline's User-mode Linux, whose results must be those that are kept."""
    seen, problems = peer_boot("um", peer_kernel("um", mainline=True), "mainline")
    new = LOGS / "ftracetest-mainline-um"
    new.write_text(peer.to_list(seen.results))
    kept = peer.kept("um")
    if kept is None:
        raise LaneError(f"{peer.stored('um')} is missing; what it should be is in {new}")
    return problems + peer.as_mainline(seen, kept)


def ftracetest_x86_64():
    """ftrace's own selftests in x86-64 kernels with all its tracers."""
    name = "x86-64-ftrace"
    seen, problems = peer_boot(name, peer_kernel(name, mainline=True), "mainline")
    return problems + peer_both(name, peer_kernel(name), seen.results)
