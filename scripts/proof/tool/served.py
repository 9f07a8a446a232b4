#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""served.py ETCH TRACE BUILD: does a browser get what etch view --perfetto serves?

The network is not asked: in Debian's Chromium, which playwright-core drives from BUILD/node, a page
of the origin https://ui.perfetto.dev stands in for Perfetto's, with its policy of what it
may connect to, and fetches the trace as that page does. A page of another origin may not. Prints
TAP.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "proof/ctf")]
sys.path.append(str(Path(__file__).resolve().parents[2] / "lib"))
import check
import view

HERE = Path(__file__).resolve().parent
SECONDS = 60


def served(etch, trace, build):
    """(what the pages got, what etch said, its status)."""
    with subprocess.Popen([etch, "view", "--perfetto", trace], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as process:
        try:
            said = []
            for line in process.stdout:
                said.append(line)
                address = re.match(r"https://\S+", line)
                if address:
                    break
            else:
                raise RuntimeError(f"no address: {said}")
            facts = json.loads(view.run(
                "node", HERE / "served.mjs", shutil.which("chromium"), address[0],
                env={**os.environ, "PLAYWRIGHT": str(view.playwright(build))}))
            said.append(process.communicate(timeout=SECONDS)[0])
        finally:
            process.kill()
    return facts, "".join(said), process.returncode


class Served:
    """Sentences on rules that do not hold."""

    def __init__(self, facts, said, status, wanted):
        self.right, self.foreign = facts["right"], facts["foreign"]
        self.said, self.status, self.wanted = said, status, wanted

    def fetched(self):
        """Perfetto's origin."""
        wrong = [] if self.right["origin"] == "https://ui.perfetto.dev" else [f"{self.right}"]
        trace = self.right["trace"]
        if trace.get("status") != 200 or trace.get("bytes") != len(self.wanted) or \
                trace.get("hash") != hashlib.sha256(self.wanted).hexdigest():
            wrong += [f"{trace}, of {len(self.wanted)} bytes", *self.right["complaints"]]
        return wrong

    def others(self):
        """For other addresses there is a status that the page can read: they have nothing."""
        return [f"{name}: {self.right[name]}" for name in ("status", "other")
                if self.right[name].get("status") != 404]

    def kept(self):
        """Another site's page."""
        wrong = [f"{name}: {self.foreign[name]}" for name in ("status", "other", "trace")
                 if self.foreign[name] != {"error": "TypeError"}]
        # For that reason, and not because the browser asked the user, say.
        reasons = sum("Access-Control-Allow-Origin" in text for text in self.foreign["complaints"])
        return wrong + ([] if reasons == 3 else self.foreign["complaints"])

    def ended(self):
        """Only Perfetto's page ends the wait."""
        return [] if self.status == 0 and self.said.endswith("Perfetto's page has the trace.\n") \
            else [f"status {self.status}: {self.said}"]


def main():
    etch, trace, build = (Path(word).resolve() for word in sys.argv[1:])
    report = check.Report()
    with tempfile.TemporaryDirectory(prefix="etch-served-") as scratch:
        wanted = Path(scratch) / "trace.pftrace"
        view.run(etch, "export", "-f", "perfetto", "-o", wanted, trace)
        found = Served(*served(etch, trace, build), wanted.read_bytes())
    report.case("a page of Perfetto's origin fetches the trace, byte for byte", found.fetched)
    report.case("it can read that there is nothing else at that port", found.others)
    report.case("a page of another origin gets nothing", found.kept)
    report.case("etch ends when Perfetto's page has the trace, and not before", found.ended)
    print(f"1..{report.count}")
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
