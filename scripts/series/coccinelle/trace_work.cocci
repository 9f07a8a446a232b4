// SPDX-License-Identifier: GPL-2.0
///
/// What is computed for an event alone is computed with the event off, too, unless
/// trace_NAME_enabled() is asked first. Found are local variables that nothing but
/// events is given, and that a function is called for; and arguments that read a clock
/// or a device, or make a text.
///
// Confidence: Moderate
// Comments: A function is taken for one that does nothing but compute, unless a word in
// Comments: its name says that it changes something; inline accessors are found, too,
// Comments: but for the most common. Who calls the whole function only with the event
// Comments: on is not seen.
// Options: --no-includes --include-headers

virtual report
virtual org

@initialize:python@
@@
import re

# The uses, values and so on of variables, with their places; those of one file.
seen = {}
# What loads or converts.
CHEAP = re.compile(r"[A-Z0-9_]+$|(\w+_)?to_\w+$|(atomic\w*|refcount|i_size)_read$"
		   r"|percpu_counter_read|container_of|rcu_dereference|\w+_cpu_ptr$"
		   r"|(min|max|fls|ffs|hweight)(_|\d|$)|sizeof$|folio_(pfn|pos)$"
		   r"|(file|d)_inode$|file_dentry$|sock_net$")
CHANGES = set(
	"acquire add alloc append apply call charge clear cmpxchg commit complete connect "
	"consume copy create dec del delete dequeue destroy disable discard disconnect do "
	"enable enqueue exchange exec fill flush free handle handler inc init insert "
	"invalidate invoke issue kick lock mark migrate move pop post process prepare pull "
	"push put queue reclaim recv receive register release remove reset resched resume "
	"run schedule send sendto set setup shrink start stop store submit suspend swap "
	"sync timeout track trylock unlock unmap update wait wake walk write writeback "
	"xchg".split())


def note(kind, name, places, what=None):
	"""Remember something of a variable, by the function that it is in."""
	for place in places:
		key = place.file, place.current_element, name
		seen.setdefault(key, {}).setdefault(kind, {})[
			int(place.line), int(place.column)] = place, what


def computes(value):
	"""Whether an expression calls functions, and all of them only compute."""
	called = [name for name in re.findall(r"\b([A-Za-z_]\w*) \(", value)
		  if not CHEAP.match(name)]
	# An assignment in it, or the address of a variable, to be filled.
	changes = re.search(r" (([-+*/%&|^]|<<|>>)?=|\+\+|--) |[(,] & \w+ [,)]", value)
	return bool(called) and not changes and not any(
		CHANGES.intersection(name.lower().split("_")) for name in called)


def asked(place, events):
	"""Whether one of these events was asked for further up in the function."""
	found = seen.get((place.file, place.current_element, None), {}).get("asked", {})
	return any(line <= int(place.line) and what in events
		   for (line, _), (_, what) in found.items())


def results():
	"""(place, text) of all that is found in a file, in order."""
	found = []
	for (_, _, name), kinds in seen.items():
		events = {what for _, what in kinds.get("given", {}).values()}
		for place, (event, called) in kinds.get("called", {}).values():
			if not asked(place, {event}):
				found.append((place, "%s() is for %s() alone" % (called, event)))
		values = list(kinds.get("value", {}).values())
		known = {where for kind in ("given", "value", "size")
			 for where in kinds.get(kind, {})}
		if "array" in kinds:
			values += kinds.get("filled", {}).values()
			known.update(kinds.get("filled", {}))
		if not events or not known.issuperset(kinds.get("use", {})):
			continue
		found += [(place, "%s is for %s() alone" % (name, min(events)))
			  for place, what in values
			  if (what is None or computes(what)) and not asked(place, events)]
	seen.clear()
	return [(place, "WARNING: %s, and computed with the event off, too" % text)
		for place, text in sorted(found, key=lambda one: int(one[0].line))]

@given depends on report || org@
identifier event =~ "^trace_(?!seq_|array_|print|puts|buffer_|event_|parser_|probe_|function|note$)";
local idexpression x;
position p;
@@

event(..., <+... x@p ...+>, ...);

@script:python@
event << given.event;
x << given.x;
p << given.p;
@@

note("given", x, p, event)

@use@
local idexpression given.x;
position p;
@@

x@p

@script:python@
x << given.x;
p << use.p;
@@

note("use", x, p)

@value@
local idexpression given.x;
assignment operator assign;
expression e;
position p;
@@

x@p assign e;

@script:python@
x << given.x;
p << value.p;
e << value.e;
@@

note("value", x, p, e)

@declared depends on given@
type T;
identifier x;
expression e;
position p;
@@

T x@p = e;

@script:python@
x << declared.x;
p << declared.p;
e << declared.e;
@@

note("value", x, p, e)

// A text is made in a buffer, which is of the function.
@array depends on given@
type T;
identifier x;
expression size;
position p;
@@

T x@p[size];

@script:python@
x << array.x;
p << array.p;
@@

note("array", x, p)

@filled@
local idexpression given.x;
identifier fills =~ "^(sn?printf|scnprintf|vsn?printf|vscnprintf|str[ln]?cpy|strscpy(_pad)?|hex_dump_to_buffer|bin2hex)$";
position p;
@@

fills(x@p, ...)

@script:python@
x << given.x;
p << filled.p;
@@

note("filled", x, p)

@size@
local idexpression given.x;
position p;
@@

sizeof(x@p)

@script:python@
x << given.x;
p << size.p;
@@

note("size", x, p)

@called depends on report || org@
identifier event =~ "^trace_(?!seq_|array_|print|puts|buffer_|event_|parser_|probe_|function|note$)";
identifier costs =~ "^(ktime_get(_[a-z_]+)?|(local|sched)_clock|rdtsc(_ordered)?|get_cycles|([a-z0-9_]+_)?(read[bwlq](_relaxed)?|(io)?read(8|16|32|64)(be)?)|k?v?a?sc?n?printf|d_path|file_path)$";
position p;
@@

event(..., <+... costs@p(...) ...+>, ...);

@script:python@
event << called.event;
costs << called.costs;
p << called.p;
@@

note("called", None, p, (event, costs))

@asked depends on given || called@
identifier enabled =~ "^trace_.*_enabled$";
position p;
@@

enabled@p(...)

@script:python@
enabled << asked.enabled;
p << asked.p;
@@

note("asked", None, p, enabled[:-len("_enabled")])

@asked_by_name depends on given || called@
identifier event;
position p;
@@

tracepoint_enabled@p(event)

@script:python@
event << asked_by_name.event;
p << asked_by_name.p;
@@

note("asked", None, p, "trace_" + event)

@script:python depends on report@
@@

for place, text in results():
	coccilib.report.print_report(place, text)

@script:python depends on org@
@@

for place, text in results():
	coccilib.org.print_todo(place, text)
