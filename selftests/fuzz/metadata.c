// SPDX-License-Identifier: GPL-2.0
/*
 * The whole file metadata (ctf/metadata.c, ctf/metadata_clock.c), with any names in what it tells
 * of the machine, and any origin of its clock: it must be whole TSDL that repeats its input.
 * Its events have any print format, too; print_fmt.c is about those.
 *
 * The input begins with struct told. Texts are behind it, with a zero between two.
 */

#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/fs.h>

#include "ctf/ctf.h"
#include "ctf/metadata.h"
#include "tsdl.h"

struct told {
	u8 clock;
	u8 reset;		/* the wall clock, between two instances */
	u64 hz;
	s64 ns;
} __packed;

static struct told told;

static void must(bool good)
{
	if (!good)
		abort();
}

/* ---- The events to describe ---- */

static const struct etch_enum one_enum = { "fuzz", "ENUM_ONE", 1 };

__section("etch_enums") __used __attribute__((no_sanitize("address")))
static const struct etch_enum * const all_enums[] = { &one_enum };

static const struct etch_field fields[] = {
	{ .type = "int", .name = "x", .offset = 12, .size = 4, .elem_size = 4, .align = 4 },
	{ .type = "__data_loc char[]", .name = "text", .offset = 16, .size = 4, .elem_size = 1,
	  .align = 1, .is_string = 1, .kind = ETCH_FIELD_DATA_LOC },
};

static struct etch_class class = {
	.system = "fuzz", .fields = fields, .nr_fields = 2, .size = 20,
};

static const struct etch_event events[] = {
	{ .name = "first", .class = &class, .id = 1 },
	{ .name = "second", .class = &class, .id = 700 },
	{ .name = "last", .class = &class, .id = ETCH_ID_MAX },
};

static struct etch_instance inst, other;
static ktime_t real;
static u8 uuids;
static long users;

struct mutex etch_mutex;	/* taken by nobody */
struct rw_semaphore etch_event_sem, uts_sem;
struct new_utsname shim_uts;
unsigned int etch_generation = 4321;
const char * const etch_clock_names[ETCH_CLOCK_NR] = {
	"counter", "mono", "mono_raw", "boot", "tai", "local", "global", "seq",
};

const struct etch_event *etch_event_next(unsigned int id)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++)
		if (events[i].id >= id)
			return &events[i];
	return NULL;
}

bool etch_clock_in_ns(enum etch_clock clock)
{
	return clock != ETCH_CLOCK_SEQ;
}

u64 etch_clock_hz(void)
{
	return told.hz;
}

s64 etch_clock_zero(enum etch_clock clock)
{
	must(clock == inst.clock);
	return told.ns;
}

ktime_t ktime_mono_to_real(ktime_t mono)
{
	return real;
}

/* The instance has none. */
struct etch_contexts *etch_contexts_get(struct etch_contexts *c)
{
	return c;
}

void etch_contexts_put(struct etch_contexts *c)
{
	must(!c);
}

void uuid_gen(uuid_t *uuid)
{
	memset(uuid->b, ++uuids, sizeof(uuid->b));
}

int etch_view_open(const struct etch_view_of *of)
{
	users++;
	return 0;
}

void etch_instance_put(struct etch_instance *i)
{
	users--;
}

/* ---- The description ---- */

/* The text behind "NAME = " on a line of its own, the first one from @text on. */
static const char *value_of(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (; *text; text++)
		if (text[0] == '\n' && text[1] == '\t' && !strncmp(text + 2, name, len) &&
		    strstarts(text + 2 + len, " = "))
			return text + len + 5;
	abort();
}

/* A literal is that text, once what is escaped in it is as it was. */
static void check_string(const char *text, const char *name, const char *want)
{
	const char *at = value_of(text, name);

	must(*at++ == '"');
	while (*at != '"') {
		unsigned int c = (u8)*at++;

		must(c != '\n');
		if (c == '\\') {
			must(sscanf(at, "%3o", &c) == 1);
			at += 3;
		}
		must(c == (u8)*want++);
	}
	must(!*want && strstarts(at, "\";\n"));
}

static void check_uuid(const char *at, const uuid_t *uuid)
{
	must(*at++ == '"');
	for (int i = 0; i < 16; i++, at += 2) {
		unsigned int byte;

		at += *at == '-';
		must(sscanf(at, "%2x", &byte) == 1 && byte == uuid->b[i]);
	}
	must(strstarts(at, "\";\n"));
}

/* Seconds and ticks from 1970 on are the clock's origin, to within a tick. */
static void check_clock(const char *text)
{
	u64 want = inst.clock == ETCH_CLOCK_COUNTER ? told.hz : NSEC_PER_SEC;
	const char *clock = strstr(text, "\nclock {\n");
	unsigned long hz, ticks;
	__int128 rest;
	long seconds;

	must(sscanf(value_of(clock, "freq"), "%lu;", &hz) == 1 && hz == want);
	must(sscanf(value_of(clock, "offset_s"), "%ld;", &seconds) == 1);
	must(sscanf(value_of(clock, "offset"), "%lu;", &ticks) == 1 && ticks < hz);
	rest = told.ns - (__int128)seconds * NSEC_PER_SEC;
	must(rest >= 0 && rest < NSEC_PER_SEC);
	rest = rest * hz - (__int128)ticks * NSEC_PER_SEC;
	must(rest >= 0 && rest < NSEC_PER_SEC);
	must(strstarts(value_of(clock, "absolute"),
		       inst.clock == ETCH_CLOCK_SEQ ? "false" : "true"));
	must(strstarts(value_of(clock, "name"), etch_clock_names[inst.clock]));
	check_uuid(value_of(clock, "uuid"), &inst.origin.uuid);
}

static void check_text(const char *text)
{
	static const char head[] = "trace env clock stream ", event[] = "event ";
	unsigned int nr = 0;
	char outline[256];

	must(strstarts(text, "/* CTF 1.8 */\n"));
	tsdl_outline(text, strlen(text), outline, sizeof(outline));
	must(strstarts(outline, head));
	for (const char *at = outline + strlen(head); *at; at += strlen(event), nr++)
		must(strstarts(at, event));
	must(nr == ARRAY_SIZE(events));
	check_uuid(value_of(strstr(text, "\ntrace {\n"), "uuid"), &inst.uuid);
	check_string(text, "hostname", shim_uts.nodename);
	check_string(text, "sysname", shim_uts.sysname);
	check_string(text, "kernel_release", shim_uts.release);
	check_string(text, "kernel_version", shim_uts.version);
	check_string(text, "architecture", shim_uts.machine);
	check_string(text, "instance", inst.name ?: "");
	must(strstarts(value_of(text, "metadata_generation"), "4321;\n"));
	check_clock(text);
}

/* The file is its pieces, one after the other, whenever one asks. */
static void check_pieces(const char *text)
{
	struct seq_file m = { .buf = NULL };

	must(!etch_metadata_text(&m, &inst, NULL) && m.buf[m.count - 1] == '\n');
	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++) {
		size_t before = m.count;
		unsigned int id;

		must(!etch_metadata_text(&m, &inst, &events[i]));
		seq_write(&m, "", 1);
		m.count--;
		must(sscanf(m.buf + before, "\nevent {\n\tid = %u;\n", &id) == 1);
		must(id == events[i].id && m.buf[m.count - 1] == '\n');
	}
	must(!strcmp(m.buf, text));
	free(m.buf);
}

/* Those who have the same clock have the same origin, while nobody sets the wall clock. */
static void check_other(void)
{
	struct seq_file m = { .buf = NULL };
	bool same;

	other.clock = inst.clock;
	other.origin.known = false;
	real += told.reset & 1;
	must(!etch_metadata_text(&m, &other, NULL));
	same = !memcmp(&other.origin.uuid, &inst.origin.uuid, sizeof(uuid_t));
	must(same == !(told.reset & 1));
	free(m.buf);
}

/* ---- All of it ---- */

/* No more of it than some bytes: long print formats are print_fmt.c's. */
static char *next_text(const char **at, const char *end)
{
	size_t len = strnlen(*at, end - *at);
	char *text = strndup(*at, min(len, 255));

	*at += min(len + 1, (size_t)(end - *at));
	return text;
}

/* What the kernel keeps of its names. */
static void tell(char name[65], const char **at, const char *end)
{
	char *text = next_text(at, end);

	shim_strscpy(name, text, 65);
	free(text);
}

static void check_file(void)
{
	struct etch_view_of of = { .inst = &inst, .cpu = ETCH_ALL_CPUS };
	struct inode inode = { .i_private = &of };
	struct file file = {};
	const char *text;

	must(!etch_metadata_fops.open(&inode, &file));
	text = shim_read(&file);
	check_text(text);
	check_pieces(text);
	etch_metadata_fops.release(&inode, &file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data + sizeof(told), *end = (const char *)data + size;

	if (size < sizeof(told))
		return 0;
	memcpy(&told, data, sizeof(told));
	told.hz += !told.hz;
	inst.clock = told.clock % ETCH_CLOCK_NR;
	inst.origin.known = false;
	uuid_gen(&inst.uuid);
	real++;
	tell(shim_uts.nodename, &at, end);
	tell(shim_uts.release, &at, end);
	tell(shim_uts.version, &at, end);
	tell(shim_uts.machine, &at, end);
	tell(shim_uts.sysname, &at, end);
	inst.name = at < end ? next_text(&at, end) : NULL;
	class.print_fmt = next_text(&at, end);

	check_file();
	check_other();
	free((char *)class.print_fmt);
	free(inst.name);
	must(!users && !shim_live && !shim_warnings);
	return 0;
}
