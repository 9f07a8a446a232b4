# SPDX-License-Identifier: GPL-2.0
"""What a line of text says, and what a print format makes of a record's fields."""

import re
from collections import namedtuple

import cexpr
from cexpr import Array, Int, Unsupported, fit, promoted

# As etch_line_print() writes it.
_LINE = re.compile(r"^ *(.*)-(-?\d+) +\[(\d+)\] ([.a-zA-Z]{5}) +(\d+)\.(\d{6}): (.*)$",
                   re.S)
_START = re.compile(r"^ *.*-\d+ +\[\d{3,}\] [.a-zA-Z]{5} +\d+\.\d{6}: ")
_CONVERSION = re.compile(r"%([-+ #0]*)(\d*|\*)(?:\.(\d*|\*))?(hh|h|ll|l|L|z|t|j)?(.)",
                         re.S)
_POINTER_KIND = re.compile(r"p(?:[sS]R?|[hbtd]\w*|I[46]\w*|i[46]\w*|ISp?f?s?c?|M\w?|m\w?"
                           r"|U\w|V|K|x|e|f\w*|d\d?|D\d?|g|G\w?|O\w*|B|R|r|C\w?|N\w?|a\w?|"
                           r"4cc|E\w*|Id)?")
_BITS = {"hh": 8, "h": 16, None: 32}

# us: microseconds.
Line = namedtuple("Line", "comm pid cpu flags us body")
# A part of a print format: text, or a conversion and the value it is given.
Part = namedtuple("Part", "text spec value fields")


def lines(text):
    """The records' lines, those of more than one line together."""
    whole = []
    for line in text.split("\n"):
        if _START.match(line):
            whole.append(line)
        elif whole and not line.startswith("CPU:"):
            whole[-1] += "\n" + line
    return whole


def parse(line):
    """A Line; None if it is not one."""
    match = _LINE.match(line)
    if not match:
        return None
    comm, pid, cpu, flags, seconds, us, body = match.groups()
    return Line(comm, int(pid), int(cpu), flags, int(seconds) * 1000000 + int(us),
                body.rstrip("\n"))


_FLAGS = re.compile(r"\b__print_flags(?:_u64)?\(([^\",]*),")


def flags(layout):
    """The names of a format's numbers that __print_flags() is given."""
    used = set(re.findall(r"\bREC->(\w+)", " ".join(_FLAGS.findall(layout.print))))
    return {field.name for field in layout.fields if field.number and field.name in used}


# ---- The functions of print formats ----

def _arguments(parser):
    """The functions of a call's arguments, lists of names apart."""
    plain, table = [], []
    parser.take("(")
    while parser.peek() != ")":
        if parser.peek() == "{":
            parser.take("{")
            key = parser.ternary()
            parser.take(",")
            table.append((key, parser.ternary()))
            parser.take("}")
        else:
            plain.append(parser.ternary())
        if parser.peek() != ")":
            parser.take(",")
    parser.take(")")
    return plain, table


def _field_call(make):
    """A function of one field's name."""
    def call(parser):
        parser.take("(")
        name = parser.take()[1]
        parser.take(")")
        parser.fields.add(name)
        return lambda env: make(env[name])
    return call


def _bitmask(value):
    """As %*pb: 32 bits at a time, those of most value first."""
    words = []
    for word in value.values:
        for shift in range(0, value.width * 8, 32):
            words.append(f"{word >> shift & 0xffffffff:08x}")
    return ",".join(reversed(words))


def _number(env, function):
    """A function's number, as 64 bits without a sign."""
    return promoted(function(env)).value & (1 << 64) - 1


def _symbolic(parser):
    """__print_symbolic(): the name of one value."""
    (value,), table = _arguments(parser)

    def text(env):
        number = _number(env, value)
        for key, name in table:
            if _number(env, key) == number:
                return name(env)
        return f"0x{number:x}"
    return text


def _flags(parser):
    """__print_flags(): the names of the bits, and the other bits as a number."""
    (value, delimiter), table = _arguments(parser)

    def text(env):
        left, names = _number(env, value), []
        for key, name in table:
            mask = _number(env, key)
            if not left:
                break
            if left & mask == mask:
                names.append(name(env))
                left &= ~mask
        if left:
            names.append(f"0x{left:x}")
        return delimiter(env).join(names)
    return text


def _octets(array):
    """The bytes of an array."""
    if not isinstance(array, Array):
        raise Unsupported("no array")
    return b"".join((value & (1 << array.width * 8) - 1).to_bytes(array.width, "little")
                    for value in array.values)


def _hex(separator):
    """__print_hex() and __print_hex_str()."""
    def make(parser):
        (array, count), _ = _arguments(parser)
        return lambda env: separator.join(
            f"{octet:02x}" for octet in _octets(array(env))[:_number(env, count)])
    return make


def _array(parser):
    """__print_array()."""
    (array, count, width), _ = _arguments(parser)

    def text(env):
        octets, size = _octets(array(env)), _number(env, width)
        return "{" + ",".join(
            f"0x{int.from_bytes(octets[i * size:(i + 1) * size], 'little'):x}"
            for i in range(_number(env, count))) + "}"
    return text


def _as_text(value):
    """The value, which must be text."""
    if not isinstance(value, str):
        raise Unsupported("no text")
    return value


def _bytes_of(value):
    """How many bytes an array has; text hides what is behind its end."""
    if not isinstance(value, Array):
        raise Unsupported("the length of text")
    return Int(len(value.values) * value.width, 32, True)


FUNCTIONS = {
    "__get_str": _field_call(_as_text), "__get_rel_str": _field_call(_as_text),
    "__get_bitmask": _field_call(_bitmask), "__get_cpumask": _field_call(_bitmask),
    "__get_rel_bitmask": _field_call(_bitmask),
    "__get_rel_cpumask": _field_call(_bitmask),
    "__get_dynamic_array": _field_call(lambda value: value),
    "__get_rel_dynamic_array": _field_call(lambda value: value),
    "__get_dynamic_array_len": _field_call(_bytes_of),
    "__get_rel_dynamic_array_len": _field_call(_bytes_of),
    "__print_symbolic": _symbolic, "__print_symbolic_u64": _symbolic,
    "__print_flags": _flags, "__print_flags_u64": _flags,
    "__print_hex": _hex(" "), "__print_hex_str": _hex(""), "__print_array": _array,
}


# ---- Print formats ----

def _split(text):
    """A print format's literal, and its arguments as text."""
    depth, parts, start = 0, [], 0
    spans = [(match.lastgroup, match.start(match.lastgroup), match.end(match.lastgroup))
             for match in cexpr.TOKEN.finditer(text) if match.lastgroup]
    for _, at, end in spans:
        mark = text[at:end]
        depth += mark in ("(", "{") and 1 or mark in (")", "}") and -1 or 0
        if mark == "," and not depth:
            parts.append(text[start:at])
            start = end
    return [*parts, text[start:]]


def form_of(layout):
    """How its lines are printed: system calls are not printed as their format says, nor are
    the addresses of probes."""
    if layout.fields and layout.fields[0].name.startswith("__probe_"):
        head, mark, rest = layout.print.partition(")")
        return head.replace("%lx", "%px") + mark + rest
    if layout.system != "syscalls":
        return layout.print
    what, _, name = layout.name.removeprefix("sys_").partition("_")
    if what == "exit":
        return f'"sys_{name} -> 0x%lx", REC->ret'
    names = [field.name for field in layout.fields[1:]]
    shown = ", ".join(f"{each}: %lx" for each in names)
    return f'"sys_{name}({shown})"' + "".join(f", REC->{each}" for each in names)


class Print:
    """A print format, ready to be held against lines."""

    def __init__(self, text):
        literal, *arguments = _split(text)
        parts = cexpr.tokens(literal)
        if any(kind != "string" for kind, _ in parts[:-1]):
            raise Unsupported("a print format that is not a literal")
        self.parts = []
        self._cut("".join(cexpr.unquote(part) for _, part in parts[:-1]), arguments)

    def _cut(self, literal, arguments):
        """The literal, in parts."""
        at, arguments = 0, list(arguments)
        while at < len(literal):
            percent = literal.find("%", at)
            if percent < 0:
                percent = len(literal)
            if percent > at:
                self.parts.append(Part(literal[at:percent], None, None, None))
                at = percent
                continue
            match = _CONVERSION.match(literal, at)
            if not match or "*" in (match[2], match[3]):
                raise Unsupported(literal[at:])
            at = match.end()
            if match[5] == "%":
                self.parts.append(Part("%", None, None, None))
                continue
            if match[5] == "p":
                at = _POINTER_KIND.match(literal, match.end() - 1).end()
            self.parts.append(self._part(match, arguments))

    @staticmethod
    def _part(match, arguments):
        """A conversion; one that cannot be evaluated has no value."""
        if not arguments:
            raise Unsupported("fewer arguments than conversions")
        parser = cexpr.Parser(arguments.pop(0), FUNCTIONS)
        try:
            value = parser.whole()
        except (Unsupported, ValueError):
            value = None
        if match[5] == "p":
            value = None
        return Part(None, match.groups(), value, frozenset(parser.fields))

    def pieces(self, env):
        """(text, or None if it is not known; its fields) of each part."""
        for part in self.parts:
            if part.text is not None:
                yield part.text, ()
                continue
            try:
                yield convert(part.spec, part.value(env)), part.fields
            except (Unsupported, KeyError, TypeError):
                yield None, ()

    def agrees(self, env, body):
        """The fields that a line's text shows as they are; None if it does not."""
        shown, chunks, chunk = set(), [], ""
        for text, fields in self.pieces(env):
            if text is None:
                chunks.append(chunk)
                chunk = ""
            else:
                chunk += text
                shown.update(fields)
        chunks.append(chunk.rstrip("\n"))
        return shown if _in_order(chunks, body) else None


def _in_order(chunks, body):
    """Is the body these chunks with anything between them?"""
    if len(chunks) == 1:
        return body.rstrip("\n") == chunks[0]
    first, *middle, last = chunks
    if not body.startswith(first) or not body.endswith(last):
        return False
    at, end = len(first), len(body) - len(last)
    for chunk in middle:
        at = body.find(chunk, at, end)
        if at < 0:
            return False
        at += len(chunk)
    return at <= end


def convert(spec, value):
    """One conversion, as the kernel's printf does it."""
    flags, width, precision, length, kind = spec
    if kind == "s":
        text = _as_text(value)
        if precision is not None:
            text = text[:int(precision or 0)]
    elif kind == "c":
        text = chr(promoted(value).value & 0xff)
        if text == "\0":
            raise Unsupported("a zero in text")
    elif kind in "diuxXo":
        number = fit(promoted(value).value, _BITS.get(length, 64), kind in "di").value
        template = f"%{flags}{width}" + ("" if precision is None else f".{precision}")
        text = f"{template}{'d' if kind in 'diu' else kind}" % number
        return text
    else:
        raise Unsupported(kind)
    width = int(width or 0)
    return text.ljust(width) if "-" in flags else text.rjust(width)
