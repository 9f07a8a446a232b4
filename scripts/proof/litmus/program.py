# SPDX-License-Identifier: GPL-2.0
"""A litmus test in the kernel's format, and all that its threads could do.

As much of the C dialect as herd7 reads for the kernel as our tests need, and most of
those in tools/memory-model. Unsupported is what says that a test has more.
"""

import itertools
import re

LINE = re.compile(r"\(\*(?=\s).*?\*\)|//[^\n]*", re.S)
WORD = re.compile(r"\s*(==|!=|/\\|\\/|->|&&|[A-Za-z_]\w*|\d+|\S)")
FENCES = {"smp_mb": "Mb", "smp_rmb": "Rmb", "smp_wmb": "Wmb", "barrier": "Barrier",
          "smp_mb__before_atomic": "Before-atomic",
          "smp_mb__after_atomic": "After-atomic", "rcu_read_lock": "Rcu-lock",
          "rcu_read_unlock": "Rcu-unlock", "synchronize_rcu": "Sync-rcu"}
LOADS = {"READ_ONCE": "Once", "smp_load_acquire": "Acquire",
         "rcu_dereference": "Once", "atomic_read": "Once"}
STORES = {"WRITE_ONCE": "Once", "smp_store_release": "Release",
          "rcu_assign_pointer": "Release", "atomic_set": "Once"}
# What orders a compare-and-exchange that succeeds: a fence on both sides, or its read's tag.
EXCHANGES = {"cmpxchg": "Mb", "cmpxchg_acquire": "Acquire", "cmpxchg_relaxed": "Once"}
# Those whose first argument is written *x: the place itself, not where it is.
BY_NAME = ("READ_ONCE", "WRITE_ONCE", "rcu_dereference", "rcu_assign_pointer")


class Unsupported(Exception):
    """What the test has that this checker does not know."""


class Event:
    """One access or fence of a thread."""

    def __init__(self, kind, tag, loc=None, value=None):
        self.kind, self.tag, self.loc, self.value = kind, tag, loc, value
        self.addr, self.data, self.ctrl = set(), set(), set()
        self.rmw = None         # of a write: the place of its read in the thread
        self.atomic = False     # of an atomic operation, even of one that failed


def words(text):
    return WORD.findall(text.strip())


class Parser:
    """Statements of a thread: nested tuples."""

    def __init__(self, text):
        self.tokens = words(text)
        self.at = 0

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else None

    def next(self, want=None):
        token = self.peek()
        if token is None or (want and token != want):
            raise Unsupported(f"{token} where {want} was expected")
        self.at += 1
        return token

    def take(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def block(self):
        out = []
        while self.peek() not in (None, "}"):
            statement = self.statement()
            if statement:
                out.append(statement)
        return out

    def body(self):
        if self.take("{"):
            out = self.block()
            self.next("}")
            return out
        return [self.statement()]

    def statement(self):
        word = self.peek()
        if word == "if":
            self.next()
            self.next("(")
            condition = self.expression()
            self.next(")")
            then = self.body()
            return ("if", condition, then, self.body() if self.take("else") else [])
        if word in ("int", "u64", "unsigned"):
            self.next()
            while self.take("*"):
                pass
            if self.peek(1) != "=":
                self.next()
                self.next(";")
                return None
        if self.peek() == "*":
            self.next()
            place = ("name", self.next())
            self.next("=")
            out = ("store", "Plain", place, self.expression())
        elif self.peek(1) == "=":
            name = self.next()
            self.next("=")
            out = ("set", name, self.expression())
        else:
            out = self.call()
        self.next(";")
        return out

    def call(self):
        name = self.next()
        arguments = self.arguments(name)
        if name in FENCES:
            return ("fence", FENCES[name])
        if name in STORES:
            return ("store", STORES[name], arguments[0], arguments[1])
        if name == "atomic_inc":
            return ("inc", arguments[0])
        if name in EXCHANGES:
            return ("set", "_", ("cmpxchg", EXCHANGES[name], *arguments))
        raise Unsupported(f"{name}()")

    def arguments(self, name):
        out = []
        self.next("(")
        while not self.take(")"):
            if name in BY_NAME and not out:
                self.next("*")
            out.append(self.expression())
            self.take(",")
        return out

    def expression(self):
        left = self.term()
        while self.peek() in ("==", "!=", "+", "&&"):
            left = (self.next(), left, self.term())
        return left

    def term(self):
        word = self.next()
        if word == "(":
            inner = self.expression()
            self.next(")")
            return inner
        if word == "!":
            return ("==", self.term(), ("number", 0))
        if word == "*":
            return ("load", "Plain", ("name", self.next()))
        if word.isdigit():
            return ("number", int(word))
        if self.peek() == "(":
            arguments = self.arguments(word)
            if word in LOADS:
                return ("load", LOADS[word], arguments[0])
            if word in EXCHANGES:
                return ("cmpxchg", EXCHANGES[word], *arguments)
            raise Unsupported(f"{word}()")
        return ("name", word)


class Thread:
    """What one thread may do: each way that its loads could turn out."""

    def __init__(self, arguments, text):
        self.places = arguments
        parser = Parser(text)
        self.program = parser.block()

    def runs(self, values):
        """(events, registers) for each choice of values read."""
        out = []
        choices = [[]]
        while choices:
            chosen = choices.pop()
            run = Run(self, chosen)
            run.block(self.program)
            if run.wanted:
                choices += [chosen + [value] for value in values]
            else:
                out.append((run.events, run.registers))
        return out


class Run:
    """One run, with the values given for its first loads; wanted: one is missing."""

    def __init__(self, thread, values):
        self.thread, self.values = thread, list(values)
        self.events, self.registers, self.taint = [], {}, {}
        self.ctrl = set()
        self.wanted = False

    def add(self, event, addr=(), data=()):
        event.addr, event.data, event.ctrl = set(addr), set(data), set(self.ctrl)
        self.events.append(event)
        return len(self.events) - 1

    def read(self, loc, tag, addr):
        if not self.values:
            self.wanted = True
            return 0, set()
        event = Event("R", tag, loc, self.values.pop(0))
        return event.value, {self.add(event, addr)}

    def block(self, statements):
        for statement in statements:
            if self.wanted:
                return
            getattr(self, "do_" + statement[0])(*statement[1:])

    def do_if(self, condition, then, other):
        value, taint = self.value(condition)
        saved, self.ctrl = self.ctrl, self.ctrl | taint
        if not self.wanted:
            self.block(then if value else other)
        self.ctrl = saved

    def do_fence(self, tag):
        self.add(Event("F", tag))

    def do_set(self, name, expression):
        value, taint = self.value(expression)
        self.registers[name], self.taint[name] = value, taint

    def do_store(self, tag, place, expression):
        loc, addr = self.value(place)
        value, data = self.value(expression)
        if not self.wanted:
            self.add(Event("W", tag, loc, value), addr, data)

    def do_inc(self, place):
        loc, addr = self.value(place)
        value, taint = self.read(loc, "Noreturn", addr)
        if not self.wanted:
            event = Event("W", "Once", loc, value + 1)
            event.rmw = max(taint)
            self.add(event, addr, taint)

    def cmpxchg(self, order, place, old, new):
        """Ordered if it succeeds, not at all if it fails. order: of EXCHANGES."""
        loc, addr = self.value(place)
        expected, _ = self.value(old)
        value, data = self.value(new)
        if not self.values:
            self.wanted = True
            return 0, set()
        if self.values[0] != expected:
            found, taint = self.read(loc, "Once", addr)
            self.events[-1].atomic = True
            return found, taint
        if order == "Mb":
            self.do_fence("Mb")
        found, taint = self.read(loc, "Once" if order == "Mb" else order, addr)
        event = Event("W", "Once", loc, value)
        event.rmw = max(taint)
        self.add(event, addr, data)
        if order == "Mb":
            self.do_fence("Mb")
        return found, taint

    def value(self, expression):
        """(value, the reads that it depends on)"""
        kind = expression[0]
        if kind == "number":
            return expression[1], set()
        if kind == "name":
            name = expression[1]
            if name in self.registers:
                return self.registers[name], self.taint[name]
            if name in self.thread.places:
                return "&" + name, set()
            raise Unsupported(f"name {name}")
        if kind == "load":
            loc, addr = self.value(expression[2])
            return (0, set()) if self.wanted else self.read(loc, expression[1], addr)
        if kind == "cmpxchg":
            return self.cmpxchg(*expression[1:])
        a, left = self.value(expression[1])
        b, right = self.value(expression[2])
        result = {"==": lambda: int(a == b), "!=": lambda: int(a != b),
                  "+": lambda: a + b if isinstance(a, int) and isinstance(b, int) else 0,
                  "&&": lambda: int(bool(a) and bool(b))}[kind]()
        return result, left | right


class Test:
    """A litmus test."""

    def __init__(self, text):
        match = re.match(r"C\s+(\S+)", text)
        if not match:
            raise Unsupported("no name")
        self.name = match.group(1)
        self.text = text
        self.head = "\n".join(LINE.findall(text))
        body = LINE.sub("", text[match.end():])
        found = re.search(r"Result:\s*(\w+)", self.head)
        self.expected = found and found.group(1)
        self.init = self.read_init(re.search(r"\{(.*?)\}", body, re.S).group(1))
        self.threads = [self.read_thread(thread) for thread in re.findall(
            r"^P\d+\((.*?)\)\s*\{(.*?)^\}", body, re.S | re.M)]
        if re.search(r"^filter", body, re.M):
            raise Unsupported("filter")
        self.condition = Condition(re.search(r"exists\s*(.*)", body, re.S).group(1))

    @staticmethod
    def read_init(text):
        out = {}
        for part in filter(str.strip, text.split(";")):
            match = re.fullmatch(r"\s*(?:int\s*|u64\s*)?\**\s*(\w+)\s*(?:=\s*(&?\w+)\s*)?",
                                 part)
            if not match:
                raise Unsupported("init: " + part.strip())
            value = match.group(2) or "0"
            out["&" + match.group(1)] = int(value) if value.isdigit() \
                else "&" + value.lstrip("&")
        return out

    @staticmethod
    def read_thread(match):
        arguments, text = match
        if "spinlock" in arguments:
            raise Unsupported("spinlocks")
        return Thread([words(part)[-1] for part in arguments.split(",")], text)

    def places(self):
        out = {"&" + place for thread in self.threads for place in thread.places}
        return sorted(out | set(self.init))

    def initial(self, place):
        return self.init.get(place, 0)

    def all_runs(self):
        """For each thread its runs, with all values that a load could meet."""
        values = {self.initial(place) for place in self.places()}
        while True:
            runs = [thread.runs(sorted(values, key=str)) for thread in self.threads]
            found = {event.value for some in runs for events, _ in some
                     for event in events if event.kind == "W"}
            if found <= values:
                return runs
            if len(values) > 12:
                raise Unsupported("too many values")
            values |= found


class Condition:
    """The condition behind the word exists."""

    def __init__(self, text):
        self.tokens = words(text)
        self.tree = self.either()

    def either(self):
        out = [self.both()]
        while self.tokens and self.tokens[0] == "\\/":
            self.tokens.pop(0)
            out.append(self.both())
        return ("or", out)

    def both(self):
        out = [self.atom()]
        while self.tokens and self.tokens[0] == "/\\":
            self.tokens.pop(0)
            out.append(self.atom())
        return ("and", out)

    def atom(self):
        word = self.tokens.pop(0)
        if word == "(":
            inner = self.either()
            self.tokens.pop(0)
            return inner
        thread = None
        if self.tokens[0] == ":":
            self.tokens.pop(0)
            thread, word = int(word), self.tokens.pop(0)
        self.tokens.pop(0)
        value = self.tokens.pop(0)
        return ("is", thread, word, int(value) if value.isdigit() else "&" + value)

    def holds(self, registers, memory, tree=None):
        tree = tree or self.tree
        if tree[0] == "is":
            _, thread, name, value = tree
            if thread is None:
                return memory["&" + name] == value
            return registers[thread].get(name) == value
        some = any if tree[0] == "or" else all
        return some(self.holds(registers, memory, part) for part in tree[1])


def orders(writes):
    """The orders in which the writes to one place can come."""
    return itertools.permutations(writes)
