# SPDX-License-Identifier: GPL-2.0
"""A database, as SQLite reads it."""

import heapq
import json
import sqlite3

import truth

_SIGN, _ALL = 1 << 63, 1 << 64


def _as_stored(value):
    """A value of babeltrace2's as the database has it."""
    if isinstance(value, list):
        return json.dumps(value, separators=(",", ":"))
    if isinstance(value, int) and value >= _SIGN:
        return value - _ALL
    return value


class Sqlite:
    """An open database."""

    def __init__(self, path):
        self.base = sqlite3.connect(path)
        self.names = {name for name, in self.base.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.content = truth.Content(self._rows())

    def _rows(self):
        records = self.base.execute(
            "SELECT common_time, common_cpu, event FROM records ORDER BY rowid")
        losses = self.base.execute(
            "SELECT common_time, common_cpu, lost FROM lost ORDER BY rowid")
        # Of a loss and a record at one time, the loss comes first.
        for time, cpu, what in heapq.merge(losses, records, key=lambda row: row[0]):
            yield truth.Row(cpu, time, what) if isinstance(what, str) else (cpu, what)

    def _table(self, event):
        """An event's table."""
        name = truth.bare(event)
        return name if name in self.names else event.replace(":", "_")

    def tables(self):
        """Sentences on tables with fewer or more records than there are."""
        wrong = []
        for event, count in self.base.execute(
                "SELECT event, count(*) FROM records GROUP BY event"):
            found, = self.base.execute(
                f'SELECT count(*) FROM "{self._table(event)}"').fetchone()
            if found != count:
                wrong.append(f"{event}: {found} for {count}")
        if "threads" not in self.names or not self.base.execute(
                "SELECT value FROM machine WHERE key = 'kernel_release'").fetchone():
            wrong.append("the machine or its threads are missing")
        return wrong

    def values(self, samples):
        """Sentences on records with other values."""
        wrong = []
        for (cpu, index), (fields, contexts) in samples.items():
            time, event = self.content.rows[cpu][index]
            rows = self.base.execute(f'SELECT * FROM "{self._table(event)}" WHERE'
                                     " common_time = ? AND common_cpu = ?", (time, cpu))
            names = [each[0] for each in rows.description]
            want = {name: _as_stored(value) for name, value in fields.items()}
            want.update((f"common_{name}", _as_stored(value))
                        for name, value in contexts.items())
            if not any(all(dict(zip(names, row))[name] == want[name] for name in want
                           if name in names) and set(names[5:]) <= set(want) for row in rows):
                wrong.append(f"{event} at {time}: no row {want}")
        return wrong
