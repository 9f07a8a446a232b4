# SPDX-License-Identifier: GPL-2.0
"""The language in which the kernel writes its memory model, linux-kernel.cat.

As much of it as that file and linux-kernel.bell use. A relation over events and a set
of events are classes of their own; a Model is a list of statements, and
allows() says whether it lets an execution be.
"""

import re
from pathlib import Path

TOKEN = re.compile(r"\s+|\(\*.*?\*\)|//[^\n]*|(?P<text>\"[^\"]*\")"
                   r"|(?P<name>'?[A-Za-z_][\w.]*(?:-[A-Za-z_]\w*)*)"
                   r"|(?P<op>\^-1|\|\||[(){}\[\]|;\\&*+?~=,0])", re.S)


class CatError(Exception):
    """What the file has that is not understood."""


class Events(frozenset):
    """A set of events."""


class Relation:
    """Pairs of events: a row of bits for each."""

    def __init__(self, rows):
        self.rows = tuple(rows)

    @classmethod
    def of(cls, size, pairs):
        rows = [0] * size
        for a, b in pairs:
            rows[a] |= 1 << b
        return cls(rows)

    def pairs(self):
        return [(a, b) for a, row in enumerate(self.rows)
                for b in range(len(self.rows)) if row >> b & 1]

    def __eq__(self, other):
        return isinstance(other, Relation) and self.rows == other.rows

    def __bool__(self):
        return any(self.rows)

    def __or__(self, other):
        return Relation(a | b for a, b in zip(self.rows, other.rows))

    def __and__(self, other):
        return Relation(a & b for a, b in zip(self.rows, other.rows))

    def __sub__(self, other):
        return Relation(a & ~b for a, b in zip(self.rows, other.rows))

    def then(self, other):
        rows = []
        for row in self.rows:
            out, i = 0, 0
            while row:
                if row & 1:
                    out |= other.rows[i]
                row >>= 1
                i += 1
            rows.append(out)
        return Relation(rows)

    def inverse(self):
        return Relation.of(len(self.rows), [(b, a) for a, b in self.pairs()])

    def closure(self):
        rows = list(self.rows)
        for k, _ in enumerate(rows):
            for i, row in enumerate(rows):
                if row >> k & 1:
                    rows[i] |= rows[k]
        return Relation(rows)

    def identity(self):
        return Relation(1 << i for i, _ in enumerate(self.rows))

    def irreflexive(self):
        return not any(row >> i & 1 for i, row in enumerate(self.rows))

    def acyclic(self):
        return self.closure().irreflexive()


class Parser:
    """Statements: (kind, ...) tuples. Expressions: functions of an environment."""

    def __init__(self, text, where):
        self.where = where
        self.tokens = []
        at = 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise CatError(f"{where}: {text[at:at + 30]!r}")
            if match.lastgroup:
                self.tokens.append(match.group(match.lastgroup))
            at = match.end()
        self.at = 0

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def next(self, want=None):
        token = self.peek()
        if token is None or (want and token != want):
            raise CatError(f"{self.where}: {token} instead of {want}")
        self.at += 1
        return token

    def take(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def statements(self):
        out = []
        while self.peek():
            word = self.next()
            if word.startswith('"'):
                continue
            if word in ("include", "instructions", "enum"):
                self.skip_declaration()
            elif word == "let":
                out.append(self.let())
            elif word in ("acyclic", "irreflexive", "empty", "flag"):
                out.append(self.check(word))
            else:
                raise CatError(f"{self.where}: statement {word}")
        return out

    def skip_declaration(self):
        """The tags and the instructions that carry them: the caller knows them."""
        depth = 0
        while self.peek():
            if depth == 0 and self.peek() in ("let", "include", "enum", "instructions",
                                              "flag", "acyclic", "empty", "irreflexive"):
                return
            depth += {"[": 1, "]": -1}.get(self.next(), 0)

    def check(self, word):
        flag = word == "flag"
        negated = flag and self.take("~")
        kind = self.next() if flag else word
        expression = self.expression()
        self.next("as")
        return ("flag" if flag else "check", kind, negated, expression, self.next())

    def let(self):
        recursive = self.take("rec")
        bindings = []
        while True:
            name, argument = self.next(), None
            if self.take("("):
                argument = self.next()
                self.next(")")
            self.next("=")
            bindings.append((name, argument, self.expression()))
            if not self.take("and"):
                return ("let", recursive, bindings)

    def expression(self):
        if self.take("let"):
            binding = self.let()
            self.next("in")
            body = self.expression()
            return lambda env: body(bind(binding, dict(env)))
        return self.binary(0)

    LEVELS = ["|", ";", "\\", "&", "*"]

    def binary(self, level):
        if level == len(self.LEVELS):
            return self.postfix()
        left = self.binary(level + 1)
        operator = self.LEVELS[level]
        while self.take(operator):
            left = self.pair(operator, left, self.binary(level + 1))
        return left

    @staticmethod
    def pair(operator, left, right):
        def union(env):
            a, b = left(env), right(env)
            return Events(a | b) if isinstance(a, Events) else a | b

        def both(env):
            a, b = left(env), right(env)
            return Events(a & b) if isinstance(a, Events) else a & b

        def minus(env):
            a, b = left(env), right(env)
            return Events(a - b) if isinstance(a, Events) else a - b

        return {
            "|": union, "&": both, "\\": minus,
            ";": lambda env: left(env).then(right(env)),
            "*": lambda env: Relation.of(env["#"], [(a, b) for a in left(env)
                                                    for b in right(env)]),
        }[operator]

    def starts_operand(self):
        token = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None
        keywords = ("let", "and", "in", "as", "acyclic", "irreflexive", "empty",
                    "flag", "include")
        return token is not None and token not in keywords and (
            token in ("(", "[", "~") or token[0].isalpha() or token[0] == "_")

    def postfix(self):
        inner = self.primary()
        while True:
            if self.take("?"):
                inner = (lambda f: lambda env: f(env) | f(env).identity())(inner)
            elif self.take("+"):
                inner = (lambda f: lambda env: f(env).closure())(inner)
            elif self.take("^-1"):
                inner = (lambda f: lambda env: f(env).inverse())(inner)
            elif self.peek() == "*" and not self.starts_operand():
                self.next()
                inner = (lambda f: lambda env:
                         f(env).closure() | f(env).identity())(inner)
            else:
                return inner

    def primary(self):
        if self.take("~"):
            inner = self.postfix()
            return lambda env: Events(env["_"] - inner(env))
        if self.take("["):
            inner = self.expression()
            self.next("]")
            return lambda env: Relation.of(env["#"], [(a, a) for a in inner(env)])
        if self.take("("):
            inner = self.expression()
            self.next(")")
            return inner
        name = self.next()
        if self.take("("):
            argument = self.expression()
            self.next(")")
            return lambda env: lookup(env, name)(argument(env))
        return lambda env: lookup(env, name)


def lookup(env, name):
    if name not in env:
        raise CatError(f"{name} is not known")
    return env[name]


def bind(statement, env):
    """Carry out a let, in env."""
    _, recursive, bindings = statement
    if not recursive:
        for name, argument, expression in bindings:
            if argument is None:
                env[name] = expression(env)
            else:
                env[name] = (lambda a, e: lambda value: e({**env, a: value}))(
                    argument, expression)
        return env
    # From nothing to what no longer changes. Which of them are sets is found
    # by trying.
    for name, _, _ in bindings:
        env[name] = Events() if "unmatched" in name and "-po" not in name \
            and "-to-" not in name else Relation([0] * env["#"])
    for _ in range(100):
        before = [env[name] for name, _, _ in bindings]
        for name, _, expression in bindings:
            env[name] = expression(env)
        if before == [env[name] for name, _, _ in bindings]:
            return env
    raise CatError("a recursive definition does not come to rest")


class Model:
    """The kernel's memory model, from the folder tools/memory-model."""

    def __init__(self, folder):
        self.statements = []
        for name in ("linux-kernel.bell", "linux-kernel.cat"):
            path = Path(folder) / name
            self.statements += Parser(path.read_text(), name).statements()

    def allows(self, env):
        """(whether this execution may be, the names of flags that it raises)"""
        env = dict(env)
        flags = []
        for statement in self.statements:
            if statement[0] == "let":
                bind(statement, env)
                continue
            what, kind, negated, expression, name = statement
            value = expression(env)
            holds = {"acyclic": lambda v: v.acyclic(),
                     "irreflexive": lambda v: v.irreflexive(),
                     "empty": lambda v: not v}[kind](value)
            if what == "check" and not holds:
                return False, []
            if what == "flag" and holds != negated:
                flags.append(name)
        return True, flags
