// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes written to the files that are a setting each (tree/control.c, text/files.c,
 * ctf/files.c, by way of instance/input.c), what error_log then says (instance/error_log.c), and
 * any text as the kernel's parameters (tree/boot.c, but for etch_event=: see events.c).
 *
 * The input's first byte chooses the file. What it asks for is noted here, and must be
 * something that could have been asked for; or it is refused, and error_log says where.
 */

#include <linux/etch.h>
#include <linux/etch_clock.h>
#include <linux/etch_ring.h>
#include <linux/fs.h>

#include "ctf/ctf.h"
#include "event/contexts.h"
#include "settings.h"
#include "text/text.h"
#include "tree/fs.h"

/* ---- What settings are made of: noted, and looked at ---- */

static unsigned int asked;
static struct etch_instance inst;
struct mutex etch_mutex;	/* taken by the caller */
struct etch_instance *etch_instances[ETCH_BITS];
LIST_HEAD(etch_events);		/* there are none */
const char * const etch_clock_names[ETCH_CLOCK_NR] = {
	"counter", "mono", "mono_raw", "boot", "tai", "local", "global", "seq",
};

static void must(bool good)
{
	if (!good)
		abort();
	asked++;
}

int etch_instance_set_on(struct etch_instance *i, bool on)
{
	must(on != i->on);
	i->on = on;
	return 0;
}

void etch_instance_set_clock(struct etch_instance *i, enum etch_clock clock)
{
	must(clock < ETCH_CLOCK_NR);
}

void etch_instance_set_mode(struct etch_instance *i, bool overwrite)
{
	must(true);
}

int etch_instance_resize(struct etch_instance *i, int cpu, unsigned long bytes)
{
	must(bytes >= 1024 && bytes % 1024 == 0);
	return bytes > 1UL << 40 ? -EINVAL : bytes > 1UL << 30 ? -ENOMEM : 0;
}

int etch_instance_set_subbuf(struct etch_instance *i, unsigned int subbuf)
{
	must(is_power_of_2(subbuf) && subbuf >= PAGE_SIZE && subbuf <= ETCH_RING_MAX_SUBBUF);
	return subbuf == PAGE_SIZE ? -EINVAL : 0;
}

/* As instance_size.c has it. */
unsigned int etch_subbuf_bytes(unsigned long bytes)
{
	if (!bytes || bytes > ETCH_RING_MAX_SUBBUF)
		return 0;
	return roundup_pow_of_two(max_t(unsigned long, bytes, PAGE_SIZE));
}

void etch_instance_set_percent(struct etch_instance *i, unsigned int percent)
{
	must(percent <= 100);
}

int etch_instance_set_budget(struct etch_instance *i, u64 bytes, unsigned int percent)
{
	/* There is no memory: nothing has been set. */
	if (bytes == 4096)
		return -ENOMEM;
	must(bytes <= ETCH_BUDGET_MAX_BYTES && percent <= 100 * num_possible_cpus());
	return 0;
}

/* ---- Contexts: there are three, a stack and counters among them ---- */

static const char * const names[ETCH_CONTEXT_NR] = {
	[ETCH_CONTEXT_PRIO] = "prio",
	[ETCH_CONTEXT_KSTACK] = "kstack",
	[ETCH_CONTEXT_PERF] = "perf",
};

const char *etch_context_name(enum etch_context_kind kind)
{
	return names[kind];
}

bool etch_context_usable(enum etch_context_kind kind)
{
	return names[kind];
}

struct etch_contexts *etch_contexts_alloc(void)
{
	return calloc(1, sizeof(struct etch_contexts));
}

int etch_contexts_add(struct etch_contexts *c, enum etch_context_kind kind, unsigned int depth)
{
	if (!names[kind] || kind == ETCH_CONTEXT_PERF || c->nr == ETCH_CONTEXTS_MAX ||
	    etch_contexts_have(c, kind))
		abort();
	if (kind == ETCH_CONTEXT_KSTACK ? !depth || depth > ETCH_CONTEXT_STACK : depth)
		abort();
	c->of[c->nr].kind = kind;
	c->of[c->nr++].depth = depth;
	return 0;
}

int etch_contexts_add_counter(struct etch_contexts *c, const struct etch_counter_spec *spec)
{
	unsigned int i;

	if (c->nr == ETCH_CONTEXTS_MAX || c->nr_counters == ETCH_COUNTERS_MAX ||
	    !spec->name[0] || !memchr(spec->name, 0, sizeof(spec->name)))
		abort();
	for (i = 0; i < c->nr_counters; i++)
		if (c->counters[i].spec.type == spec->type &&
		    c->counters[i].spec.config == spec->config)
			abort();
	c->of[c->nr].kind = ETCH_CONTEXT_PERF;
	c->of[c->nr++].counter = c->nr_counters;
	c->counters[c->nr_counters++].spec = *spec;
	return 0;
}

void etch_contexts_put(struct etch_contexts *c)
{
	free(c);
}

int etch_instance_set_contexts(struct etch_instance *i, struct etch_contexts *c)
{
	/* There is no memory: nothing has been set. */
	if (c && c->of[0].depth == 13)
		return -ENOMEM;
	must(!c || c->nr);
	free(i->contexts);
	i->contexts = c;
	return 0;
}

u64 etch_instance_throttled(struct etch_instance *i)
{
	return 0;
}

int etch_snapshot_take(struct etch_instance *i)
{
	must(true);
	return 0;
}

void etch_snapshot_drop(struct etch_instance *i)
{
	must(true);
}

void etch_instance_flush(struct etch_instance *i, int want)
{
	must(true);
}

int etch_instance_grow(struct etch_instance *i)
{
	return 0;
}

int etch_events_set(struct etch_recorder *rec, const char *match, bool on)
{
	abort();
}

/* ---- What files have that are only written here ---- */

const struct file_operations etch_trace_fops, etch_pipe_fops, etch_set_event_fops,
	etch_metadata_fops, etch_raw_fops, etch_snapshot_fops;
const struct etch_event_control etch_event_controls[] = { {} };

/* What a suspend adds to the counter, which is none here. */
u64 etch_clock_step;

bool etch_clock_counter_usable(void)
{
	return false;
}

bool etch_clock_in_ns(enum etch_clock clock)
{
	return true;
}

u64 etch_clock_to_ns(enum etch_clock clock, u64 time)
{
	return time;
}

u64 etch_clock_read_slow(enum etch_clock clock)
{
	return 0;
}

u64 ktime_get_mono_fast_ns(void)
{
	return 0;
}

unsigned long etch_instance_bytes(struct etch_instance *i, int cpu)
{
	return 4096;
}

u64 etch_instance_absent(struct etch_instance *i, int cpu)
{
	return 0;
}

u64 etch_instance_filtered(struct etch_instance *i, int cpu)
{
	return 0;
}

void etch_ring_stats(struct etch_ring *ring, struct etch_ring_stats *stats)
{
}

int etch_view_open(const struct etch_view_of *of)
{
	return 0;
}

void etch_instance_put(struct etch_instance *i)
{
}

void etch_available_events_show(struct seq_file *m, const struct etch_view_of *of)
{
}

/* ---- The kernel's parameters ---- */

static void boot_with(char *text, unsigned int which)
{
	if (which == 0)
		dump_boot(text);
	else if (which == 1)
		dump_lines_boot(text);
	else if (which == 2)
		shim_etch_buf_size_setup(text);
	else
		shim_etch_subbuf_size_setup(text);
	must(etch_boot_cpu_bytes() && etch_boot_cpu_bytes() <= ULONG_MAX / 4);
	must(etch_subbuf_bytes(etch_boot_subbuf_bytes()) == etch_boot_subbuf_bytes());
	etch_boot_events(&inst);
}

/* ---- Files ---- */

/* The files that the rooms offer, for an instance's folder and for a CPU's. */
static struct etch_entry files[32];
static unsigned int nr_files;

static void add_files(const struct etch_control *control, int cpu)
{
	for (; control && control->name; control++) {
		must(nr_files < ARRAY_SIZE(files));
		files[nr_files++] = (struct etch_entry){ .of = { &inst, cpu }, .control = control };
	}
}

void etch_tree_offer(struct etch_files *offer)
{
	add_files(offer->of_tree, ETCH_ALL_CPUS);
	add_files(offer->of_cpu, 0);
}

/* Three lines, the last one a caret under some byte of the second. */
static void check_log(const char *file)
{
	struct seq_file m = { .buf = NULL };
	char *second, *third;

	etch_errors_show(&m, &inst);
	seq_write(&m, "", 1);
	if (!strstr(m.buf, file))
		abort();
	second = strstr(m.buf, "\n  Command: ");
	third = second ? strchr(second + 1, '\n') : NULL;
	if (!third || third[1 + strspn(third + 1, " ")] != '^')
		abort();
	if (strspn(third + 1, " ") < 11 || strspn(third + 1, " ") > (size_t)(third - second - 1))
		abort();
	free(m.buf);
}

static void write_to(struct etch_entry *to, const char *bytes, size_t len)
{
	const struct etch_control *control = to->control;
	struct seq_file m = { .private = to };
	struct file file = { .private_data = &m };
	loff_t pos = 0;
	ssize_t ret;

	if (control->fops)
		return;
	asked = 0;
	ret = etch_control_fops.write(&file, bytes, len, &pos);
	if (!control->store && ret != -EINVAL)
		abort();
	if (ret >= 0 ? ret != (ssize_t)len || pos != ret || asked > 1 : pos)
		abort();
	/* A refused setting is not applied, except where only the rings can tell. */
	if (ret < 0 && asked && strncmp(control->name, "buffer_", 7))
		abort();
	if (ret < 0 && control->store)
		check_log(control->name);
	if (control->store == etch_dump_store)
		dump_written(bytes, len, ret >= 0);
	etch_errors_clear(&inst);
}

/* Runs the initcall of a room, which must offer files. */
static void boot(int (*room_offer)(void))
{
	unsigned int before = nr_files;

	must(!room_offer() && nr_files > before);
}

/* Returns how many allocations last as long as the kernel runs. */
static long begin(void)
{
	INIT_LIST_HEAD(&inst.errors);
	boot(shim_etch_control_offer);
	boot(shim_etch_text_offer);
	boot(shim_etch_ctf_offer);
	dump_begin(&inst);
	return shim_live;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int which;
	static long kept;
	char *bytes;

	if (!size)
		return 0;
	if (!nr_files)
		kept = begin();
	which = data[0] % (nr_files + 4);
	bytes = malloc(size);
	memcpy(bytes, data + 1, size - 1);
	bytes[size - 1] = 0;
	if (which >= nr_files) {
		boot_with(bytes, which - nr_files);
	} else {
		/* Without the zero: nobody may look for one. */
		char *exact = malloc(size - 1);

		memcpy(exact, bytes, size - 1);
		write_to(&files[which], exact, size - 1);
		free(exact);
	}
	free(bytes);
	if (shim_live != kept)
		abort();
	return 0;
}
