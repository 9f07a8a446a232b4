// SPDX-License-Identifier: GPL-2.0
/*
 * Filters as users write them become programs: see parse.h.
 *
 * The parser makes a tree of the text. A walk through the tree from its last test to its first
 * one writes the program: at each test it is known which tests are next, because they have been
 * written.
 */
#include <linux/bitops.h>
#include <linux/ctype.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/etch.h>
#include <linux/glob.h>
#include <linux/kallsyms.h>
#include <linux/kstrtox.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "event/event.h"
#include "event/program.h"
#include "filter/field.h"
#include "filter/jit.h"
#include "filter/parse.h"
#include "instance/instance.h"

#define ETCH_FILTER_DEPTH	32	/* parentheses and "!" in each other */

enum etch_node_kind {
	ETCH_NODE_TEST,
	ETCH_NODE_AND,
	ETCH_NODE_OR,
	ETCH_NODE_NOT,
};

/* The index of a node stands for it. */
struct etch_filter_node {
	enum etch_node_kind kind;
	int left, right;
	struct etch_test_of test;
	bool not;			/* the test itself is meant the other way round */
	bool early;			/* it needs no record */
};

/**
 * struct etch_parser - a filter on its way to a program
 * @in: the input, or NULL: errors are not reported
 * @event: whose records are filtered
 * @ends: as etch_field_find() has it
 * @at: where the parser has come to
 * @depth: parentheses and "!" around that
 * @nr: nodes
 * @nr_tests: of them, tests
 * @nodes: the tree
 */
struct etch_parser {
	const struct etch_input *in;
	const struct etch_event *event;
	unsigned int ends;
	const char *at;
	unsigned int depth;
	int nr, nr_tests;
	struct etch_filter_node nodes[3 * ETCH_PROGRAM_MAX];
};

#define etch_parse_bad(p, where, ...)	etch_bad((p)->in, where, -EINVAL, __VA_ARGS__)

/* ---- Words ---- */

static void etch_skip_blanks(struct etch_parser *p)
{
	p->at = skip_spaces(p->at);
}

static bool etch_take(struct etch_parser *p, const char *word)
{
	size_t len = strlen(word);

	etch_skip_blanks(p);
	if (strncmp(p->at, word, len))
		return false;
	p->at += len;
	return true;
}

/* The length of a name at @at. */
static size_t etch_name_len(const char *at)
{
	size_t len = 0;

	while (isalnum(at[len]) || at[len] == '_')
		len++;
	return len;
}

/* ---- The tree ---- */

static int etch_node_new(struct etch_parser *p, enum etch_node_kind kind, int left, int right)
{
	if (p->nr == ARRAY_SIZE(p->nodes))
		return etch_parse_bad(p, p->at, "This filter is too long");
	p->nodes[p->nr] = (struct etch_filter_node) {
		.kind = kind, .left = left, .right = right,
	};
	return p->nr++;
}

static int etch_node_not(struct etch_parser *p, int node)
{
	int index = etch_node_new(p, ETCH_NODE_NOT, node, -1);

	if (index >= 0)
		p->nodes[index].early = p->nodes[node].early;
	return index;
}

/*
 * An operand that needs no record is tested first: the order does not change the result. A row
 * leans to the left, and its first operand is the one that is tested first.
 */
static int etch_node_join(struct etch_parser *p, enum etch_node_kind kind, int left, int right)
{
	bool first = p->nodes[left].early, second = p->nodes[right].early;
	int index;

	if (second && !first)
		swap(left, right);
	index = etch_node_new(p, kind, left, right);
	if (index >= 0)
		p->nodes[index].early = first && second;
	return index;
}

/* ---- Values ---- */

struct etch_relation_name {
	const char *name;
	enum { EQ, NE, LE, LT, GE, GT, AND, GLOB } relation;
};

/* A name that begins with another one comes before it. */
static const struct etch_relation_name etch_relations[] = {
	{ "==", EQ }, { "!=", NE }, { "<=", LE }, { "<", LT }, { ">=", GE }, { ">", GT },
	{ "&", AND }, { "~", GLOB },
};

/* A number as C writes it, with a minus or without, is cut to the size of the field. */
static int etch_parse_number(struct etch_parser *p, const struct etch_test_of *t, u64 *value)
{
	unsigned int unused = 64 - t->size * BITS_PER_BYTE;
	size_t len = *p->at == '-';
	char text[24];
	int ret;

	if (!isdigit(p->at[len]))
		return etch_parse_bad(p, p->at, "A number is missing here");
	len += etch_name_len(p->at + len);
	if (len >= sizeof(text))
		return etch_parse_bad(p, p->at, "This number is too long");
	memcpy(text, p->at, len);
	text[len] = '\0';
	if (*text == '-' && !t->is_signed)
		return etch_parse_bad(p, p->at, "This field is never negative");
	ret = t->is_signed ? kstrtos64(text, 0, (s64 *)value) : kstrtou64(text, 0, value);
	if (ret)
		return etch_parse_bad(p, p->at, ret == -ERANGE ?
				      "This number does not fit in 64 bits" :
				      "This is no number");
	*value = t->is_signed ? (u64)((s64)(*value << unused) >> unused) :
				*value << unused >> unused;
	p->at += len;
	return 0;
}

/*
 * From @low to @high, values that the field can have; with @not, all its other values, which are
 * a range as well: it begins behind @high and wraps. So an element that is not there makes each
 * comparison false.
 */
static void etch_test_range(struct etch_test_of *t, u64 low, u64 high, bool not)
{
	u64 field = GENMASK_ULL(t->size * BITS_PER_BYTE - 1, 0);

	t->how = ETCH_IN_RANGE;
	t->and = U64_MAX;
	t->field = field;
	t->low = not ? high + 1 : low;
	t->span = (not ? low - high - 2 : high - low) & field;
	if (!not || ((high - low) & field) != field)
		return;
	/* No value is another one. */
	t->and = 0;
	t->low = 1;
	t->span = 0;
}

/* @value is one that the field can have. */
static void etch_compare_number(struct etch_test_of *t, int relation, u64 value)
{
	unsigned int bits = t->size * BITS_PER_BYTE;
	u64 low = t->is_signed ? -(1ULL << (bits - 1)) : 0;
	u64 high = t->is_signed ? (1ULL << (bits - 1)) - 1 : GENMASK_ULL(bits - 1, 0);

	switch (relation) {
	case AND:		/* not 0: from 1 on */
		etch_test_range(t, 0, 0, true);
		t->and = value;
		return;
	case EQ:
	case NE:
		etch_test_range(t, value, value, relation == NE);
		return;
	case LT:		/* not >= */
	case GE:
		etch_test_range(t, value, high, relation == LT);
		return;
	default:		/* <=, and > is not <= */
		etch_test_range(t, low, value, relation == GT);
		return;
	}
}

/* A name or an address: any address in that function. */
static int etch_parse_function(struct etch_parser *p, struct etch_filter_node *node, int relation)
{
	const char *begin = p->at;
	unsigned long address, size, offset;
	char name[KSYM_NAME_LEN];
	size_t len = 0;

	while (isgraph(begin[len]) && !strchr("()&|!\"'", begin[len]))
		len++;
	if (relation != EQ && relation != NE)
		return etch_parse_bad(p, begin, "A function can be compared by == and != only");
	if (!len || len >= sizeof(name))
		return etch_parse_bad(p, begin, "The name of a function is missing here");
	memcpy(name, begin, len);
	name[len] = '\0';
	if (kstrtoul(name, 0, &address))
		address = kallsyms_lookup_name(name);
	if (!address || !kallsyms_lookup_size_offset(address, &size, &offset))
		return etch_parse_bad(p, begin, "There is no such function");
	p->at += len;
	etch_test_range(&node->test, address - offset, address - offset + size - 1,
			relation == NE);
	return 0;
}

/* The text between quotation marks, to be freed. */
static char *etch_parse_quoted(struct etch_parser *p)
{
	const char *begin = p->at + 1, *end;

	if (*p->at != '"' && *p->at != '\'')
		return ERR_PTR(etch_parse_bad(p, p->at,
					      "A text in quotation marks is missing here"));
	end = strchr(begin, *p->at);
	if (!end)
		return ERR_PTR(etch_parse_bad(p, p->at, "This quotation mark has no other end"));
	if (end - begin >= ETCH_PATTERN_MAX)
		return ERR_PTR(etch_parse_bad(p, p->at, "This text is longer than %d characters",
					      ETCH_PATTERN_MAX - 1));
	p->at = end + 1;
	return kstrndup(begin, end - begin, GFP_KERNEL) ?: ERR_PTR(-ENOMEM);
}

static int etch_parse_string(struct etch_parser *p, struct etch_filter_node *node, int relation)
{
	struct etch_test_of *t = &node->test;
	char *pattern;

	if (relation != EQ && relation != NE && relation != GLOB)
		return etch_parse_bad(p, p->at, "Text can be compared by ==, != and ~ only");
	pattern = etch_parse_quoted(p);
	if (IS_ERR(pattern))
		return PTR_ERR(pattern);
	node->not = relation == NE || (relation == GLOB && *pattern == '!');
	if (relation == GLOB && *pattern == '!')
		memmove(pattern, pattern + 1, strlen(pattern));
	if (t->of == ETCH_OF_POINTER || t->of == ETCH_OF_USER)
		swap(node->not, t->not);
	t->how = relation == GLOB ? ETCH_GLOBS : ETCH_EQUALS;
	t->pattern = pattern;
	t->len = strlen(pattern);
	memcpy(&t->first, pattern, min(t->len, sizeof(t->first)));
	memset(&t->bits, 0xff, min(t->len, sizeof(t->bits)));
	return 0;
}

/* 0-3,7}, behind the "{" of CPUS{. To be freed. */
static struct cpumask *etch_parse_cpulist(struct etch_parser *p)
{
	const char *begin = p->at, *end = strchr(begin, '}');
	struct cpumask *cpus;
	char *list;
	int ret;

	if (!end)
		return ERR_PTR(etch_parse_bad(p, begin,
					      "The } behind the list of CPUs is missing"));
	list = kstrndup(begin, end - begin, GFP_KERNEL);
	cpus = kzalloc(cpumask_size(), GFP_KERNEL);
	ret = list && cpus ? cpulist_parse(list, cpus) : -ENOMEM;
	kfree(list);
	p->at = end + 1;
	if (!ret && end > begin)
		return cpus;
	kfree(cpus);
	return ERR_PTR(ret == -ENOMEM ? ret :
		       etch_parse_bad(p, begin, "This is no list of CPUs"));
}

/*
 * A number compared with CPUs is that of one CPU: several are never equal to it, and one that
 * is compared by "&" is equal or not.
 */
static void etch_compare_cpu(struct etch_filter_node *node, struct cpumask *cpus, int relation)
{
	struct etch_test_of *t = &node->test;

	if (cpumask_weight(cpus) == 1) {
		etch_compare_number(t, relation == AND ? EQ : relation, cpumask_first(cpus));
		kfree(cpus);
		return;
	}
	if (relation == EQ)
		cpumask_clear(cpus);
	else if (relation == NE)
		cpumask_setall(cpus);
	t->how = ETCH_CPU_IN;
	t->cpus = cpus;
}

static int etch_parse_cpus(struct etch_parser *p, struct etch_filter_node *node, int relation)
{
	struct etch_test_of *t = &node->test;
	struct cpumask *cpus;

	if (relation != EQ && relation != NE && relation != AND)
		return etch_parse_bad(p, p->at, "CPUs can be compared by ==, != and & only");
	cpus = etch_parse_cpulist(p);
	if (IS_ERR(cpus))
		return PTR_ERR(cpus);
	if (t->of != ETCH_OF_MASK) {
		etch_compare_cpu(node, cpus, relation);
		return 0;
	}
	t->how = relation == AND ? ETCH_CPUS_MEET : ETCH_CPUS_ARE;
	t->cpus = cpus;
	node->not = relation == NE;
	return 0;
}

/* ---- Tests ---- */

static int etch_parse_relation(struct etch_parser *p)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(etch_relations); i++)
		if (etch_take(p, etch_relations[i].name))
			return etch_relations[i].relation;
	return etch_parse_bad(p, p->at, "A comparison is missing here: == != < <= > >= & or ~");
}

static int etch_parse_value(struct etch_parser *p, struct etch_filter_node *node,
			    const struct etch_field_of *field, int relation)
{
	u64 value;
	int ret;

	etch_skip_blanks(p);
	if (field->is_function)
		return etch_parse_function(p, node, relation);
	if (field->is_string)
		return etch_parse_string(p, node, relation);
	if (etch_take(p, "CPUS{"))
		return etch_parse_cpus(p, node, relation);
	if (node->test.of == ETCH_OF_MASK)
		return etch_parse_bad(p, p->at, "A set of CPUs is missing here: CPUS{0-3}");
	if (relation == GLOB)
		return etch_parse_bad(p, p->at, "A number cannot be compared by ~");
	ret = etch_parse_number(p, &node->test, &value);
	if (!ret)
		etch_compare_number(&node->test, relation, value);
	return ret;
}

static int etch_parse_test(struct etch_parser *p)
{
	struct etch_field_of field = {};
	int index, relation, ret;

	etch_skip_blanks(p);
	if (p->nr_tests == ETCH_PROGRAM_MAX)
		return etch_parse_bad(p, p->at, "A filter has at most %d comparisons",
				      ETCH_PROGRAM_MAX);
	index = etch_node_new(p, ETCH_NODE_TEST, -1, -1);
	if (index < 0)
		return index;
	ret = etch_field_find(p->event, p->ends, p->at, &field, &p->nodes[index].test);
	if (ret)
		return etch_parse_bad(p, p->at + field.wrong, "%s", field.why);
	p->at += field.len;
	relation = etch_parse_relation(p);
	if (relation < 0)
		return relation;
	ret = etch_parse_value(p, &p->nodes[index], &field, relation);
	if (ret)
		return ret;
	p->nodes[index].early = etch_is_early(p->nodes[index].test.of);
	p->nr_tests++;
	return index;
}

static int etch_parse_filter(struct etch_parser *p);

static int etch_parse_factor(struct etch_parser *p)
{
	const char *begin;
	int node;

	etch_skip_blanks(p);
	begin = p->at;
	if (*begin != '!' && *begin != '(')
		return etch_parse_test(p);
	if (++p->depth > ETCH_FILTER_DEPTH)
		return etch_parse_bad(p, begin, "Too much stands in parentheses of parentheses");
	p->at++;
	if (*begin == '!') {
		node = etch_parse_factor(p);
		if (node >= 0)
			node = etch_node_not(p, node);
	} else {
		node = etch_parse_filter(p);
		if (node >= 0 && !etch_take(p, ")"))
			return etch_parse_bad(p, begin, "This parenthesis has no other end");
	}
	p->depth--;
	return node;
}

/* Factors or terms, with @word between them. */
static int etch_parse_row(struct etch_parser *p, int (*parse)(struct etch_parser *p),
			  const char *word, enum etch_node_kind kind)
{
	int left = parse(p), right;

	while (left >= 0 && etch_take(p, word)) {
		right = parse(p);
		if (right < 0)
			return right;
		left = etch_node_join(p, kind, left, right);
	}
	return left;
}

static int etch_parse_term(struct etch_parser *p)
{
	return etch_parse_row(p, etch_parse_factor, "&&", ETCH_NODE_AND);
}

static int etch_parse_filter(struct etch_parser *p)
{
	return etch_parse_row(p, etch_parse_term, "||", ETCH_NODE_OR);
}

/* ---- The program ---- */

/*
 * Writes the tests below @index, whose results lead to @yes and @no, before those that are there:
 * from the end of the row to its beginning. Returns the test that is made first. A row of factors
 * or terms leans to the left, so it takes no deeper recursion than the text has parentheses.
 */
static u16 etch_write_tests(struct etch_program *program, const struct etch_parser *p, int index,
			    u16 yes, u16 no, u16 *at)
{
	const struct etch_filter_node *node = &p->nodes[index];
	struct etch_test_of *test;

	for (;; node = &p->nodes[node->left]) {
		switch (node->kind) {
		case ETCH_NODE_AND:
			yes = etch_write_tests(program, p, node->right, yes, no, at);
			continue;
		case ETCH_NODE_OR:
			no = etch_write_tests(program, p, node->right, yes, no, at);
			continue;
		case ETCH_NODE_NOT:
			swap(yes, no);
			continue;
		case ETCH_NODE_TEST:
			break;
		}
		break;
	}
	test = &program->tests[--*at];
	*test = node->test;
	test->plain = test->of == ETCH_OF_FIELD && test->how == ETCH_IN_RANGE;
	if (node->not)
		swap(yes, no);
	test->yes = yes == *at + 1 ? ETCH_NEXT : yes;
	test->no = no == *at + 1 ? ETCH_NEXT : no;
	return *at;
}

/* What etch_program_refuses_at_once() and etch_program_rejects_at_once() look at. */
static u8 etch_at_once(const struct etch_test_of *t)
{
	bool number = t->how == ETCH_IN_RANGE && (t->of == ETCH_OF_PID || t->of == ETCH_OF_CPU);
	bool text = t->how == ETCH_EQUALS && !t->relative &&
		    (t->of == ETCH_OF_COMM || t->of == ETCH_OF_STRING || t->of == ETCH_OF_DYNAMIC);

	return t->no == ETCH_FAIL && (number || text) ? t->of : ETCH_OF_FIELD;
}

/* What the tests own goes to the program, if there is one. */
static struct etch_program *etch_parse_end(struct etch_parser *p, const char *text, int root)
{
	struct etch_program *program;
	u16 at = p->nr_tests;
	int i;

	program = kzalloc(struct_size(program, tests, p->nr_tests), GFP_KERNEL);
	if (!program)
		return NULL;
	program->text = kstrdup(text, GFP_KERNEL);
	if (!program->text) {
		kfree(program);
		return NULL;
	}
	program->nr = p->nr_tests;
	etch_write_tests(program, p, root, ETCH_PASS, ETCH_FAIL, &at);
	program->early = etch_is_early(program->tests[0].of);
	program->at_once = etch_at_once(program->tests);
	program->plain = true;
	for (i = 0; i < program->nr; i++)
		program->plain &= program->tests[i].plain;
	return program;
}

/* Nothing comes of the tests. */
static void etch_parse_drop(struct etch_parser *p)
{
	int i;

	for (i = 0; i < p->nr; i++) {
		struct etch_test_of *t = &p->nodes[i].test;

		if (p->nodes[i].kind != ETCH_NODE_TEST || t->how == ETCH_IN_RANGE)
			continue;
		kfree(t->how == ETCH_EQUALS || t->how == ETCH_GLOBS ? (void *)t->pattern :
								      (void *)t->cpus);
	}
}

/**
 * etch_filter_parse() - make a program of a filter's text
 * @in: the input that has the text, for error_log; NULL: errors are not reported
 * @text: the filter, in @in
 * @event: whose records it is for
 * @ends: as etch_field_find() has it
 *
 * Context: process, may sleep; the event stays.
 * Return: the program, for etch_program_free(); or an ERR_PTR() of -EINVAL or -ENOMEM.
 */
struct etch_program *etch_filter_parse(const struct etch_input *in, const char *text,
				       const struct etch_event *event, unsigned int ends)
{
	struct etch_program *program = NULL;
	struct etch_parser *p;
	int root;

	p = kvzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return ERR_PTR(-ENOMEM);
	p->in = in;
	p->event = event;
	p->ends = ends;
	p->at = text;
	root = etch_parse_filter(p);
	etch_skip_blanks(p);
	if (root >= 0 && *p->at)
		root = etch_parse_bad(p, p->at, "&& or || is missing here");
	if (root >= 0)
		program = etch_parse_end(p, text, root);
	if (program)
		etch_jit_make(program);
	else
		etch_parse_drop(p);
	kvfree(p);
	return program ?: ERR_PTR(root < 0 ? root : -ENOMEM);
}
