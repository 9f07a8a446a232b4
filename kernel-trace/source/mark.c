// SPDX-License-Identifier: GPL-2.0
/*
 * Markers: the events that etch_mark() makes.
 *
 * A marker leaves a site in the section _etch_marks: its name, its expressions as text, and the
 * kind and size of each. From these this file makes an event, at boot and when a module comes.
 *
 * Sites of one name are one event if their fields agree: in name, kind and size. So a marker in
 * an inline function, which leaves a site in each file that calls it, is one event, and its
 * gates open and close together. The event belongs to no module, and has copies of all that it
 * needs of its sites; it goes with the last of them. A site whose fields do not agree is
 * refused: its gate never opens.
 *
 * A record has the fields in their order, and the strings behind them. It has no printer: text
 * shows the fields as their descriptors say (text/line.c).
 */
#define pr_fmt(fmt) "etch: " fmt

#include <linux/align.h>
#include <linux/cpu.h>
#include <linux/ctype.h>
#include <linux/etch.h>
#include <linux/etch_expand.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "event/event.h"
#include "source/mark.h"

/* Characters of a field's name that an expression gives it; the rest of a long one is cut. */
#define ETCH_MARK_NAME		48

/* Room for a print format, and how many places are listed in it. */
#define ETCH_MARK_FORMAT	4096
#define ETCH_MARK_PLACES	8

/* Gates that are changed together. */
#define ETCH_MARK_KEYS		32

/**
 * struct etch_mark - the event of one marker, or of several that have one name
 * @mask: the instances that want it; as the event's own, but for writers to read
 * @size: bytes of a record, strings left out
 * @texts: it has strings
 * @offsets: of the fields in a record
 * @node: in etch_marks
 * @sites: the markers
 * @nr_sites: how many
 * @event: the event
 * @class: its layout
 * @fields: of @class
 * @names: of @fields
 */
struct etch_mark {
	u64 mask;
	u16 size;
	bool texts;
	u16 offsets[ETCH_MARK_FIELDS];
	struct list_head node;
	struct etch_mark_site **sites;
	unsigned int nr_sites;
	struct etch_event event;
	struct etch_class class;
	struct etch_field fields[ETCH_MARK_FIELDS];
	char names[ETCH_MARK_FIELDS][ETCH_MARK_NAME + sizeof("_65535_65535")];
};

/* Under etch_mutex. */
static LIST_HEAD(etch_marks);

static enum etch_mark_kind etch_mark_kind(u16 field)
{
	return field >> ETCH_MARK_SHIFT;
}

static unsigned int etch_mark_size(u16 field)
{
	return field & ETCH_MARK_SIZE;
}

/* ---- Recording ---- */

static const char *etch_mark_text(u64 value)
{
	return value ? (const char *)(unsigned long)value : "(null)";
}

/* Measures the strings, each with the zero that will be behind it. Returns their sum. */
static unsigned int etch_mark_measure(const struct etch_mark_site *site, const u64 *values,
				      u16 lens[ETCH_MARK_FIELDS])
{
	unsigned int i, sum = 0;

	for (i = 0; i < site->nr; i++) {
		u16 field = site->fields[i];

		if (etch_mark_kind(field) != ETCH_MARK_TEXT)
			continue;
		lens[i] = strnlen(etch_mark_text(values[i]), etch_mark_size(field)) + 1;
		sum += lens[i];
	}
	return sum;
}

/* Records are little endian, and aligned to 4 bytes. */
static void etch_mark_put(void *at, unsigned int size, u64 value)
{
	switch (size) {
	case sizeof(u8):
		*(u8 *)at = value;
		break;
	case sizeof(u16):
		*(u16 *)at = value;
		break;
	case sizeof(u32):
		*(u32 *)at = value;
		break;
	default:
		((u32 *)at)[0] = value;
		((u32 *)at)[1] = value >> 32;
	}
}

/* A string may change after it was measured: as many characters are copied, and a zero. */
static void etch_mark_put_text(void *record, unsigned int offset, unsigned int start,
			       unsigned int len, u64 value)
{
	char *to = record + start;

	etch_mark_put(record + offset, sizeof(u32), start | len << 16);
	memcpy(to, etch_mark_text(value), len - 1);
	to[len - 1] = '\0';
}

/**
 * etch_mark_hit() - record a marker's values
 * @site: the marker; its gate was open
 * @values: of its expressions; of a string, its address
 *
 * Context: any, NMI included.
 */
void etch_mark_hit(const struct etch_mark_site *site, const u64 *values)
{
	const struct etch_mark *mark = site->mark;
	unsigned int i, len = mark->size, end = len;
	u16 lens[ETCH_MARK_FIELDS];
	struct etch_write w;
	u64 mask;

	/* Removing an instance, or the event, waits for this. */
	guard(preempt_notrace)();
	mask = READ_ONCE(mark->mask);
	if (!mask)
		return;
	if (mark->texts)
		len += etch_mark_measure(site, values, lens);
	w = etch_write_begin_mask(len, &mark->event, mask);
	if (!w.record)
		return;
	for (i = 0; i < site->nr; i++) {
		u16 field = site->fields[i];

		if (etch_mark_kind(field) == ETCH_MARK_TEXT) {
			etch_mark_put_text(w.record, mark->offsets[i], end, lens[i], values[i]);
			end += lens[i];
		} else {
			etch_mark_put(w.record + mark->offsets[i], etch_mark_size(field),
				      values[i]);
		}
	}
	etch_write_end_quick(w.ring);
}
EXPORT_SYMBOL_GPL(etch_mark_hit);

/* ---- Gates ---- */

/* Opens or closes the gates of some sites of one event. */
static void etch_mark_open(struct etch_mark_site **sites, unsigned int nr, bool open)
{
	struct static_key *keys[ETCH_MARK_KEYS];
	unsigned int i, n;

	cpus_read_lock();
	for (; nr; sites += n, nr -= n) {
		n = min(nr, ETCH_MARK_KEYS);
		for (i = 0; i < n; i++)
			keys[i] = &sites[i]->gate;
		if (open)
			static_keys_enable_cpuslocked(keys, n);
		else
			static_keys_disable_cpuslocked(keys, n);
	}
	cpus_read_unlock();
}

static int etch_mark_gate(struct etch_event *event, u64 mask)
{
	struct etch_mark *mark = event->data;
	u64 old = mark->mask;

	WRITE_ONCE(mark->mask, mask);
	if (!old != !mask)
		etch_mark_open(mark->sites, mark->nr_sites, mask);
	return 0;
}

/* ---- The names of fields ---- */

/* Characters of the first expression of a list: up to a comma outside of brackets and literals. */
static size_t etch_mark_expr_len(const char *list)
{
	size_t len = 0;
	int depth = 0;

	while (list[len] && (list[len] != ',' || depth)) {
		depth += list[len] == '(' || list[len] == '[' || list[len] == '{';
		depth -= list[len] == ')' || list[len] == ']' || list[len] == '}';
		if (list[len] == '"' || list[len] == '\'')
			len += etch_piece_len(list + len);
		else
			len++;
	}
	return len;
}

/* "p->name[2]" is p_name_2, and "2 * x" is _2_x. */
static void etch_mark_ident(char name[ETCH_MARK_NAME + 1], const char *expr, size_t len)
{
	unsigned int nr = 0;
	bool gap = false;

	for (; len && nr < ETCH_MARK_NAME - 1; expr++, len--) {
		if (!isalnum(*expr) && *expr != '_') {
			gap = nr;
			continue;
		}
		if (gap || (!nr && isdigit(*expr)))
			name[nr++] = '_';
		gap = false;
		name[nr++] = *expr;
	}
	if (!nr)
		name[nr++] = '_';
	name[nr] = '\0';
}

static bool etch_mark_taken(const struct etch_mark *mark, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(mark->names[i], mark->names[nr]))
			return true;
	return false;
}

/* p->a and p.a give two fields one name: the second gets its number. */
static void etch_mark_name(struct etch_mark *mark, const char *exprs)
{
	unsigned int i;

	for (i = 0; i < mark->class.nr_fields; i++) {
		size_t len = etch_mark_expr_len(exprs), more;

		etch_mark_ident(mark->names[i], exprs, len);
		for (more = 0; more < 2 && etch_mark_taken(mark, i); more++)
			snprintf(mark->names[i] + strlen(mark->names[i]), sizeof("_65535"),
				 "_%u", i + 1);
		exprs += len + (exprs[len] == ',');
	}
}

/* ---- Layouts ---- */

/* A type of the language, and how the print format of programs shows it. */
static const struct etch_mark_type {
	enum etch_mark_kind kind;
	unsigned int size;
	const char *type;
	const char *format;
} etch_mark_types[] = {
	{ ETCH_MARK_UNSIGNED,	1, "u8",	"%u" },
	{ ETCH_MARK_UNSIGNED,	2, "u16",	"%u" },
	{ ETCH_MARK_UNSIGNED,	4, "u32",	"%u" },
	{ ETCH_MARK_UNSIGNED,	8, "u64",	"%llu" },
	{ ETCH_MARK_SIGNED,	1, "s8",	"%d" },
	{ ETCH_MARK_SIGNED,	2, "s16",	"%d" },
	{ ETCH_MARK_SIGNED,	4, "s32",	"%d" },
	{ ETCH_MARK_SIGNED,	8, "s64",	"%lld" },
	{ ETCH_MARK_BOOL,	1, "bool",	"%u" },
	{ ETCH_MARK_CHAR,	1, "char",	"%d" },
	{ ETCH_MARK_POINTER,	8, "void *",	"%p" },
	{ ETCH_MARK_TEXT,	0, "__data_loc char[]", "%s" },
};

/* NULL: a compiler has integers of sizes that we do not know. */
static const struct etch_mark_type *etch_mark_type(u16 field)
{
	enum etch_mark_kind kind = etch_mark_kind(field);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(etch_mark_types); i++)
		if (kind == etch_mark_types[i].kind &&
		    (kind == ETCH_MARK_TEXT || etch_mark_size(field) == etch_mark_types[i].size))
			return &etch_mark_types[i];
	return NULL;
}

static bool etch_mark_layout(struct etch_mark *mark, const struct etch_mark_site *site)
{
	unsigned int i, end = sizeof(struct etch_head);

	for (i = 0; i < site->nr; i++) {
		const struct etch_mark_type *type = etch_mark_type(site->fields[i]);
		struct etch_field *f = &mark->fields[i];
		bool text;

		if (!type)
			return false;
		text = type->kind == ETCH_MARK_TEXT;
		f->type = type->type;
		f->name = mark->names[i];
		f->size = text ? sizeof(u32) : type->size;
		f->elem_size = text ? sizeof(char) : type->size;
		f->align = min(f->elem_size, 4);
		f->kind = text ? ETCH_FIELD_DATA_LOC : ETCH_FIELD_FIXED;
		f->is_signed = type->kind == ETCH_MARK_SIGNED ||
			       (type->kind == ETCH_MARK_CHAR && is_signed_type(char));
		f->is_string = text;
		f->is_pointer = type->kind == ETCH_MARK_POINTER;
		f->offset = ALIGN(end, min(f->size, 4));
		mark->offsets[i] = f->offset;
		mark->texts |= text;
		end = f->offset + f->size;
	}
	mark->size = end;
	mark->class.size = end;
	return true;
}

static bool etch_mark_agrees(const struct etch_mark *a, const struct etch_mark *b)
{
	unsigned int i;

	if (a->class.nr_fields != b->class.nr_fields)
		return false;
	for (i = 0; i < a->class.nr_fields; i++)
		if (a->fields[i].type != b->fields[i].type || strcmp(a->names[i], b->names[i]))
			return false;
	return true;
}

/* ---- Print formats ---- */

static bool etch_mark_same_place(const struct etch_mark_site *a, const struct etch_mark_site *b)
{
	return a->line == b->line && !strcmp(a->file, b->file);
}

/* A string of its own, which no conversion takes: programs that parse formats skip it. */
static void etch_mark_put_place(struct seq_buf *s, const struct etch_mark_site *site)
{
	const char *file;

	seq_buf_puts(s, ",\n\t\"");
	for (file = site->file; *file; file++)
		seq_buf_putc(s, *file == '"' || *file == '\\' ? '_' : *file);
	seq_buf_printf(s, ":%u\"", site->line);
}

/* Each place once, although there may be many copies of it, and not all of very many. */
static void etch_mark_put_places(struct seq_buf *s, const struct etch_mark *mark)
{
	unsigned int i, before, places = 0;

	for (i = 0; i < mark->nr_sites; i++) {
		const struct etch_mark_site *site = mark->sites[i];

		for (before = 0; before < i; before++)
			if (etch_mark_same_place(site, mark->sites[before]))
				break;
		if (before < i)
			continue;
		/* Room for ":", a number of ten digits, quotes and a comma. */
		if (places++ == ETCH_MARK_PLACES ||
		    strlen(site->file) + 32 > s->size - s->len) {
			seq_buf_puts(s, ",\n\t\"...\"");
			return;
		}
		etch_mark_put_place(s, site);
	}
}

/*
 * "page_nr=%lu dev_name=%s", REC->page_nr, __get_str(dev_name), and the places. The names of 12
 * fields, twice, leave enough room for one place.
 */
static char *etch_mark_format(const struct etch_mark *mark)
{
	char *buf = kmalloc(ETCH_MARK_FORMAT, GFP_KERNEL);
	const struct etch_class *class = &mark->class;
	struct seq_buf s;
	unsigned int i;
	char *text;

	if (!buf)
		return NULL;
	/* Room for "..." at the end. */
	seq_buf_init(&s, buf, ETCH_MARK_FORMAT - 16);
	seq_buf_putc(&s, '"');
	for (i = 0; i < class->nr_fields; i++)
		seq_buf_printf(&s, "%s%s=%s", i ? " " : "", mark->names[i],
			       etch_mark_type(mark->sites[0]->fields[i])->format);
	seq_buf_putc(&s, '"');
	for (i = 0; i < class->nr_fields; i++)
		seq_buf_printf(&s, mark->fields[i].is_string ? ", __get_str(%s)" : ", REC->%s",
			       mark->names[i]);
	s.size = ETCH_MARK_FORMAT;
	etch_mark_put_places(&s, mark);
	text = kstrdup(seq_buf_str(&s), GFP_KERNEL);
	kfree(buf);
	return text;
}

/* Sites have come or gone. Without memory it lists those that there were. */
static void etch_mark_describe(struct etch_mark *mark)
{
	char *format = etch_mark_format(mark);
	const char *old = mark->class.print_fmt;

	if (!format)
		return;
	down_write(&etch_event_sem);
	mark->class.print_fmt = format;
	up_write(&etch_event_sem);
	kfree(old);
}

/* ---- Coming ---- */

static void etch_mark_free(struct etch_mark *mark)
{
	kfree(mark->class.print_fmt);
	kfree(mark->event.name);
	kfree(mark->sites);
	kfree(mark);
}

static int etch_mark_join(struct etch_mark *mark, struct etch_mark_site *site)
{
	struct etch_mark_site **sites;

	sites = krealloc_array(mark->sites, mark->nr_sites + 1, sizeof(*sites), GFP_KERNEL);
	if (!sites)
		return -ENOMEM;
	sites[mark->nr_sites] = site;
	mark->sites = sites;
	mark->nr_sites++;
	return 0;
}

/* The event that a site would be, were it alone; or NULL, or an errno. */
static struct etch_mark *etch_mark_make(struct etch_mark_site *site)
{
	struct etch_mark *mark = kzalloc(sizeof(*mark), GFP_KERNEL);

	if (!mark)
		return ERR_PTR(-ENOMEM);
	mark->class.system = "markers";
	mark->class.fields = mark->fields;
	mark->class.nr_fields = site->nr;
	mark->event.class = &mark->class;
	mark->event.gate = etch_mark_gate;
	mark->event.data = mark;
	etch_mark_name(mark, site->exprs);
	if (!etch_mark_layout(mark, site)) {
		etch_mark_free(mark);
		return ERR_PTR(-EINVAL);
	}
	mark->event.name = kstrdup(site->name, GFP_KERNEL);
	if (mark->event.name && !etch_mark_join(mark, site))
		mark->class.print_fmt = etch_mark_format(mark);
	if (!mark->class.print_fmt) {
		etch_mark_free(mark);
		return ERR_PTR(-ENOMEM);
	}
	return mark;
}

static struct etch_mark *etch_mark_find(const char *name)
{
	struct etch_mark *mark;

	list_for_each_entry(mark, &etch_marks, node)
		if (!strcmp(mark->event.name, name))
			return mark;
	return NULL;
}

/* The first one with its name. */
static int etch_mark_first(struct etch_mark *mark)
{
	int ret = etch_event_register(&mark->event);

	if (ret)
		return ret;
	list_add_tail(&mark->node, &etch_marks);
	mark->sites[0]->mark = mark;
	return 0;
}

/* One more; the event may be enabled. */
static int etch_mark_more(struct etch_mark *mark, struct etch_mark_site *site)
{
	int ret = etch_mark_join(mark, site);

	if (ret)
		return ret;
	site->mark = mark;
	etch_mark_describe(mark);
	if (mark->mask)
		etch_mark_open(&site, 1, true);
	return 0;
}

/* It is a folder of the tree, and a word in set_event. */
static bool etch_mark_is_name(const char *name)
{
	size_t len = 0;

	while (isalnum(name[len]) || name[len] == '_')
		len++;
	return len && !name[len];
}

static int etch_mark_add(struct etch_mark_site *site)
{
	struct etch_mark *old = etch_mark_find(site->name), *mark;
	int ret;

	if (!etch_mark_is_name(site->name))
		return -EINVAL;
	mark = etch_mark_make(site);
	if (IS_ERR(mark))
		return PTR_ERR(mark);
	if (!old) {
		ret = etch_mark_first(mark);
		if (!ret)
			return 0;
	} else if (etch_mark_agrees(old, mark)) {
		ret = etch_mark_more(old, site);
	} else {
		pr_warn("marker %s at %s:%u has other fields than at %s:%u, and will never fire\n",
			site->name, site->file, site->line,
			old->sites[0]->file, old->sites[0]->line);
		ret = 0;
	}
	etch_mark_free(mark);
	return ret;
}

/**
 * etch_marks_add() - make events of markers
 * @sites: the markers
 * @nr: how many
 *
 * The log says which markers cannot be events.
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_marks_add(struct etch_mark_site *sites, unsigned int nr)
{
	struct etch_mark_site *site;
	int ret;

	lockdep_assert_held(&etch_mutex);
	for (site = sites; site < sites + nr; site++) {
		ret = etch_mark_add(site);
		if (ret)
			pr_warn("no marker %s at %s:%u: error %d\n", site->name, site->file,
				site->line, ret);
	}
}

/**
 * etch_mark_event() - the event of a marker
 * @site: the marker
 *
 * Context: process; holds etch_mutex.
 * Return: its event, or NULL if it was refused.
 */
const struct etch_event *etch_mark_event(const struct etch_mark_site *site)
{
	return site->mark ? &site->mark->event : NULL;
}

/* ---- Going ---- */

/* Takes those of @mark's sites away that are in an array. Returns how many. */
static unsigned int etch_mark_leave(struct etch_mark *mark, const struct etch_mark_site *sites,
				    unsigned int nr)
{
	unsigned int i, left = 0, before = mark->nr_sites;

	for (i = 0; i < before; i++) {
		struct etch_mark_site *site = mark->sites[i];

		if (site >= sites && site < sites + nr)
			etch_mark_open(&site, 1, false);
		else
			mark->sites[left++] = site;
	}
	mark->nr_sites = left;
	return before - left;
}

/**
 * etch_marks_remove() - markers go
 * @sites: the markers
 * @nr: how many
 *
 * An event goes with the last of its markers, enabled or not.
 *
 * Context: process, may sleep; holds etch_mutex.
 */
void etch_marks_remove(struct etch_mark_site *sites, unsigned int nr)
{
	struct etch_mark *mark, *next;
	LIST_HEAD(gone);

	lockdep_assert_held(&etch_mutex);
	list_for_each_entry_safe(mark, next, &etch_marks, node) {
		if (!etch_mark_leave(mark, sites, nr))
			continue;
		if (mark->nr_sites) {
			etch_mark_describe(mark);
			continue;
		}
		etch_event_unregister(&mark->event);
		list_move(&mark->node, &gone);
	}
	/* For writers that are past a gate, and for etch_event_by_id_nowait(). */
	synchronize_rcu();
	list_for_each_entry_safe(mark, next, &gone, node)
		etch_mark_free(mark);
}

/* ---- The kernel's, and modules' ---- */

#ifdef CONFIG_MODULES
static int etch_mark_module(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;
	unsigned int nr = mod->etch_marks_bytes / sizeof(*mod->etch_marks);

	if (!nr || trace_module_has_bad_taint(mod))
		return NOTIFY_OK;

	mutex_lock(&etch_mutex);
	if (state == MODULE_STATE_COMING)
		etch_marks_add(mod->etch_marks, nr);
	else if (state == MODULE_STATE_GOING)
		etch_marks_remove(mod->etch_marks, nr);
	mutex_unlock(&etch_mutex);
	return NOTIFY_OK;
}

/* Jump labels' own notifier has priority 1: they know a module's gates before we do. */
static struct notifier_block etch_mark_nb = {
	.notifier_call = etch_mark_module,
};
#endif

/* As in event.c, etch_mutex must not be held when the notifier is registered. */
static int __init etch_marks_init(void)
{
	int ret = 0;

	mutex_lock(&etch_mutex);
	etch_marks_add(__start_etch_marks, __stop_etch_marks - __start_etch_marks);
	mutex_unlock(&etch_mutex);
#ifdef CONFIG_MODULES
	ret = register_module_notifier(&etch_mark_nb);
#endif
	if (ret)
		pr_err("the markers of modules cannot be recorded: error %d\n", ret);
	return ret;
}
fs_initcall(etch_marks_init);
