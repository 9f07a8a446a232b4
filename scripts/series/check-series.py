#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The series and the files: do they agree, apply, and read well? Prints TAP.

What a reviewer would send back is found here: a patch without a message, with
fuzz, or with a finding of checkpatch; a file that the series does not give; a
difference between quilt, git am and git quiltimport. The files and the patches are
compared for every base; the rest is done for the one that BASE names.

  check-series.py [--no-checkpatch]     without it, which make lint runs, too
"""

import posixpath
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
import checkpatch
import gitform
import layout
import mail
import maintainers
import manifest
import patchfile
import refresh_rules as rules
import slices
import tap as taps
import tree

HEADERS = ("From", "Date", "Subject")
INCLUDE = re.compile(r'#\s*include\s+(?:"(?P<own>[^"]+)"|<(?P<all>[^>]+)>)')


def folders(base):
    """The folders of the patches that a base's series names."""
    return (layout.COMMON, base)


def listing():
    """The series and the folders name the same patches."""
    problems, known = [], {*layout.BASES, layout.COMMON}
    for path in sorted(layout.PATCHES.rglob("*.patch")):
        if path.parent.parent != layout.PATCHES or path.parent.name not in known:
            problems.append(f"{path.relative_to(layout.TOP)} is in none of the folders "
                            + " ".join(f"patches/{name}/" for name in sorted(known)))
    for base in layout.carried():
        problems += listed(base)
    return problems


def listed(base):
    """The same for one base."""
    text = layout.TOP / layout.BASES[base]
    series = manifest.names(text.read_text())
    there = {str(path.relative_to(layout.PATCHES)) for folder in folders(base)
             for path in (layout.PATCHES / folder).glob("*.patch")}
    problems = [f"{name} is in {text.name}, and not in patches/ or in the folder of another "
                "base" for name in series if name not in there]
    problems += [f"{name} is in patches/, not in {text.name}"
                 for name in sorted(there.difference(series))]
    problems += [f"{name} is twice in {text.name}"
                 for name in sorted(set(series)) if series.count(name) > 1]
    return problems


def common(patches):
    """A patch for every base changes no file of the kernel's: only files that the series adds."""
    problems, added = [], set()
    for name, patch in patches:
        for diff in patch.diffs:
            if not name.startswith(layout.COMMON + "/"):
                continue
            if diff.kind != "new" and diff.path not in added:
                problems.append(f"{name} changes {diff.path}, which no patch of "
                                f"patches/{layout.COMMON}/ adds: a patch of the base does that")
            if diff.kind == "new":
                added.add(diff.path)
            if (layout.PRISTINE / diff.path).exists():
                problems.append(f"{name}: the kernel has {diff.path} already")
    return problems


def message(patch):
    """Sentences on the parts that a patch's message lacks."""
    problems = [f"no {name}: header" for name in HEADERS
                if not patch.header(name)]
    subject = patch.header("Subject") or ""
    if not subject.startswith("[PATCH] "):
        problems.append("the subject does not begin with [PATCH]")
    if not re.search(r"^Signed-off-by: .+ <.+>$", patch.message, re.M):
        problems.append("no Signed-off-by")
    body = re.sub(r"\A(?:\S+: .*\n(?: .*\n)*)+", "", patch.message)
    body = re.sub(r"^(?:\S+-by|Cc): .*$", "", body, flags=re.M)
    if len(body.split()) < 10:
        problems.append("the message says next to nothing")
    if not patch.diffs:
        problems.append("it changes nothing")
    return problems


def homes(patches):
    """Each of our own files is added by one patch, and only by it; but for those that
    grow."""
    problems, seen = [], {}
    grown = {layout.to_kernel(path) for path in slices.read(manifest.read())}
    for name, patch in patches:
        for diff in patch.diffs:
            if diff.path in grown and diff.kind == "edit":
                continue
            if diff.path in seen and layout.to_repo(diff.path) and (
                    diff.kind == "new" or seen[diff.path][1] == "new"):
                problems.append(f"{diff.path} is in {seen[diff.path][0]} "
                                f"and in {name}")
            seen.setdefault(diff.path, (name, diff.kind))
    return problems


def objects(patches):
    """What the Makefile is to build behind a patch is there behind it."""
    problems, there = [], set()
    entries, order = manifest.read(), manifest.series()
    grown = slices.grown(entries, order)
    for name, patch in patches:
        there.update(diff.path for diff in patch.diffs if diff.kind == "new")
        for path, texts in grown.items():
            if name not in texts or not path.endswith("/Makefile"):
                continue
            folder = path.rpartition("/")[0]
            problems += [f"{path} in {name}: {folder}/{stem}.c is not there yet"
                         for stem in re.findall(r"([\w/]+)\.o\b", texts[name])
                         if f"{folder}/{stem}.c" not in there]
    return problems


def included(path, line):
    """Where a line of a file's may find what it includes: paths in the kernel's tree."""
    match = INCLUDE.match(line)
    if not match:
        return []
    if match["own"]:
        return [posixpath.normpath(posixpath.join(posixpath.dirname(path), match["own"]))]
    return [f"include/{match['all']}", f"include/uapi/{match['all']}"]


def includes(patches):
    """What a patch includes is there behind it, if it is the series that adds it."""
    problems, there = [], set()
    ours = {diff.path for _, patch in patches for diff in patch.diffs if diff.kind == "new"}
    for name, patch in patches:
        there.update(diff.path for diff in patch.diffs if diff.kind == "new")
        for diff in patch.diffs:
            added = (line[1:] for line in diff.hunks if line.startswith("+"))
            problems += [f"{diff.path} in {name}: {want} is not there yet"
                         for line in added for want in included(diff.path, line)
                         if want in ours - there]
    return problems


def compare(left, right, names):
    """How two overlays differ; names: what to call them."""
    problems = []
    for path in sorted(left.keys() | right.keys()):
        if path not in right:
            problems.append(f"{path}: only {names[0]} has it")
        elif path not in left:
            problems.append(f"{path}: only {names[1]} has it")
        elif left[path] != right[path]:
            what = "content" if left[path][0] != right[path][0] else "mode"
            problems.append(f"{path}: {names[0]} and {names[1]} differ in "
                            + what)
    return problems


def gives_files(overlay, patches):
    """The series adds exactly the files that are here."""
    added = {diff.path for _, patch in patches for diff in patch.diffs
             if diff.kind == "new" and layout.to_repo(diff.path)}
    ours = {path: (file.read_bytes(), layout.is_executable(file))
            for path, file in manifest.sources().items()}
    given = {path: overlay[path] for path in added if path in overlay}
    return compare(given, ours, ("the series", "this repository"))


def attempt(tap, name, function, *arguments):
    """Run one comparison; a tree error is its problem. Gives its value."""
    try:
        value = function(*arguments)
    except (tree.TreeError, manifest.ManifestError) as error:
        tap.result(name, [error])
        return None
    tap.result(name, [])
    return value


def apply_all(tap, scratch, base, where):
    """quilt, git am and git quiltimport, and what they give; quilt's tree, or None."""
    quilt = attempt(tap, f"quilt applies the series to {where} without fuzz",
                    tree.overlay, base, scratch / "quilt")
    for what, apply in ("git am", tree.git_am), ("git quiltimport", tree.git_quiltimport):
        if apply == tree.git_quiltimport and not tree.has_quiltimport():
            tap.skip(f"git quiltimport applies the series to {where}", "git has it not here")
            print(f"### git quiltimport: NOT CHECKED on {where}: git has it not here",
                  file=sys.stderr)
            continue
        given = attempt(tap, f"{what} applies the series to {where}", tree.overlay,
                        base, scratch / "git", apply)
        if apply == tree.git_am and given is not None and base == layout.PRISTINE:
            tap.result("the hunks are as git writes them", [
                f"{name}: make refresh changes it" for name in gitform.stale(scratch / "git")])
        if quilt is not None and given is not None:
            tap.result(f"quilt and {what} give the same tree of {where}",
                       compare(quilt, given, ("quilt", what)))
    return quilt


def mailed(tap, scratch, quilt):
    """The mails, cover letter and all, give the same tree, too."""
    name = "git am of the mailbox gives the same tree"
    try:
        text = mail.mailbox()
        given = tree.overlay(layout.PRISTINE, scratch / "mail",
                             lambda place: tree.git_am(place, text))
    except (mail.MailError, tree.TreeError, OSError) as error:
        tap.result(name, [error])
        return
    tap.result(name, compare(quilt, given, ("quilt", "the mailbox")))


def told(tap, patches):
    """The maintainers of what each patch edits are named in it."""
    name = "Cc: lines are what get_maintainer.pl says"
    if not maintainers.base_is_distributed():
        tap.skip(name, "KDIR has a MAINTAINERS of its own")
        return
    try:
        stale = maintainers.stale(patches)
    except maintainers.MaintainersError as error:
        tap.result(name, [error])
        return
    tap.result(name, [f"{patch}: make maintainers changes it" for patch, _ in stale])


def failure(said):
    """Why a script failed: the last error that it told of, or else its last line."""
    lines = [line for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("### error: ")]
    return (errors or lines or ["it says nothing"])[-1].replace("### error: ", "")


def vanilla(tap, scratch):
    """The same on upstream's tree, if vanilla.sh can make one."""
    origin = layout.BUILD / "linux-pristine.origin"
    if origin.exists() and origin.read_text().startswith("tarball "):
        tap.skip(f"the series applies to vanilla {layout.BASE}.y", "the source is vanilla")
        return
    made = subprocess.run([str(layout.TOP / "scripts/series/vanilla.sh"), *tree.touched()],
                          check=False, text=True, errors="replace", stderr=subprocess.PIPE)
    if made.returncode:
        why = failure(made.stderr)
        tap.skip(f"the series applies to vanilla {layout.BASE}.y", why)
        print(f"### vanilla {layout.BASE}.y: NOT CHECKED. {why}", file=sys.stderr)
        return
    base = layout.BUILD / "vanilla/tree"
    where = "vanilla {}.{}.{}".format(*tree.version(base))
    apply_all(tap, scratch, base, where)


def main():
    tap = taps.Report()
    print("TAP version 13")
    tap.result("series, manifest and patches/ agree", listing())
    if tap.failed:
        sys.exit(1)
    try:
        chosen = layout.BASE
        stale = rules.stale(rules.every_base(layout.carried()))
        layout.choose(chosen)
        patches = list(tree.patches())
    except (tree.TreeError, manifest.ManifestError,
            patchfile.PatchError, layout.LayoutError) as error:
        tap.result("the patches and the manifest can be read", [error])
        sys.exit(1)
    tap.result("refresh would change nothing", stale)
    tap.result("the patches for every base change no file of the kernel's", common(patches))
    tap.result("each of our files is in one patch", homes(patches))
    tap.result("no patch builds what a later one adds", objects(patches))
    tap.result("no patch includes what a later one adds", includes(patches))
    for name, patch in patches:
        tap.result(f"{name} has a message", message(patch))
        if "--no-checkpatch" not in sys.argv[1:]:
            tap.result(f"{name} passes checkpatch", checkpatch.problems(name))
    told(tap, patches)
    with tempfile.TemporaryDirectory() as scratch:
        given = apply_all(tap, Path(scratch), layout.PRISTINE, "the source")
        if given is not None:
            tap.result("applying the series gives exactly our files",
                       gives_files(given, patches))
            mailed(tap, Path(scratch), given)
        vanilla(tap, Path(scratch))
    print(f"1..{tap.count}")
    sys.exit(1 if tap.failed else 0)


if __name__ == "__main__":
    main()
