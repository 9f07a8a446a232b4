# SPDX-License-Identifier: GPL-2.0
"""The expressions of print formats, evaluated as C does on a 64-bit machine.

An expression that needs more than a record (an address that is looked up, a name
that is no number) raises Unsupported.
"""

import operator
import re
from collections import namedtuple

from formats import WIDTHS

TOKEN = re.compile(r"""\s*(?:
    (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*) |
    (?P<word>[A-Za-z_]\w*) |
    (?P<string>"(?:[^"\\]|\\.)*") |
    (?P<char>'(?:[^'\\]|\\.)') |
    (?P<mark><<|>>|<=|>=|==|!=|&&|\|\||->|.)
)""", re.X | re.S)
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'", "0": "\0"}

# A number of C; text and lists of numbers stand for themselves.
Int = namedtuple("Int", "value bits signed")
# An array: its elements, and the bytes of each.
Array = namedtuple("Array", "values width")


class Unsupported(Exception):
    """The part of a format or an expression that is not understood."""


def unquote(literal):
    """The text of a string literal."""
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]),
                  literal[1:-1], flags=re.S)


def tokens(text):
    """[(kind, text)]."""
    found = [(match.lastgroup, match[match.lastgroup])
             for match in TOKEN.finditer(text.strip()) if match.lastgroup]
    return [*found, ("end", "")]


def fit(value, bits, signed):
    """A number, as a type of C keeps it."""
    value &= (1 << bits) - 1
    if signed and value >> bits - 1:
        value -= 1 << bits
    return Int(value, bits, signed)


def promoted(number):
    """A number as an operand: one that is narrower than int becomes an int."""
    if not isinstance(number, Int):
        raise Unsupported("arithmetic with something that is no number")
    return number if number.bits >= 32 else Int(number.value, 32, True)


def _type_of(words):
    """(bits, signed) of a type's words; None for one that is not known."""
    name = " ".join(word for word in words if word not in ("const", "__force"))
    if "*" in words:
        return 64, False
    known = {"s8": True, "s16": True, "s32": True, "s64": True, "pid_t": True,
             "loff_t": True, "ssize_t": True, "time64_t": True}
    aliases = {"unsigned long int": "unsigned long", "long int": "long",
               "long unsigned int": "unsigned long", "bool": "bool",
               "__s32": "s32", "__s64": "s64", "ktime_t": "s64",
               "fmode_t": "u32", "umode_t": "u16", "blk_opf_t": "u32"}
    name = aliases.get(name, name)
    if name not in WIDTHS:
        return None
    signed = known.get(name, name in ("char", "signed char", "short", "int", "long",
                                      "long long"))
    return WIDTHS[name] * 8, signed


_BINARY = [["||"], ["&&"], ["|"], ["^"], ["&"], ["==", "!="],
           ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]]
_COMPARE = {"==": operator.eq, "!=": operator.ne, "<": operator.lt,
            ">": operator.gt, "<=": operator.le, ">=": operator.ge}
_PLAIN = {"|": operator.or_, "^": operator.xor, "&": operator.and_,
          "+": operator.add, "-": operator.sub, "*": operator.mul}


def truth(value):
    """Is it true, as C has it?"""
    return bool(promoted(value).value)


def binary(mark, left, right):
    """The result of an operator between two numbers."""
    left, right = promoted(left), promoted(right)
    if mark in ("<<", ">>"):
        shift = operator.lshift if mark == "<<" else operator.rshift
        return fit(shift(left.value, right.value & 63), left.bits, left.signed)
    bits = max(left.bits, right.bits)
    signed = all(side.signed for side in (left, right) if side.bits == bits)
    one, two = fit(left.value, bits, signed).value, fit(right.value, bits, signed).value
    if mark in _COMPARE:
        return Int(int(_COMPARE[mark](one, two)), 32, True)
    if mark in _PLAIN:
        return fit(_PLAIN[mark](one, two), bits, signed)
    if not two:
        raise Unsupported("division by zero")
    quotient = abs(one) // abs(two) * (1 if (one < 0) == (two < 0) else -1)
    return fit(quotient if mark == "/" else one - quotient * two, bits, signed)


class Parser:
    """One expression; makes a function of {field: value}, and collects fields."""

    def __init__(self, text, functions):
        self.tokens, self.at = tokens(text), 0
        self.functions = functions
        self.fields = set()

    def peek(self, ahead=0):
        """The text of a token to come."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][1]

    def take(self, expected=None):
        """(kind, text) of the next token."""
        kind, text = self.tokens[self.at]
        if expected is not None and text != expected or kind == "end":
            raise Unsupported(f"{text!r} where {expected!r} was expected")
        self.at += 1
        return kind, text

    def whole(self):
        """The function of all of it."""
        result = self.ternary()
        if self.peek():
            raise Unsupported(f"{self.peek()!r} behind an expression")
        return result

    def ternary(self):
        """a ? b : c"""
        condition = self.level(0)
        if self.peek() != "?":
            return condition
        self.take("?")
        yes = self.ternary()
        self.take(":")
        no = self.ternary()
        return lambda env: (yes if truth(condition(env)) else no)(env)

    def level(self, depth):
        """Operators of one precedence, from left to right."""
        if depth == len(_BINARY):
            return self.unary()
        left = self.level(depth + 1)
        while self.peek() in _BINARY[depth]:
            mark = self.take()[1]
            left = self.combine(mark, left, self.level(depth + 1))
        return left

    @staticmethod
    def combine(mark, left, right):
        """Of two functions, one."""
        if mark == "&&":
            return lambda env: Int(int(truth(left(env)) and truth(right(env))), 32, True)
        if mark == "||":
            return lambda env: Int(int(truth(left(env)) or truth(right(env))), 32, True)
        return lambda env: binary(mark, left(env), right(env))

    def unary(self):
        """Signs and casts before a primary expression."""
        if self.peek() in ("-", "~", "!", "+"):
            mark = self.take()[1]
            return self.signed(mark, self.unary())
        if self.peek() == "(":
            kind = self.cast()
            if kind:
                inner = self.unary()
                return lambda env: fit(promoted(inner(env)).value, *kind)
        return self.primary()

    @staticmethod
    def signed(mark, inner):
        """-x, ~x, !x, +x"""
        def value(env):
            number = promoted(inner(env))
            if mark == "!":
                return Int(int(not number.value), 32, True)
            changed = {"-": -number.value, "~": ~number.value}.get(mark, number.value)
            return fit(changed, number.bits, number.signed)
        return value

    def cast(self):
        """The type in parentheses here; None, and nothing taken, if there is none."""
        ahead, words = 1, []
        while self.tokens[min(self.at + ahead, len(self.tokens) - 1)][0] == "word" \
                or self.peek(ahead) == "*" and words:
            words.append(self.peek(ahead))
            ahead += 1
        if not words or self.peek(ahead) != ")" or words[0] == "REC":
            return None
        kind = _type_of(words)
        if not kind:
            raise Unsupported(f"the type {' '.join(words)}")
        self.at += ahead + 1
        return kind

    def primary(self):
        """A number, text, a field, a call, or something in parentheses."""
        kind, text = self.take()
        if text == "(":
            inner = self.ternary()
            self.take(")")
            return inner
        if kind == "number":
            return self.number(text)
        if kind == "string":
            return self.string(text)
        if text == "REC":
            self.take("->")
            return self.field(self.take()[1])
        if text == "sizeof":
            return self.sizeof()
        if kind == "word" and text in self.functions and self.peek() == "(":
            return self.functions[text](self)
        raise Unsupported(text)

    @staticmethod
    def number(text):
        """A literal: its suffix and its size tell its type."""
        digits = text.rstrip("uUlL")
        suffix = text[len(digits):].lower()
        octal = digits.startswith("0") and digits.isdigit() and len(digits) > 1
        value = int(digits, 8 if octal else 0)
        signed = "u" not in suffix
        bits = 64 if "l" in suffix or value >> (31 if signed and digits.isdigit()
                                                else 32) else 32
        if signed and value >> bits - 1:
            signed = False
        literal = Int(value, bits, signed)
        return lambda env: literal

    def string(self, text):
        """Literals one behind the other are one."""
        text = unquote(text)
        while self.tokens[self.at][0] == "string":
            text += unquote(self.take()[1])
        return lambda env: text

    def field(self, name):
        """A field's value."""
        if self.peek() in ("[", "->", "."):
            raise Unsupported("a part of a field")
        self.fields.add(name)
        return operator.itemgetter(name)

    def sizeof(self):
        """Of types alone."""
        kind = self.cast()
        if not kind:
            raise Unsupported("sizeof")
        size = Int(kind[0] // 8, 64, False)
        return lambda env: size
