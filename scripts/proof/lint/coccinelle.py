# SPDX-License-Identifier: GPL-2.0
"""Coccinelle's rules: the kernel's own, and ours.

Each rule is a process; there are as many at a time as processors.
"""

import concurrent.futures
import os
import re
import signal
import subprocess
import tempfile

import findings
import layout
import manifest

RULES = "scripts/coccinelle"
OURS = f"{RULES}/etch/"
IN_OCAML = f"{RULES}/null/badzero.cocci"
# A file of C with lines that its rule has to report, marked.
PLANTED = layout.TOP / "scripts/proof/tests/cocci"
MARK = re.compile(r"/\* BAD \*/$")
INCLUDE = ("arch/um/include", "include", "include/uapi")
# A rule that takes more seconds of a processor has failed.
LIMIT = 400


def rules():
    """Paths of the rules in the kernel tree."""
    return sorted(str(file.relative_to(layout.LINUX))
                  for file in (layout.LINUX / RULES).rglob("*.cocci"))


def split():
    """(our rules, the kernel's)."""
    every = rules()
    return ([rule for rule in every if rule.startswith(OURS)],
            [rule for rule in every if not rule.startswith(OURS)])


def sources():
    """Our C files and headers, but for the selftests."""
    return [path for path in manifest.sources() if path.endswith((".c", ".h"))
            and not path.startswith("tools/testing/")]


def kind(rule):
    """What findings of a rule are called."""
    return f"coccinelle:{rule.removeprefix(RULES + '/').removesuffix('.cocci')}"


def spatch(rule, files, limit=LIMIT):
    """(findings, why it did not run) of a rule on files, paths in the kernel tree."""
    with tempfile.NamedTemporaryFile("w") as groups:
        # Each by itself, as coccicheck has them.
        groups.write("\n\n".join(map(str, files)))
        groups.flush()
        return spatch_groups(rule, groups.name, limit)


def spatch_groups(rule, groups, limit):
    """The same, of files that are listed in one, with empty lines between them."""
    text = (layout.LINUX / rule).read_text()
    options = " ".join(re.findall(r"^// Options:(.*)$", text, re.M)).split()
    # Other lanes may keep spatch from the processors for long, so its own time is limited.
    command = ["prlimit", f"--cpu={limit}:{limit + 5}", "spatch", "-D", "report",
               "--no-show-diff", "--very-quiet", "--cocci-file", rule, *options,
               *(word for path in INCLUDE for word in ("-I", path)),
               "--include", "include/linux/kconfig.h", "--file-groups", groups]
    try:
        result = subprocess.run(command, cwd=layout.LINUX, text=True, errors="replace",
                                check=False, timeout=10 * limit, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return [], f"it took more than {10 * limit} s"
    if result.returncode in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
        return [], f"it took more than {limit} s of a processor"
    trouble = re.search(r"^.*\b(?:EXN|exception|timeout)\b.*$", result.stdout, re.M)
    if result.returncode or trouble:
        return [], f"status {result.returncode}: {result.stdout.strip()}"
    return findings.parse(kind(rule), findings.COCCINELLE, result.stdout), None


def all_rules(run):
    """(rule, findings, why it did not run) of each, as it ends."""
    files = sources()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        started = {rule: pool.submit(spatch, rule, files) for rule in run}
        for rule, future in started.items():
            yield (rule, *future.result())


def marked(file):
    """The numbers of the lines that have to be reported."""
    return [number for number, line in enumerate(file.read_text().splitlines(), 1)
            if MARK.search(line)]


def planted(rule):
    """What one of our rules reports too much or too little of the file made for it."""
    file = PLANTED / os.path.basename(rule).replace(".cocci", ".c")
    if not file.exists():
        return [f"there is no {file.name} for it to be tried with"]
    found, why = spatch(rule, [file])
    if why:
        return [why]
    wanted, got = marked(file), sorted(finding.line for finding in found)
    if not wanted:
        return [f"{file.name} has no line to report"]
    return ([f"{file.name}:{line}: not reported" for line in wanted if line not in got]
            + [f"{file.name}:{line}: reported" for line in got if line not in wanted])
