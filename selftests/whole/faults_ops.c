// SPDX-License-Identifier: GPL-2.0

#include <poll.h>
#include <sys/syscall.h>

#include "faults_ops.h"
#include "faults_taken.h"

/* ---- Steps of operations ---- */

int do_write(const struct op *op)
{
	return write_file(TREE, op->file, op->text);
}

static int do_write_main(const struct op *op)
{
	return write_file(ETCH, op->file, op->text);
}

static int do_truncate(const struct op *op)
{
	return overwrite_file(TREE, op->file, op->text);
}

int do_read(const struct op *op)
{
	const char *tree = op->text ?: TREE;
	int fd = open(path_of(tree, op->file), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;
	int err;

	if (fd < 0)
		return errno;
	while ((n = read(fd, taken.buf, sizeof(taken.buf))) > 0)
		;
	err = n < 0 ? errno : 0;
	close(fd);
	return err;
}

static int do_poll(const struct op *op)
{
	struct pollfd p = { .fd = open(path_of(TREE, op->file), O_RDONLY | O_CLOEXEC),
			    .events = POLLIN };
	int err = 0;

	if (p.fd < 0)
		return errno;
	if (poll(&p, 1, 0) < 0)
		err = errno;
	close(p.fd);
	return err;
}

/* ---- The way to a file ---- */

static void forget_files(const struct op *op)
{
	if (write_file("/proc/sys/vm", "drop_caches", "2"))
		give_up("drop_caches");
}

static int do_find(const struct op *op)
{
	struct stat st;

	return stat(path_of(TREE, op->file), &st) ? errno : 0;
}

static int do_list(const struct op *op)
{
	int fd = open(path_of(TREE, op->file), O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	long n = 1;

	if (fd < 0)
		return errno;
	while (n > 0)
		n = syscall(SYS_getdents64, fd, taken.buf, sizeof(taken.buf));
	if (n < 0)
		err = errno;
	close(fd);
	return err;
}

static int do_chown(const struct op *op)
{
	return chown(path_of(TREE, op->file), 0, 0) ? errno : 0;
}

void write_it(const struct op *op, const char *text)
{
	if (write_file(TREE, op->file, text))
		give_up("%s: '%s'", op->file, text);
}

#define UNDO(name, value)					\
static void name(const struct op *op)				\
{								\
	write_it(op, value);					\
}

UNDO(undo_0, "0")
UNDO(undo_4, "4")
UNDO(undo_64, "64")
UNDO(undo_256, "256")
UNDO(undo_overwrite, "overwrite")

char first_clock[FIRST_CLOCK];

static void undo_clock(const struct op *op)
{
	write_it(op, first_clock);
}

static void all_events(const struct op *op)
{
	write_file(TREE, "events/enable", "1");
}

static void no_events(const struct op *op)
{
	write_file(TREE, "events/enable", "0");
	overwrite_file(TREE, "trace", "");
}

static void some_events_off(const struct op *op)
{
	write_file(TREE, "events/sched/enable", "1");
	write_file(TREE, "tracing_on", "0");
}

static void some_events(const struct op *op)
{
	write_file(TREE, "events/sched/enable", "1");
}

static void on_again(const struct op *op)
{
	write_file(TREE, "tracing_on", "1");
	no_events(op);
}

static void no_tasks(const struct op *op)
{
	overwrite_file(TREE, op->file, "\n");
}

static void some_tasks(const struct op *op)
{
	write_it(op, "1 2 3");
}

static void some_budget(const struct op *op)
{
	write_it(op, "bytes=1G");
}

static void some_groups(const struct op *op)
{
	write_it(op, "/");
}

/* Of a system: its filter is not shown, those of its events are. */
static bool filters_are_written(const struct op *op)
{
	return !strcmp(read_line(TREE, "events/sched/sched_switch/filter"), op->text);
}

static void some_filter(const struct op *op)
{
	write_it(op, "prev_pid > 0");
}

static void snapshot_taken(const struct op *op)
{
	write_file(TREE, "snapshot", "1");
}

static void snapshot_gone(const struct op *op)
{
	write_file(TREE, "snapshot", "0");
}

bool reads_as_written(const struct op *op)
{
	return !strcmp(read_line(TREE, op->file), op->text);
}

/* One of a list of choices. */
static bool is_chosen(const struct op *op)
{
	char word[64];

	snprintf(word, sizeof(word), "[%s]", op->text);
	return strstr(read_line(TREE, op->file), word);
}

/* ---- Instances ---- */

unsigned int files_of_tree;

static int do_mkdir(const struct op *op)
{
	return mkdir(OTHER, 0700) ? errno : 0;
}

static int do_rmdir(const struct op *op)
{
	return rmdir(OTHER) ? errno : 0;
}

static void make_other(const struct op *op)
{
	if (mkdir(OTHER, 0700))
		give_up(OTHER);
}

static void remove_other(const struct op *op)
{
	if (!access(OTHER, F_OK) && rmdir(OTHER))
		give_up(OTHER);
}

static bool other_is_whole(const struct op *op)
{
	return count_files(OTHER, true) == files_of_tree;
}

static bool other_is_gone(const struct op *op)
{
	return access(OTHER, F_OK);
}

/* ---- The modules ---- */

static void load_sample(const struct op *op)
{
	if (sample_load())
		give_up(SAMPLE);
}

static void unload_sample(const struct op *op)
{
	int err = sample_unload();

	if (err && err != ENOENT)
		give_up(SAMPLE);
}

/* Unloading must keep the records of the module's events readable. */
static void load_and_fire(const struct op *op)
{
	load_sample(op);
	write_file(TREE, "events/" SAMPLE "/enable", "1");
	write_fmt(SAMPLE_PARAMETERS, "fire", "2");
}

static void unload_and_empty(const struct op *op)
{
	unload_sample(op);
	overwrite_file(TREE, "trace", "");
}

int sample_fd = -1;

static int do_load(const struct op *op)
{
	return syscall(SYS_finit_module, sample_fd, "", 0) ? errno : 0;
}

static int do_unload(const struct op *op)
{
	return sample_unload();
}

void unload_ring(const struct op *op)
{
	int err = ring_sample_unload();

	if (err && err != ENOENT)
		give_up(RING_SAMPLE);
}

int ring_fd = -1;

static int do_load_ring(const struct op *op)
{
	return syscall(SYS_finit_module, ring_fd, "count=100 period=1000", 0) ? errno : 0;
}

static void load_ring(const struct op *op)
{
	if (do_load_ring(op))
		give_up(RING_SAMPLE);
	usleep(10000);
}

static int do_write_ring(const struct op *op)
{
	return write_file(RING_SAMPLE_FILES, op->file, op->text);
}

/* ---- A CPU that comes ---- */

static void cpu_off(const struct op *op)
{
	if (write_file(CPUS, op->file, "0"))
		give_up("%s", op->file);
}

static int do_cpu_on(const struct op *op)
{
	return write_file(CPUS, op->file, "1");
}

static void cpu_on(const struct op *op)
{
	if (*read_line(CPUS, op->file) == '0' && do_cpu_on(op))
		give_up("%s", op->file);
}

static bool cpu_is_on(const struct op *op)
{
	return *read_line(CPUS, op->file) == '1' && stat_of(TREE, 1, "written") >= 0;
}

/* ---- Taking records: a failed call loses none ---- */

static void take_begin(const struct op *op)
{
	taken_reset();
	taken_marks();
}

static void take_end(const struct op *op)
{
	taken_rest();
}

static int do_pipe(const struct op *op)
{
	return taken_pipe(op->file);
}

static int do_raw_read(const struct op *op)
{
	return taken_raw(TAKE_READ);
}

static int do_raw_splice(const struct op *op)
{
	return taken_raw(TAKE_SPLICE);
}

static int do_raw_window(const struct op *op)
{
	return taken_raw(TAKE_WINDOW);
}

/* ---- All of them ---- */

#define READ(what)	{ .name = "read " what, .file = what, .run = do_read, .least = 3 }
#define READ_MAIN(what)	{ .name = "read main " what, .file = what, .text = ETCH, \
			  .run = do_read, .least = 3 }
#define SET(what, value, undo) \
	{ .name = "write " what, .file = what, .text = value, .run = do_write, .after = undo, \
	  .whole = reads_as_written, .least = 3 }
#define CHOOSE(what, value, undo) \
	{ .name = "write " what, .file = what, .text = value, .run = do_write, .after = undo, \
	  .whole = is_chosen, .least = 3 }
#define TELL(what, value) \
	{ .name = "write " what, .file = what, .text = value, .run = do_write, .least = 2 }

const struct op file_ops[] = {
	{ .name = "mkdir instance", .run = do_mkdir, .after = remove_other,
	  .whole = other_is_whole, .least = 50 },
	{ .name = "find a file", .file = "events/sched/sched_switch/format", .before = forget_files,
	  .run = do_find, .least = 10 },
	{ .name = "list a folder", .file = "events", .before = forget_files, .run = do_list,
	  .least = 5 },
	{ .name = "change an owner", .file = "events/sched/enable", .before = forget_files,
	  .run = do_chown, .least = 10 },
	{ .name = "rmdir instance", .before = make_other, .run = do_rmdir,
	  .after = remove_other, .whole = other_is_gone, .least = 1 },

	SET("events/sched/sched_switch/enable", "1", no_events),
	SET("events/sched/enable", "1", no_events),
	SET("events/enable", "1", no_events),
	{ .name = "write events/enable 0", .file = "events/enable", .text = "0",
	  .before = all_events, .run = do_write, .after = no_events,
	  .whole = reads_as_written, .least = 3 },
	{ .name = "write set_event", .file = "set_event",
	  .text = "sched:sched_switch sched:*fork irq: !sched:sched_switch", .run = do_write,
	  .after = no_events, .least = 10 },
	{ .name = "replace set_event", .file = "set_event", .text = "irq:*",
	  .before = some_events, .run = do_truncate, .after = no_events, .least = 5 },

	SET("events/sched/sched_switch/filter", "prev_pid > 1 && prev_comm ~ 'a*' || CPU & CPUS{0}",
	    undo_0),
	{ .name = "replace a filter", .file = "events/sched/sched_switch/filter",
	  .text = "prev_comm != 'init'", .before = some_filter, .run = do_write, .after = undo_0,
	  .whole = reads_as_written, .least = 5 },
	{ .name = "take a filter away", .file = "events/sched/sched_switch/filter",
	  .text = "0", .before = some_filter, .run = do_write, .after = undo_0, .least = 2 },
	{ .name = "write a system's filter", .file = "events/sched/filter",
	  .text = "prev_prio > 1 && prev_comm != 'a'", .run = do_write, .after = undo_0,
	  .whole = filters_are_written, .least = 10 },
	{ .name = "write a filter for all events", .file = "events/filter",
	  .text = "CPU == 0 && comm != 'nobody'", .run = do_write, .after = undo_0,
	  .whole = filters_are_written, .least = 300 },
	{ .name = "write nonsense to a filter", .file = "events/sched/sched_switch/filter",
	  .text = "prev_comm == 'a' && nothing == 1", .before = some_filter, .run = do_write,
	  .after = undo_0, .err = EINVAL, .least = 5 },
	SET("set_event_pid", "1", no_tasks),
	SET("set_event_notrace_pid", "2", no_tasks),
	{ .name = "replace set_event_pid", .file = "set_event_pid", .text = "7",
	  .before = some_tasks, .run = do_truncate, .after = no_tasks,
	  .whole = reads_as_written, .least = 5 },
	{ .name = "empty set_event_pid", .file = "set_event_pid", .text = "\n",
	  .before = some_tasks, .run = do_truncate, .after = no_tasks, .least = 3 },
	SET("options/event-fork", "1", undo_0),

	SET("buffer_size_kb", "256", undo_64),
	{ .name = "write buffer_size_kb, smaller", .file = "buffer_size_kb", .text = "64",
	  .before = undo_256, .run = do_write, .after = undo_64,
	  .whole = reads_as_written, .least = 4 },
	SET("per_cpu/cpu0/buffer_size_kb", "128", undo_64),
	SET("buffer_subbuf_size_kb", "8", undo_4),
	CHOOSE("trace_clock", "boot", undo_clock),
	CHOOSE("buffer_mode", "discard", undo_overwrite),
	SET("buffer_percent", "50", undo_0),
	{ .name = "write budget", .file = "budget", .text = "bytes=1G cpu=50%", .run = do_write,
	  .after = no_tasks, .least = 5 },
	{ .name = "replace budget", .file = "budget", .text = "bytes=2G", .before = some_budget,
	  .run = do_truncate, .after = no_tasks, .least = 3 },
	{ .name = "take a budget away", .file = "budget", .text = "\n", .before = some_budget,
	  .run = do_truncate, .after = no_tasks, .least = 3 },
	{ .name = "write nonsense to budget", .file = "budget", .text = "bytes=1G cpu=much",
	  .before = some_budget, .run = do_write, .after = no_tasks, .err = EINVAL, .least = 3 },
	SET("snapshot", "1", snapshot_gone),
	{ .name = "write snapshot 0", .file = "snapshot", .text = "0",
	  .before = snapshot_taken, .run = do_write, .after = snapshot_gone, .least = 3 },
	{ .name = "write tracing_on 1", .file = "tracing_on", .text = "1",
	  .before = some_events_off, .run = do_write, .after = on_again,
	  .whole = reads_as_written, .least = 3 },
	{ .name = "write tracing_on 0", .file = "tracing_on", .text = "0",
	  .before = some_events, .run = do_write, .after = on_again,
	  .whole = reads_as_written, .least = 3 },
	{ .name = "write dump_on_oops", .file = "dump_on_oops", .text = "0",
	  .run = do_write_main, .least = 3 },
	TELL("flush", "1"),
	TELL("per_cpu/cpu0/flush", "1"),
	TELL("trace", "1"),
	TELL("per_cpu/cpu0/trace", "1"),
	TELL("error_log", "1"),
	TELL("trace_marker", "a mark"),
	TELL("trace_marker_raw", "4 bytes and more"),
	{ .name = "write statedump", .file = "statedump", .text = "1", .run = do_write,
	  .least = 5 },
	{ .name = "truncate trace", .file = "trace", .text = "", .run = do_truncate, .least = 2 },
	{ .name = "write nonsense", .file = "trace_clock", .text = "sundial", .run = do_write,
	  .err = EINVAL, .least = 5 },
	{ .name = "write nonsense to set_event", .file = "set_event", .text = "irq:* no:such",
	  .run = do_write, .err = EINVAL, .least = 5 },

	READ_MAIN("README"), READ_MAIN("available_events"), READ_MAIN("set_event"),
	READ("set_event"), READ("metadata"), READ("tracing_on"), READ("trace_clock"),
	READ("buffer_size_kb"), READ("buffer_subbuf_size_kb"), READ("buffer_percent"),
	READ("buffer_mode"), READ("budget"), READ("statedump"), READ("error_log"), READ("snapshot"), READ("events/enable"),
	READ("events/sched/enable"), READ("events/sched/sched_switch/enable"),
	READ("events/sched/sched_switch/format"), READ("events/sched/sched_switch/id"),
	READ("events/sched/sched_switch/filter"), READ("events/filter"), READ("set_event_pid"),
	READ("set_event_notrace_pid"), READ("options/event-fork"),
	READ("per_cpu/cpu0/stats"), READ("per_cpu/cpu0/buffer_size_kb"),
	{ .name = "read trace", .file = "trace", .before = take_begin, .run = do_read,
	  .after = take_end, .least = 5 },
	{ .name = "read per_cpu/cpu0/trace", .file = "per_cpu/cpu0/trace",
	  .before = take_begin, .run = do_read, .after = take_end, .least = 5 },
	{ .name = "read per_cpu/cpu0/snapshot", .file = "per_cpu/cpu0/snapshot",
	  .before = snapshot_taken, .run = do_read, .after = snapshot_gone, .least = 4 },
	{ .name = "poll trace_pipe", .file = "trace_pipe", .run = do_poll, .least = 5 },
	{ .name = "poll trace_pipe_raw", .file = "per_cpu/cpu0/trace_pipe_raw",
	  .run = do_poll, .least = 4 },

	{ .name = "take from trace_pipe", .file = "trace_pipe", .before = take_begin,
	  .run = do_pipe, .after = take_end, .least = 5 },
	{ .name = "take from per_cpu/cpu0/trace_pipe", .file = "per_cpu/cpu0/trace_pipe",
	  .before = take_begin, .run = do_pipe, .after = take_end, .least = 5 },
	{ .name = "take by read", .before = take_begin, .run = do_raw_read,
	  .after = take_end, .least = 8 },
	{ .name = "take by splice", .before = take_begin, .run = do_raw_splice,
	  .after = take_end, .least = 10 },
	{ .name = "take by window", .before = take_begin, .run = do_raw_window,
	  .after = take_end, .least = 12 },
	{}
};

const struct op group_ops[] = {
	SET("set_event_cgroup", "/", no_tasks),
	{ .name = "write another set_event_cgroup", .file = "set_event_cgroup", .text = "/",
	  .before = some_groups, .run = do_write, .after = no_tasks, .least = 3 },
	{ .name = "empty set_event_cgroup", .file = "set_event_cgroup", .text = "\n",
	  .before = some_groups, .run = do_truncate, .after = no_tasks, .least = 3 },
	{ .name = "write nonsense to set_event_cgroup", .file = "set_event_cgroup",
	  .text = "/no/such/group", .before = some_groups, .run = do_write, .after = no_tasks,
	  .err = EINVAL, .least = 3 },
	READ("set_event_cgroup"),
	{}
};

const struct op cpu_ops[] = {
	{ .name = "bring a CPU on line", .file = "cpu1/online", .before = cpu_off,
	  .run = do_cpu_on, .after = cpu_on, .whole = cpu_is_on, .least = 20 },
	{}
};

const struct op module_ops[] = {
	{ .name = "load a module with events", .run = do_load, .after = unload_sample,
	  .least = 100 },
	{ .name = "unload a module with events", .before = load_sample, .run = do_unload,
	  .after = unload_sample, .forgoes = true, .least = 50 },
	{ .name = "unload it while they are on", .before = load_and_fire, .run = do_unload,
	  .after = unload_and_empty, .forgoes = true, .least = 50 },
	{}
};

const struct op ring_ops[] = {
	{ .name = "load a module with rings", .run = do_load_ring, .after = unload_ring,
	  .least = 50 },
	{ .name = "write subbufs", .file = "subbufs", .text = "16", .before = load_ring,
	  .run = do_write_ring, .after = unload_ring, .least = 10 },
	{ .name = "read records", .file = "records", .text = RING_SAMPLE_FILES, .before = load_ring,
	  .run = do_read, .after = unload_ring, .least = 1 },
	{ .name = "read stats", .file = "stats", .text = RING_SAMPLE_FILES, .before = load_ring,
	  .run = do_read, .after = unload_ring, .least = 3 },
	{}
};
