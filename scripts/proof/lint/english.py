#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Sentences that hide their subject, in comments, pages, messages and patch messages.

  english.py [FILE|FOLDER...]    default: every file of the repository

A sentence names the actor: the writer, the reader, the caller, the CPU. Each finding is

  headless   a clause with "who", "whoever" or "what" in place of a noun: "who waits" for
             "a reader that waits". A question may begin so.
  passive    "had", "told" or "let" behind a form of "to be"
  person     a pronoun of persons, for code

The lines of a paragraph are joined first, because a clause may go over two of them.
"""

import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lib"))
import findings
import layout

VERB = (r"(?:is|are|was|were|has|have|had|wants?|waits?|reads?|writes?|turns|polls|dies|died|may|"
        r"must|can|cannot|does|did|comes?|came|goes|takes?|took|gives?|gave|needs?|asks?|opens?|"
        r"holds?|looks?|looked|makes?|made|knows?|knew|uses?|used|calls?|called|sees|saw|counts?|"
        r"adds?|finds?|gets?|keeps?|runs?|records?|starts?|stops?|changes?|frees|sets?|would|will|"
        r"might|should|could|lets?|left|stands?|stood|follows?|lies|lives|tells|told|says|said|"
        r"happens|happened|remains|fits|begins?|ends?|shows?|lost|there|never|only|also|still|"
        r"then|now|already|else|cuts?|puts?|sent|sends|maps?|closes|clears|empties|moves|splices|"
        r"traces)")
BEFORE = (r"(?:for|of|to|from|by|that|and|or|if|when|as|with|than|but|not|only|then|on|in|at|"
          r"after|before|while|let|lets|tells?|asks?|because|so|where)")
PATTERNS = {
    "headless": re.compile(
        r"(?:(?:^|[.:;,(/] |- )(?:who|Who|[Ww]hat|[Ww]hatever) " + VERB + r"\b"
        r"|\b(?:whoever|Whoever)\b|\b" + BEFORE + r" who " + VERB + r"\b"
        r"|\b" + BEFORE + r" (?:whatever|what) (?:is|are|was|were|has|had|comes|came|goes|stands|"
        r"stood|follows|lies|fits|happens|happened|remains|needs|must|can|cannot|may)\b)"),
    "passive": re.compile(r"\b(?:is|are|be|was|were|been|being) (?:had|told|let)\b"),
    "person": re.compile(r"\b(?:[Hh]e|[Hh]is|[Hh]im|[Hh]imself|[Ss]he)\b"),
}


SUFFIXES = (".c", ".h", ".py", ".sh", ".rst", ".md", ".patch", ".cocci", ".pml", ".config")
NAMES = ("README", "Kconfig", "Makefile")
NOT_CHECKED = ("scripts/proof/lint/english.py", "scripts/proof/tests/test_english.py")


def c_prose(text):
    """(line, words) of a C source's comments and strings."""
    for found in re.finditer(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", text, re.S):
        yield text.count("\n", 0, found.start()) + 1, found.group()


def python_prose(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield token.start[0], token.string


def hash_prose(text):
    """Lines of comments, and of what a shell script prints."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or '"' in line or "'" in line:
            yield number, line


def page_prose(text):
    for number, line in enumerate(text.splitlines(), 1):
        yield number, line


def patch_prose(text):
    """The message of a patch, and the comments in the lines that it adds to a file that is
    not ours; our files are checked themselves."""
    begin = re.search(r"^(?:---|diff )", text, re.M)
    end = begin.start() if begin else len(text)
    yield from page_prose(text[:end])
    # Other lines become empty, so that each comment keeps its number.
    body, ours = ["" for _ in text[:end].splitlines()], False
    for line in text[end:].splitlines():
        if line.startswith("+++ b/"):
            ours = layout.to_repo(line[6:]) is not None
        body.append(line[1:] if line[:1] == "+" and line[:3] != "+++" and not ours else "")
    yield from c_prose("\n".join(body))


def reader(path):
    if path.suffix in (".c", ".h", ".pml"):
        return c_prose
    if path.suffix == ".py":
        return python_prose
    if path.suffix == ".patch":
        return patch_prose
    if path.suffix in (".rst", ".md") or path.name in ("README", "Kconfig"):
        return page_prose
    return hash_prose


def paragraphs(pieces):
    """Join pieces that stand on lines one after another: [(text, [(offset, line)])]."""
    out, text, lines, last = [], "", [], None
    for number, piece in pieces:
        for offset, line in enumerate(piece.split("\n")):
            words = re.sub(r"^\s*(?:/\*+|\*+/?|//|#+:?|\.\.|\"+)?\s*|\s*(?:\*/|\"+|\\n\"?,?)?\s*$",
                           "", line)
            here = number + offset
            if text and (last is None or here > last + 1 or not words):
                out.append((text, lines))
                text, lines = "", []
            if words:
                text = f"{text} " if text else text
                lines.append((len(text), here))
                text += words
                last = here
    return out + ([(text, lines)] if text else [])


def is_question(text, start):
    end = re.search(r"[.?!:;](?:\s|$)", text[start + 2:])
    return bool(end) and end.group().startswith("?")


def problems(name):
    """The findings in a file, which is named by its path in the repository."""
    path = layout.TOP / name
    found = []
    for text, lines in paragraphs(reader(path)(path.read_text())):
        for kind, pattern in PATTERNS.items():
            for match in pattern.finditer(text):
                if kind == "headless" and (is_question(text, match.start())
                                           or match.group().startswith(", who")):
                    continue
                line = [at for offset, at in lines if offset <= match.start() + 2][-1]
                words = text[max(0, match.start() - 25):match.end() + 25]
                found.append(findings.Finding(f"english:{kind}", name, line, f"... {words} ..."))
    return found


def readable(name):
    """Whether a file of the repository is checked: not what checks it, nor what is not text."""
    path = Path(name)
    return (path.suffix in SUFFIXES or path.name in NAMES) and name not in NOT_CHECKED \
        and not (layout.TOP / name).is_symlink()


def files(names):
    """The files that git knows, of those named."""
    out = subprocess.run(["git", "-C", layout.TOP, "ls-files", "--", *names], check=True,
                         text=True, stdout=subprocess.PIPE).stdout
    return [name for name in out.splitlines() if readable(name)]


def main(names):
    found = [one for name in files(names) for one in problems(name)]
    for one in found:
        print(one)
    print(f"{len(found)} sentences hide their subject.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
