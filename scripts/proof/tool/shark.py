# SPDX-License-Identifier: GPL-2.0
"""KernelShark, on a screen that nobody sees: has its picture coloured bars?"""

import os
import re
import subprocess
import time
from contextlib import ExitStack

# Several lanes may do this at once.
_DISPLAY = f":{100 + os.getpid() % 800}"
_SECONDS = 40
_COLOUR = re.compile(r"#([0-9A-F]{2})([0-9A-F]{2})([0-9A-F]{2})\b")
# Bars are of many bright colours; the window and its buttons have a few.
_ENOUGH = 10


def _colours(picture):
    """How many bright colours a picture has."""
    text = subprocess.run(["convert", picture, "-depth", "8", "-unique-colors", "txt:"],
                          check=True, capture_output=True, text=True).stdout
    found = {tuple(int(each, 16) for each in match) for match in _COLOUR.findall(text)}
    return sum(max(each) - min(each) > 120 for each in found)


# Where the line of time is in its window, which no window manager makes larger.
_LEFT, _RIGHT, _ROW = 89, 611, 170


def _xdotool(environment, *words):
    """One step of a user's."""
    subprocess.run(["xdotool", *(str(word) for word in words)], env=environment, check=False,
                   capture_output=True)


def _shoot(environment, result):
    """Whether there is a picture."""
    return not subprocess.run(["import", "-window", "root", result], env=environment,
                              check=False, capture_output=True).returncode


def _zoom(environment, part, result):
    """Drags the mouse over a part; sentences if the picture stays as it is."""
    before = result.read_bytes()
    places = [_LEFT + round((_RIGHT - _LEFT) * each) for each in part]
    # It is slow to follow.
    for words in (["mousemove", places[0], _ROW], ["mousedown", 1],
                  ["mousemove", sum(places) // 2, _ROW], ["mousemove", places[1], _ROW],
                  ["mouseup", 1]):
        _xdotool(environment, *words)
        time.sleep(0.5)
    time.sleep(2)
    if not _shoot(environment, result) or result.read_bytes() == before:
        return ["dragging the mouse zooms to nothing"]
    return []


def picture(path, result, part=None):
    """Sentences on a picture without bars; result: where it goes.

    part: where to zoom to, as two numbers from 0 to 1.
    """
    environment = {**os.environ, "DISPLAY": _DISPLAY, "XDG_RUNTIME_DIR": str(path.parent),
                   "HOME": str(path.parent)}
    with ExitStack() as stack:
        for command in (["Xvfb", _DISPLAY, "-screen", "0", "1280x800x24"],
                        ["kernelshark", path]):
            program = stack.enter_context(subprocess.Popen(
                command, env=environment, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL))
            stack.callback(program.wait)
            stack.callback(program.kill)
            time.sleep(1)
        colours, end = 0, time.monotonic() + _SECONDS
        while colours < _ENOUGH and time.monotonic() < end:
            # It warns those who run it as root, and waits for a key.
            _xdotool(environment, "key", "Return")
            time.sleep(1)
            colours = _colours(result) if _shoot(environment, result) else 0
        if colours < _ENOUGH:
            return [f"only {colours} bright colours in {result}"]
        return _zoom(environment, part, result) if part else []
