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


def picture(path, result):
    """Sentences on a picture without bars; result: where it goes."""
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
            subprocess.run(["xdotool", "key", "Return"], env=environment, check=False,
                           capture_output=True)
            time.sleep(1)
            done = subprocess.run(["import", "-window", "root", result], env=environment,
                                  check=False, capture_output=True)
            colours = 0 if done.returncode else _colours(result)
    return [] if colours >= _ENOUGH else [f"only {colours} bright colours in {result}"]
