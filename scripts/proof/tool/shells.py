# SPDX-License-Identifier: GPL-2.0
"""What fish and zsh complete behind "etch"."""

import os
import subprocess

import layout
import terminal

_TOOLS = layout.TOP / "tools"
_EVENTS = ("other:odd_one", "sys:number", "sys:text")
# A line that is typed, and the line that a tab makes of it.
_SINGLE = (
    ("etch rep", "etch repair"),
    ("etch list -t tree oth", "etch list -t tree other"),
    ("etch list -t tree sys:nu", "etch list -t tree sys:number"),
    ("etch record -t tree -e sys:tex", "etch record -t tree -e sys:text"),
    ("etch record -t tree -e sys:text,other:o", "etch record -t tree -e sys:text,other:odd_one"),
    ("etch record -p sc", "etch record -p sched"),
    ("etch record -p sched,sy", "etch record -p sched,syscalls"),
    ("etch trace --tree tree -e sys:tex", "etch trace --tree tree -e sys:text"),
    ("etch record -m ov", "etch record -m overwrite"),
    ("etch record --o", "etch record --open"),
    ("etch show --fr", "etch show --from"),
    ("etch export -f sql", "etch export -f sqlite"),
    ("etch show trac", "etch show trace/"),
    ("./etch-record -p irq,bo", "./etch-record -p irq,boot"),
    ("etch help view", "etch help view"),
    ("etch record -e x -- cat trac", "etch record -e x -- cat trace/"),
)


def prepare(etch, folder):
    """Files as those of Etch's tree; a trace's folder; the program by both names."""
    for number, event in enumerate(_EVENTS, 1):
        system, _, name = event.partition(":")
        path = folder / "tree/events" / system
        path.mkdir(parents=True, exist_ok=True)
        with (path / "format").open("a") as formats:
            formats.write(f"name: {name}\nID: {number}\nformat:\n\nprint fmt: \"\"\n\n")
    (folder / "tree/available_events").write_text("".join(f"{event}\n" for event in _EVENTS))
    (folder / "tree/set_event").write_text("")
    (folder / "trace").mkdir()
    (folder / "trace/metadata").write_text("")
    for name in ("etch", "etch-record"):
        (folder / name).symlink_to(etch)


def _environment(folder):
    return {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb",
            "LANG": "C.UTF-8"}


def fish(folder):
    """Sentences on what fish offers otherwise."""
    wrong = []
    for typed, expected in _SINGLE:
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {_TOOLS}/etch-completion.fish; "
             "complete -C $argv[1]", typed], cwd=folder, env=_environment(folder), check=False,
            capture_output=True, text=True)
        offered = [line.split("\t")[0] for line in done.stdout.splitlines()]
        word = expected.rpartition(" ")[2]
        # fish offers more where a word goes on: other words that have it inside.
        if word not in offered or done.stderr:
            wrong.append(f"{typed!r}: {offered} for {word!r} {done.stderr}")
    return wrong


def zsh(folder):
    """Sentences on lines that a tab makes another of."""
    (folder / "_etch").write_text((_TOOLS / "etch-completion.zsh").read_text())
    lines, out = terminal.completed(
        ["zsh", "-f", "-i"], {**_environment(folder), "PS1": "", "PS2": ""},
        "unsetopt prompt_cr prompt_sp beep; setopt no_always_last_prompt; bindkey -e; "
        "setopt no_auto_remove_slash; fpath=($PWD $fpath); autoload -U compinit; compinit -u -D",
        [typed for typed, _ in _SINGLE], folder)
    wanted = [line for _, line in _SINGLE]
    return [] if lines == wanted else [
        f"{line!r} for {want!r}" for line, want in zip(lines, wanted) if line != want] or [
        f"{len(lines)} lines for {len(wanted)}: {out[-500:]!r}"]
