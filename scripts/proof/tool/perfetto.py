# SPDX-License-Identifier: GPL-2.0
"""A trace of Perfetto, as protoc decodes it by perfetto.proto."""

import gzip
import re
import subprocess
from pathlib import Path

import truth

SUFFIX = ".pftrace"
_PROTO = Path(__file__).with_name("perfetto.proto")
_UNKNOWN = re.compile(rb"^ *\d+(?::| \{)", re.M)
_NAMES = {"print": "marker"}


def _protoc(what, data):
    done = subprocess.run(["protoc", f"--{what}=Trace", f"-I{_PROTO.parent}", _PROTO],
                          input=data, check=False, capture_output=True)
    if done.returncode:
        raise RuntimeError(done.stderr.decode()[-500:])
    return done.stdout


class Decoded:
    """The file's bytes, and its text."""

    def __init__(self, path):
        data = path.read_bytes()
        self.gzip = data[:2] == b"\x1f\x8b"
        self.data = gzip.decompress(data) if self.gzip else data
        self.text = _protoc("decode", self.data)

    def content(self):
        """The Content: records by bundles, losses by the slices on tracks."""
        return truth.Content(self._rows())

    def form(self):
        """Sentences on bytes that are not as protoc would write them."""
        wrong = [f"unknown field: {match[0]!r}" for match in _UNKNOWN.finditer(self.text)]
        if _protoc("encode", self.text) != self.data:
            wrong.append("protoc gives other bytes for the same message")
        return wrong

    def _rows(self):
        """Lines are read by their depth: packet, bundle, event."""
        cpu, ns, number, causes = None, None, 0, {}
        for line in self.text.decode("utf-8", "replace").splitlines():
            depth = (len(line) - len(line.lstrip())) // 2
            word, _, value = line.strip().partition(" ")
            if depth == 2 and word == "cpu:":
                cpu = int(value)
            elif depth == 3 and word == "timestamp:":
                ns = int(value)
            elif depth == 3 and value == "{" and ns is not None:
                name, ns, row = word, None, ns
                if name != "generic":
                    yield truth.Row(cpu, row, _NAMES.get(name, name))
            elif depth == 4 and word == "event_name:":
                yield truth.Row(cpu, row, value.strip('"'))
            elif depth == 3 and word == "uint_value:":
                number = int(value)
            elif depth == 3 and word == "name:" and number:
                causes[value.strip('"')] = number
                number = 0
            elif depth == 2 and word == "track_uuid:":
                lost = causes.pop("lost", 0)
                if lost != sum(causes.values()):
                    raise RuntimeError(f"{lost} lost, and by cause {causes}")
                if lost:
                    yield (int(value) - 0x65746368000001, lost)
                causes = {}

    def stats(self):
        """{cpu: lost}, by the last packet's sums."""
        found = {}
        for cpu, overrun, dropped in re.findall(
                rb"cpu: (\d+)\n +overrun: (\d+)\n +dropped_events: (\d+)", self.text):
            found[int(cpu)] = int(overrun) + int(dropped)
        return found
