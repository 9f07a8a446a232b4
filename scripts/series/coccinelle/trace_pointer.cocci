// SPDX-License-Identifier: GPL-2.0
///
/// TP_printk() runs when a record is read. What a pointer in the record leads to may
/// be gone by then: a text has to be kept with __string(), bytes with an array. Found
/// are fields whose address TP_printk() follows, by %s, by %pM and its like, by ->,
/// [] or *, and those that it hands to a function.
///
// Confidence: Moderate
// Comments: An event's parts are no C. They are read here, and not matched, so that
// Comments: only what stands in the event itself is seen, and nothing behind a macro.
// Comments: A text that TP_fast_assign() has in quotes is there as long as the event
// Comments: is. Where callers hand it over, they may all have such texts, unseen.
// Options: --no-includes --include-headers

virtual report
virtual org

@initialize:python@
@@
import itertools
import re

# Written with \x22 and \x27, since Coccinelle looks for the ends of texts, too.
TEXT = r"\x22(?:\\.|[^\x22\\\n])*\x22"
COMMENT = re.compile(r"(%s)|/\*.*?\*/|//[^\n]*" % TEXT, re.S)
# Directives are skipped, of #define all but what the name stands for.
SKIPPED = r"^[ \t]*#(?:\s*define\s+\w+(?:\([^)]*\))?|(?:[^\\\n]|\\\n|\\.)*)"
TOKEN = re.compile(r"%s|(%s|\x27(?:\\.|[^\x27\\\n])*\x27|->|\w+|[^\s\w\\])" % (SKIPPED, TEXT),
		   re.M)
DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
EVENT = re.compile(r"(TRACE_|DECLARE_|DEFINE_)(CUSTOM_)?EVENT")
PART = re.compile(r"TP_STRUCT__entry|TP_fast_assign|TP_printk")
# Fields of one value, which may be an address.
FIELD = re.compile(r"__field(_ext|_desc)?$")
NAME = re.compile(r"[A-Za-z_]\w*$")
# Flags, width, precision, size, conversion; of %p what belongs to it.
CONVERSION = re.compile(r"%[-+ #0]*(\*|\d+)?(?:\.(\*|\d*))?[hlLjzt]*(p\w*|.)")
FOLLOWS = re.compile(r"s|p([RrhbMmIiEUVN4adtCDgGOA]|fw|[ku]s)")
# They look at the address alone.
HARMLESS = ("IS_ERR", "IS_ERR_OR_NULL", "PTR_ERR", "PTR_ERR_OR_ZERO")


class Token:
	"""A word, a text in quotes or a sign, and its place."""

	def __init__(self, text, line, column):
		self.text, self.line, self.column = text, line, column


def tokens(text):
	"""Those of C code, but for the preprocessor's."""
	found, line, start = [], 1, 0
	text = COMMENT.sub(lambda match: match[1] or re.sub(r"[^\n]", " ", match[0]), text)
	for match in TOKEN.finditer(text):
		line += text.count("\n", start, match.start())
		start = match.start()
		if match[1]:
			found.append(Token(match[1], line,
					   start - text.rfind("\n", 0, start) - 1))
	return found


def words(code):
	"""Tokens as text."""
	return [token.text for token in code]


def split(code, sign):
	"""The parts of code between signs that stand in no parentheses."""
	parts, depth = [[]], 0
	for token in code:
		depth += DEPTH.get(token.text, 0)
		if token.text == sign and not depth:
			parts.append([])
		else:
			parts[-1].append(token)
	return parts


def inside(code, start):
	"""The code in the parentheses that open at start."""
	depth = 0
	for end in range(start, len(code)):
		depth += DEPTH.get(code[end].text, 0)
		if not depth:
			return code[start + 1:end]
	return []


def calls(code, name):
	"""(name, arguments) of each call of a function or macro with such a name."""
	for place in range(len(code) - 1):
		if name.match(code[place].text) and code[place + 1].text == "(":
			yield code[place].text, split(inside(code, place + 1), ",")


def uncast(code):
	"""Code without casts to pointers."""
	made = []
	while code:
		content = inside(code, 0) if code[0].text == "(" else []
		if content and content[-1].text == "*" and all(
				text == "*" or NAME.match(text) for text in words(content)):
			code = code[len(content) + 2:]
		else:
			made.append(code[0])
			code = code[1:]
	return made


def bare(code):
	"""An expression without the parentheses around it."""
	while code and code[0].text == "(" and len(inside(code, 0)) == len(code) - 2:
		code = code[1:-1]
	return code


def values(code):
	"""What an expression may have as its value: there is a choice with ?:."""
	code = bare(code)
	found = []
	for part in split(code, ":"):
		*condition, value = split(part, "?")
		# With nothing between ? and :, the condition is the value.
		found.append(bare(value or sum(condition[-1:], [])))
	return found


def field(code):
	"""The name of the field that an expression is, or None."""
	return code[2].text if len(code) == 3 and words(code[:2]) == ["__entry", "->"] else None


def followed(code):
	"""(how, field) of what an expression itself follows."""
	for place, token in enumerate(code):
		size = len(inside(code, place)) + 2 if token.text == "(" else 3
		name = field(bare(code[place:place + size]))
		before = words(code[max(place - 1, 0):place])
		after = words(code[place + size:place + size + 1])
		if not name or token.text == "(" and before and NAME.match(before[0]):
			continue
		if after in (["->"], ["["]):
			yield after[0], name
		elif before == ["*"]:
			yield "*", name


def conversions(texts):
	"""What a format does with each of its arguments."""
	found = []
	for width, precision, what in CONVERSION.findall("".join(text[1:-1] for text in texts)):
		if what != "%":
			found += ["*"] * [width, precision].count("*") + [what]
	return found


def single(argument):
	"""Whether it is no macro of those that stand for more than one argument."""
	first = argument[0].text if argument else ""
	return not NAME.match(first) or first.startswith("__")


def pairs(form, given):
	"""(conversion, argument): all, or from both ends as far as there is no macro."""
	texts = list(itertools.takewhile(lambda text: text[0] == "\x22", words(form)))
	uses = conversions(texts)
	if len(texts) == len(form) and len(uses) == len(given):
		return [*zip(uses, given)]
	ending = [*itertools.takewhile(lambda text: text[0] == "\x22", words(form)[::-1])]
	return [*zip(uses, itertools.takewhile(single, given)),
		*zip(conversions(ending[::-1])[::-1], itertools.takewhile(single, given[::-1]))]


def prints(code):
	"""{field: how} of what TP_printk() follows."""
	form, *given = split(uncast(code), ",")
	found = {}
	for what, argument in pairs(form, given):
		if FOLLOWS.match(what):
			found.update((field(value), "%" + what) for value in values(argument))
	for argument in given:
		found.update((name, how) for how, name in followed(argument))
		for called, handed in calls(argument, NAME):
			if called not in HARMLESS:
				found.update((field(value), called + "()") for one in handed
					     for value in values(one))
	return found


def constant(code, name):
	"""Whether TP_fast_assign() gives a field nothing but texts in quotes."""
	found = [values(split(code[place + 4:], ";")[0]) for place in range(len(code))
		 if field(code[place:place + 3]) == name
		 and words(code[place + 3:place + 4]) == ["="]]
	return bool(found) and all(
		value and all(text[0] == "\x22" or text == "NULL" for text in words(value))
		for some in found for value in some)


def kept(path):
	"""(place, text) of each pointer of a file's events that is followed."""
	with open(path, errors="replace") as file:
		text = file.read()
	if "TP_printk" not in text:
		return
	classes, seen = {}, set()
	for _, arguments in calls(tokens(text), EVENT):
		parts = {match[0]: inside(part, 1) for part in arguments
			 for match in [part and PART.search(part[0].text)] if match}
		event = " ".join(words(arguments[0]))
		if "TP_STRUCT__entry" in parts:
			assign = parts.get("TP_fast_assign", [])
			classes[event] = {
				given[1][-1].text: (given[1][-1], "*" in words(given[0]))
				for _, given in calls(parts["TP_STRUCT__entry"], FIELD)
				if len(given) > 1 and given[1]
				and not constant(assign, given[1][-1].text)}
		for name, how in prints(parts.get("TP_printk", [])).items():
			place, pointer = classes.get(event, {}).get(name, (None, False))
			# What %s is given is an address, however its type is called.
			if not (pointer or place and how[0] == "%") or place in seen:
				continue
			seen.add(place)
			end = place.column + len(name)
			where = coccilib.elems.Location(path, "", 0, 0, 0, 0, place.line,
							place.column, place.line, end)
			yield where, "WARNING: TP_printk() follows %s: %s" % (name, how)

@script:python depends on report@
@@

for path in cocci.files():
	for place, text in kept(path):
		coccilib.report.print_report(place, text)

@script:python depends on org@
@@

for path in cocci.files():
	for place, text in kept(path):
		coccilib.org.print_todo(place, text)
