# SPDX-License-Identifier: GPL-2.0
"""What the heads of include/trace/etch/ say that an event expands into is what
the preprocessor makes of it, token by token."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import layout

TOP = pathlib.Path(__file__).resolve().parents[3]
ETCH = TOP / "include-trace/trace/etch"
# The verbs of TP_printk() and TP_fast_assign() are the kernel's.
LINUX = [layout.PRISTINE / "include", layout.LINUX / "include"]

FILES = ["struct", "lengths", "serializer", "printer", "fields", "event"]

# What define.h and define_trace.h have set up when the expansions are read.
FRAME = """
#define PARAMS(args...) args
#define TP_PROTO(args...) args
#define TP_ARGS(args...) args
#define __stringify_1(x...) #x
#define __stringify(x...) __stringify_1(x)
#define TRACE_SYSTEM sample
#define TRACE_INCLUDE(x) "sample.h"
#define DEFINE_EVENT(template, name, proto, args)
#define DEFINE_EVENT_PRINT(template, name, proto, args, print)
#define TRACE_EVENT(name, proto, args, tstruct, assign, print) \\
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), \\
			    PARAMS(tstruct), PARAMS(assign), PARAMS(print)) \\
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args));
#include <trace/stages/stage5_get_offsets.h>
#include <trace/etch/verbs.h>
"""


def head(name):
    """The comment that a file opens with, without its stars."""
    text = (ETCH / f"{name}.h").read_text()
    comment = re.search(r"/\*\n(.*?)\*/", text, re.S).group(1)
    return re.sub(r"^ \*", "", comment, flags=re.M)


def code_after(text, words):
    """The indented lines that follow these words, to the next prose."""
    rest = text[re.search(words, text).end():]
    lines = []
    for line in rest.split("\n")[1:]:
        if line.strip() and not line.startswith("\t"):
            break
        lines.append(line)
    return "\n".join(lines)


def tokens(code):
    """Tokens, with adjacent string literals joined, stray semicolons gone."""
    found = re.findall(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\w+|->|<<|>>|&&|[^\s\w]',
                       code)
    out = []
    for token in found:
        if token == ";" and out and out[-1] in (";", "}"):
            continue
        if token[0] == '"' and out and out[-1][0] == '"':
            out[-1] = out[-1][:-1] + token[1:]
        else:
            out.append(token)
    return out


def expand():
    """{file: what its expansions are} of the event in struct.h."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "sample.h").write_text(code_after(head("struct"), "This event"))
        (path / "all.c").write_text(FRAME + "".join(
            f"ETCH_FILE_{name}\n#include <trace/etch/{name}.h>\n"
            "#include <trace/etch/verbs.h>\n" for name in FILES))
        include = [f"-I{p}" for p in LINUX if p.is_dir()][:1]
        out = subprocess.run(["gcc", "-E", "-P", "-nostdinc", f"-I{path}",
                              f"-I{TOP / 'include-trace'}", *include,
                              str(path / "all.c")],
                             check=True, capture_output=True, text=True).stdout
    parts = re.split(r"ETCH_FILE_(\w+)", out)
    return dict(zip(parts[1::2], parts[2::2]))


class Expansions(unittest.TestCase):
    """One test for all files: they share one run of the preprocessor."""

    def test_heads_tell_the_truth(self):
        expanded = expand()
        for name in FILES:
            with self.subTest(file=f"{name}.h"):
                said = code_after(head(name), r"expands\s+into")
                self.assertTrue(said.strip(), "the head shows no expansion")
                self.assertEqual(tokens(said), tokens(expanded[name]))


if __name__ == "__main__":
    unittest.main()
