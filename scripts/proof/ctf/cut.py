# SPDX-License-Identifier: GPL-2.0
"""A file cut off at any length has all the packets that are whole.

babeltrace2 refuses a trace with a file that ends inside a packet. What it needs is the
file without its broken end: "etch-record -r" takes it off, and here packets.whole()
says what it has to leave.
"""

import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import babel
import packets

LENGTHS = 400
OPENED = 100
# More packets than that make it slow and nothing else.
PACKETS = 25


class Cut:
    """The longest file of a trace.

    recorder: the program etch-record, or None: then nothing is run to repair a file.
    """

    def __init__(self, folder, recorder=None):
        self.folder, self.recorder = folder, recorder
        self.path = max(folder.glob("cpu*"), key=lambda path: path.stat().st_size)
        data = self.path.read_bytes()
        self.packets = packets.packets(data)[0][:PACKETS]
        self.data = data[:self.packets[-1].end]
        self.note = "not read"

    def lengths(self, count):
        """Some of all kinds: around borders and headers, and anywhere."""
        chosen, chance = set(), random.Random(count)
        for packet in self.packets:
            for border in (packet.at, packet.at + packets.HEADER_BYTES, packet.content,
                           packet.end):
                chosen.update(length for length in range(border - 2, border + 3)
                              if 0 <= length <= len(self.data))
        while len(chosen) < count:
            chosen.add(chance.randrange(len(self.data) + 1))
        return sorted(chance.sample(sorted(chosen), count))

    def expected(self, length):
        """The packets whose content is there, counted by where they end."""
        return [packet for packet in self.packets if packet.content <= length]

    def repaired(self, folder, length):
        """The file cut off there, after it was repaired in a folder."""
        path = Path(folder) / "cpu0"
        if not self.recorder:
            path.write_bytes(packets.whole(self.data[:length]))
        else:
            path.write_bytes(self.data[:length])
            subprocess.run([self.recorder, "-q", "-r", folder], check=True,
                           stderr=subprocess.PIPE)
        return path.read_bytes()

    def anywhere(self):
        """Repairing leaves the packets whose content is there, and nothing else."""
        wrong = []
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(self.folder / "metadata", folder)
            for length in self.lengths(LENGTHS):
                data = self.repaired(folder, length)
                left, end = packets.packets(data)
                if [packet.header for packet in left] != [
                        packet.header for packet in self.expected(length)]:
                    wrong.append(f"{len(left)} packets in {length} bytes")
                if end != len(data):
                    wrong.append(f"a broken end is left of {length} bytes")
                if data != packets.whole(self.data[:length]):
                    wrong.append(f"other bytes than there were in {length}")
        return wrong

    def opens(self):
        """babeltrace2 gives each record of the whole packets, and no complaint."""
        wrong = []
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(self.folder / "metadata", folder)
            for length in self.lengths(OPENED):
                self.repaired(folder, length)
                count, said = babel.complaints(folder)
                records = sum(packet.header.records
                              for packet in self.expected(length))
                if said or count != records:
                    wrong.append(f"{length} bytes: {count} events for {records}; {said}")
        self.note = (f"{LENGTHS} lengths, {OPENED} of them opened by babeltrace2; "
                     f"repaired by {'etch-record -r' if self.recorder else 'ourselves'}")
        return wrong
