// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's other users of tracepoints go through the same gates: perf's
 * counters and BPF's raw tracepoints, each alone, with Etch, and with Etch coming
 * and going meanwhile, see each hit once.
 *
 * The event is sched:sched_process_fork: the test forks as often as it needs. Other
 * tasks fork, too. So the test compares the counts of two users over the same time,
 * each of which must be at least the number of the test's own forks.
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "etch_test.h"

#define EVENT	"sched_process_fork"
#define ENABLE	"events/sched/" EVENT "/enable"
#define FORKS	200

/* ---- perf ---- */

static int perf_id(void)
{
	char *text;
	int id;

	if (!have_ftrace())
		return -1;
	text = read_line(FTRACE, "events/sched/" EVENT "/id");
	id = text ? atoi(text) : -1;
	return id;
}

/* Counts on one CPU, for all tasks. */
static int perf_open(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = perf_id(),
		.sample_period = 1ULL << 62,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

struct perf {
	int fds[64];
	int nr;
};

static int perf_start(struct perf *perf)
{
	int cpus = nr_cpus();

	for (perf->nr = 0; perf->nr < cpus && perf->nr < 64; perf->nr++) {
		perf->fds[perf->nr] = perf_open(perf->nr);
		if (perf->fds[perf->nr] < 0)
			return errno;
	}
	return 0;
}

static long long perf_stop(struct perf *perf)
{
	unsigned long long value, sum = 0;

	while (perf->nr--) {
		ioctl(perf->fds[perf->nr], PERF_EVENT_IOC_DISABLE, 0);
		if (read(perf->fds[perf->nr], &value, sizeof(value)) == sizeof(value))
			sum += value;
		close(perf->fds[perf->nr]);
	}
	return sum;
}

/* ---- BPF: a program that adds one to the only element of an array ---- */

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
		.value_size = 8,
		.max_entries = 1,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

#define INSN(c, d, s, o, i)	\
	((struct bpf_insn) { .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })

static int bpf_make_prog(int map)
{
	struct bpf_insn insns[] = {
		/* *(u32 *)(r10 - 4) = 0; r2 = r10 - 4 */
		INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
		/* r1 = map; r0 = bpf_map_lookup_elem(r1, r2) */
		INSN(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		/* if (r0) add 1 to *r0, atomically */
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, 0, BPF_ADD),
		/* return 0 */
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
static int bpf_start(struct bpf *b)
{
	union bpf_attr attr = { .raw_tracepoint.name = (unsigned long)EVENT };

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

static long long bpf_stop(struct bpf *b)
{
	unsigned int key = 0;
	long long value = -1;
	union bpf_attr attr = {
		.map_fd = b->map,
		.key = (unsigned long)&key,
		.value = (unsigned long)&value,
	};

	close(b->link);
	bpf(BPF_MAP_LOOKUP_ELEM, &attr);
	close(b->prog);
	close(b->map);
	return value;
}

/* ---- The tests ---- */

static void make_forks(unsigned int times)
{
	pid_t child;

	while (times--) {
		child = fork();
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

FIXTURE(consumers)
{
	struct perf perf;
	struct bpf bpf;
};

FIXTURE_SETUP(consumers)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	etch_as_new();
}

FIXTURE_TEARDOWN(consumers)
{
	write_file(ETCH, ENABLE, "0");
}

/* Etch comes and goes while there are hits. */
static void make_forks_and_toggle(void)
{
	unsigned int i;

	for (i = 0; i < 50; i++) {
		write_file(ETCH, ENABLE, "1");
		make_forks(2);
		write_file(ETCH, ENABLE, "0");
		make_forks(2);
	}
}

TEST_F_TIMEOUT(consumers, perf_counts_each_hit, 120)
{
	long long count;
	int err;

	if (perf_id() < 0)
		SKIP(return, NO_FTRACE);
	err = perf_start(&self->perf);
	if (err == ENOSYS || err == ENOENT)
		SKIP(return, "perf has no tracepoints here: CONFIG_PERF_EVENTS");
	ASSERT_EQ(0, err);
	make_forks(FORKS);
	count = perf_stop(&self->perf);
	EXPECT_LE(FORKS, count);
	EXPECT_GT(2 * FORKS, count);

	/* With Etch, which counts beside it what it has stored. */
	ASSERT_EQ(0, write_file(ETCH, ENABLE, "1"));
	ASSERT_EQ(0, perf_start(&self->perf));
	make_forks(FORKS);
	count = perf_stop(&self->perf);
	EXPECT_LE(FORKS, count);
	EXPECT_GT(2 * FORKS, count);
	EXPECT_LE(FORKS, stat_sum(ETCH, "written"));
	ASSERT_EQ(0, write_file(ETCH, ENABLE, "0"));

	ASSERT_EQ(0, perf_start(&self->perf));
	make_forks_and_toggle();
	count = perf_stop(&self->perf);
	EXPECT_LE(FORKS, count);
	EXPECT_GT(2 * FORKS, count);
}

TEST_F_TIMEOUT(consumers, bpf_runs_at_each_hit, 120)
{
	long long count;
	int err = bpf_start(&self->bpf);

	if (err == ENOSYS || err == EINVAL || err == ENOENT)
		SKIP(return, "no raw tracepoints for BPF here: CONFIG_BPF_EVENTS");
	ASSERT_EQ(0, err);
	make_forks(FORKS);
	count = bpf_stop(&self->bpf);
	EXPECT_LE(FORKS, count);
	EXPECT_GT(2 * FORKS, count);

	ASSERT_EQ(0, bpf_start(&self->bpf));
	make_forks_and_toggle();
	count = bpf_stop(&self->bpf);
	EXPECT_LE(FORKS, count);
	EXPECT_GT(2 * FORKS, count);
}

/* All of them at once; they leave one after the other, and each counted all hits until then. */
TEST_F_TIMEOUT(consumers, all_together, 120)
{
	long long perf, bpf;
	int err = bpf_start(&self->bpf);

	if (err == ENOSYS || err == EINVAL || err == ENOENT)
		SKIP(return, "no raw tracepoints for BPF here: CONFIG_BPF_EVENTS");
	ASSERT_EQ(0, err);
	if (perf_id() < 0)
		SKIP(return, NO_FTRACE);
	ASSERT_EQ(0, perf_start(&self->perf));
	ASSERT_EQ(0, write_file(FTRACE, ENABLE, "1"));
	ASSERT_EQ(0, write_file(ETCH, ENABLE, "1"));

	make_forks(FORKS);
	perf = perf_stop(&self->perf);
	make_forks(FORKS);
	bpf = bpf_stop(&self->bpf);
	make_forks(FORKS);
	ASSERT_EQ(0, write_file(FTRACE, ENABLE, "0"));
	make_forks(FORKS);
	ASSERT_EQ(0, write_file(ETCH, ENABLE, "0"));
	make_forks(FORKS);

	EXPECT_LE(FORKS, perf);
	EXPECT_GT(2 * FORKS, perf);
	EXPECT_LE(2 * FORKS, bpf);
	EXPECT_GT(3 * FORKS, bpf);
	EXPECT_LE(4 * FORKS, stat_sum(ETCH, "written"));
	EXPECT_GT(5 * FORKS, stat_sum(ETCH, "written"));
}

TEST_HARNESS_MAIN
