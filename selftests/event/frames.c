// SPDX-License-Identifier: GPL-2.0
/*
 * The stack at a hit of an event, as ftrace, perf and BPF tell it. A site calls a stub, and that
 * calls their functions; but they find no frame of the stub's, and the site's own address, as
 * in a kernel without Etch.
 *
 * Each stack is printed, too, as "stack: WHO HOW EVENT: FUNCTION...". It is the same in a
 * kernel without Etch, where this test runs as well.
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "etch_test.h"
#include "frame_names.h"

#define PAGES		64
#define INSTANCE	FTRACE "/instances/frames"

static void hit_fork(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

static void hit_pipe(void)
{
	int fds[2];

	if (!pipe(fds)) {
		close(fds[0]);
		close(fds[1]);
	}
}

/* An event, how a task hits it, the function with the site, and one that calls that. */
static const struct event {
	const char *folder, *name, *site, *caller;
	void (*hit)(void);
} events[] = {
	{ "events/sched/sched_process_fork", "sched_process_fork", "kernel_clone", "kernel_clone",
	  hit_fork },
	{ "events/kmem/kmalloc", "kmalloc", "__kmalloc", "alloc_pipe_info", hit_pipe },
};

static char *file_of(const struct event *e, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", e->folder, name);
	return path;
}

/* ---- perf ---- */

static void *perf_open(const struct event *e, int *fd)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = atoi(read_line(FTRACE, file_of(e, "id"))),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
		.exclude_callchain_user = 1,
	};
	void *ring;

	*fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (*fd < 0)
		return NULL;
	ring = mmap(NULL, (1 + PAGES) * getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (ring == MAP_FAILED)
		give_up("perf's ring");
	return ring;
}

static void perf_close(void *ring, int fd)
{
	munmap(ring, (1 + PAGES) * getpagesize());
	close(fd);
}

struct sample {
	struct perf_event_header header;
	unsigned long long ip, nr, ips[];
};

/* A sample's address, and then its chain, which begins with a mark. */
static void perf_stack(const struct sample *sample, struct stack *s)
{
	unsigned long long i;

	s->nr = 0;
	stack_add_address(s, sample->ip);
	for (i = 0; i < sample->nr; i++)
		if (sample->ips[i] < PERF_CONTEXT_MAX)
			stack_add_address(s, sample->ips[i]);
}

/* The first sample with a function in it. The ring has not come round. */
static bool perf_find(void *ring, const char *within, struct stack *s)
{
	struct perf_event_mmap_page *page = ring;
	char *data = (char *)ring + getpagesize();
	unsigned long long at;

	if (page->data_head > (unsigned long long)PAGES * getpagesize())
		give_up("%llu bytes in perf's ring", (unsigned long long)page->data_head);
	for (at = 0; at < page->data_head; at += ((struct sample *)(data + at))->header.size) {
		const struct sample *sample = (void *)(data + at);

		if (sample->header.type != PERF_RECORD_SAMPLE)
			continue;
		perf_stack(sample, s);
		if (stack_find(s, within) >= 0)
			return true;
	}
	return false;
}

/* ---- BPF: a program that stores this task's stack in the only element of an array ---- */

#define INSN(c, d, s, o, i)	\
	((struct bpf_insn) { .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define BPF_BYTES	(STACK_DEPTH * 8)

struct bpf {
	int map, prog, link;
};

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int bpf_make_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = BPF_BYTES,
		.max_entries = 1,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

static int bpf_make_prog(int map)
{
	struct bpf_insn insns[] = {
		/* r6 = r1; if (bpf_get_current_pid_tgid() >> 32 != the task) return 0 */
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_pid_tgid),
		INSN(BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_0, 0, 0, 32),
		INSN(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 12, getpid()),
		/* *(u32 *)(r10 - 4) = 0; r0 = bpf_map_lookup_elem(map, r10 - 4) */
		INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
		INSN(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		/* if (r0) bpf_get_stack(r6, r0, BPF_BYTES, 0) */
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 5, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_6, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, BPF_BYTES),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_stack),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (unsigned long)insns,
		.insn_cnt = ARRAY_LEN(insns),
		.license = (unsigned long)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

/* 0, or the errno of the first step that failed. */
static int bpf_start(struct bpf *b, const char *event)
{
	union bpf_attr attr = { .raw_tracepoint.name = (unsigned long)event };

	b->map = bpf_make_map();
	if (b->map < 0)
		return errno;
	b->prog = bpf_make_prog(b->map);
	if (b->prog < 0)
		return errno;
	attr.raw_tracepoint.prog_fd = b->prog;
	b->link = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
	return b->link < 0 ? errno : 0;
}

static void bpf_stop(struct bpf *b, struct stack *s)
{
	unsigned int key = 0, i;
	unsigned long long ips[STACK_DEPTH] = {};
	union bpf_attr attr = {
		.map_fd = b->map,
		.key = (unsigned long)&key,
		.value = (unsigned long)ips,
	};

	close(b->link);
	bpf(BPF_MAP_LOOKUP_ELEM, &attr);
	close(b->prog);
	close(b->map);
	s->nr = 0;
	for (i = 0; i < STACK_DEPTH && ips[i]; i++)
		stack_add_address(s, ips[i]);
}

/* ---- The tests ---- */

/* The other consumers of the event, while one looks at the stack. */
enum { ALONE, TWO, ETCHED, NR_HOW };
static const char * const how_names[] = { "alone", "with a function", "with Etch" };

FIXTURE(frames)
{
	struct stack stack;
};

/* False if that cannot be. */
static bool others_come(const struct event *e, int how)
{
	if (how == TWO)
		return !mkdir(INSTANCE, 0755) && !write_file(INSTANCE, file_of(e, "enable"), "1");
	if (how == ETCHED)
		return have_etch() && !write_file(ETCH, file_of(e, "enable"), "1");
	return true;
}

static void others_go(const struct event *e, int how)
{
	if (how == TWO) {
		write_file(INSTANCE, file_of(e, "enable"), "0");
		rmdir(INSTANCE);
	}
	if (how == ETCHED && have_etch())
		write_file(ETCH, file_of(e, "enable"), "0");
}

FIXTURE_SETUP(frames)
{
	if (!have_ftrace())
		SKIP(return, NO_FTRACE);
	if (!stack_load_symbols())
		SKIP(return, "no symbols: CONFIG_KALLSYMS, or not root");
	overwrite_file(FTRACE, "trace", "");
}

FIXTURE_TEARDOWN(frames)
{
	unsigned int i;

	if (!have_ftrace())
		return;
	for (i = 0; i < ARRAY_LEN(events); i++) {
		write_file(FTRACE, file_of(&events[i], "enable"), "0");
		write_file(FTRACE, file_of(&events[i], "filter"), "0");
		write_file(FTRACE, file_of(&events[i], "trigger"), "!stacktrace");
		others_go(&events[i], TWO);
		others_go(&events[i], ETCHED);
	}
	write_file(FTRACE, "options/stacktrace", "0");
	overwrite_file(FTRACE, "trace", "");
}

static void tell(const char *who, int how, const struct event *e, const struct stack *s)
{
	unsigned int i;

	printf("# stack: %s %s %s:", who, how_names[how], e->name);
	for (i = 0; i < s->nr; i++)
		printf(" %s", s->names[i]);
	printf("\n");
}

/* Etch's functions are in none. */
static bool is_clean(const struct stack *s)
{
	return stack_find(s, "__tracestub_") < 0 && stack_find(s, "__tracemore_") < 0 &&
	       stack_find(s, "etch_") < 0;
}

/* The site, or the iterator behind it, has called a function of this name; "" is nobody. */
static bool called_by_site(const struct stack *s, const char *site, const char *function)
{
	int at = stack_find(s, site);

	/* perf tells it twice: as the sample's address, and in the chain. */
	while (at > 0 && !strncmp(s->names[at - 1], "__traceiter_", 12))
		at--;
	return !at || (at > 0 && *function &&
		       !strncmp(s->names[at - 1], function, strlen(function)));
}

static void ftrace_look(struct __test_metadata *_metadata, const struct event *e, int how,
			struct stack *s)
{
	if (!others_come(e, how))
		return;
	ASSERT_EQ(0, write_fmt(FTRACE, file_of(e, "filter"), "common_pid == %d", getpid()));
	ASSERT_EQ(0, write_file(FTRACE, "options/stacktrace", "1"));
	ASSERT_EQ(0, write_file(FTRACE, file_of(e, "enable"), "1"));
	e->hit();
	ASSERT_EQ(0, write_file(FTRACE, file_of(e, "enable"), "0"));
	ASSERT_EQ(0, write_file(FTRACE, "options/stacktrace", "0"));
	others_go(e, how);
	EXPECT_TRUE(stack_of_ftrace(FTRACE, e->caller, s));
	tell("ftrace", how, e, s);
	EXPECT_TRUE(is_clean(s));
	EXPECT_TRUE(called_by_site(s, e->site, "trace_event_raw_event_"));
	overwrite_file(FTRACE, "trace", "");
}

TEST_F(frames, ftrace_is_called_by_the_site)
{
	unsigned int i, how;

	if (access(FTRACE "/options/stacktrace", F_OK))
		SKIP(return, "no option stacktrace: CONFIG_STACKTRACE");
	for (i = 0; i < ARRAY_LEN(events); i++)
		for (how = ALONE; how < NR_HOW; how++)
			ftrace_look(_metadata, &events[i], how, &self->stack);
}

static void trigger_look(struct __test_metadata *_metadata, const struct event *e, int how,
			 struct stack *s)
{
	if (!others_come(e, how))
		return;
	ASSERT_EQ(0, write_fmt(FTRACE, file_of(e, "trigger"), "stacktrace if common_pid == %d",
			       getpid()));
	e->hit();
	ASSERT_EQ(0, write_file(FTRACE, file_of(e, "trigger"), "!stacktrace"));
	others_go(e, how);
	EXPECT_TRUE(stack_of_ftrace(FTRACE, e->caller, s));
	tell("trigger", how, e, s);
	EXPECT_TRUE(is_clean(s));
	EXPECT_TRUE(called_by_site(s, e->site, "trace_event_raw_event_"));
	overwrite_file(FTRACE, "trace", "");
}

TEST_F(frames, triggers_are_called_by_the_site)
{
	unsigned int i, how;

	if (times_in(FTRACE, file_of(&events[0], "trigger"), "stacktrace") == 0)
		SKIP(return, "no trigger stacktrace: CONFIG_STACKTRACE");
	for (i = 0; i < ARRAY_LEN(events); i++)
		for (how = ALONE; how < NR_HOW; how++)
			trigger_look(_metadata, &events[i], how, &self->stack);
}

static void perf_look(struct __test_metadata *_metadata, const struct event *e, int how,
		      struct stack *s)
{
	int fd;
	void *ring;

	if (!others_come(e, how))
		return;
	ring = perf_open(e, &fd);
	ASSERT_NE(NULL, ring);
	e->hit();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	others_go(e, how);
	EXPECT_TRUE(perf_find(ring, e->caller, s));
	perf_close(ring, fd);
	tell("perf", how, e, s);
	EXPECT_TRUE(is_clean(s));
	EXPECT_TRUE(called_by_site(s, e->site, ""));
}

TEST_F(frames, perf_has_the_address_of_the_site)
{
	unsigned int i, how;
	int fd;
	void *ring = perf_open(&events[0], &fd);

	if (!ring && (errno == ENOSYS || errno == ENOENT))
		SKIP(return, "perf has no tracepoints here: CONFIG_PERF_EVENTS");
	ASSERT_NE(NULL, ring);
	perf_close(ring, fd);
	for (i = 0; i < ARRAY_LEN(events); i++)
		for (how = ALONE; how < NR_HOW; how++)
			perf_look(_metadata, &events[i], how, &self->stack);
}

TEST_F(frames, bpf_is_called_by_the_site)
{
	const struct event *e = &events[0];
	struct bpf bpf = { .map = -1, .prog = -1, .link = -1 };
	int how, err;

	for (how = ALONE; how < NR_HOW; how++) {
		if (!others_come(e, how))
			continue;
		err = bpf_start(&bpf, e->name);
		if (err == ENOSYS || err == EINVAL || err == ENOENT)
			SKIP(return, "no raw tracepoints for BPF here: CONFIG_BPF_EVENTS");
		ASSERT_EQ(0, err);
		e->hit();
		bpf_stop(&bpf, &self->stack);
		others_go(e, how);
		tell("BPF", how, e, &self->stack);
		EXPECT_TRUE(is_clean(&self->stack));
		EXPECT_TRUE(called_by_site(&self->stack, e->site, "bpf_trace_run"));
	}
}

TEST_HARNESS_MAIN
