/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_STORM_H
#define _ETCH_STORM_H

/*
 * Workers of a storm: tasks that do one operation each, over and over, until they are told
 * to stop. For storm.c and its headers alone.
 *
 * A worker is a process, and what it has to tell is in memory that all share. An operation
 * may be refused with the errors that its documentation names. Any other is a failure,
 * which ends the worker.
 */

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "load.h"
#include "records.h"

/*
 * The main tree and ALL have everything done to them. RAW and TEXT are never emptied, and
 * have a single reader who takes: in packets of each CPU, and as text.
 */
#define ALL		ETCH "/instances/etch-storm-all"
#define RAW		ETCH "/instances/etch-storm-raw"
#define TEXT		ETCH "/instances/etch-storm-text"
/* One that comes and goes. */
#define FLEETING	ETCH "/instances/etch-storm-fleeting"

#define STORM_CPUS	64

/* How far it is: it goes on, it is over, and everything that is left is to be taken. */
enum storm_phase {
	STORM_ON,
	STORM_OVER,
	STORM_REST,
};

struct worker {
	const char *name;
	void (*op)(struct worker *w);
	unsigned int pause;		/* microseconds at most, between two operations */
	unsigned int least;		/* how often it has to be done, or the test fails */
	bool rest;			/* goes on until STORM_REST, and does not stop then */
	int arg;
	/* What became of it. */
	pid_t pid;
	unsigned long long done, refused;
	struct records records;
	bool ended;			/* took the last record there was */
	char failed[200];
};

struct storm {
	enum storm_phase phase;
	unsigned int seed;
	int nr_cpus;			/* that there can be */
	int nr_clocks;
	char clocks[16][16];
	unsigned int nr;
	struct worker workers[64];
};

static struct storm *storm;

static inline void storm_init(unsigned int seed)
{
	storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (storm == MAP_FAILED)
		give_up("%zu bytes", sizeof(*storm));
	storm->seed = seed;
	storm->nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (storm->nr_cpus > STORM_CPUS)
		storm->nr_cpus = STORM_CPUS;
}

static inline struct worker *storm_add(struct worker w)
{
	if (storm->nr == ARRAY_LEN(storm->workers))
		give_up("too many workers");
	storm->workers[storm->nr] = w;
	return &storm->workers[storm->nr++];
}

static inline enum storm_phase storm_phase(void)
{
	return __atomic_load_n(&storm->phase, __ATOMIC_RELAXED);
}

/* ---- In a worker ---- */

static inline unsigned int dice(unsigned int sides)
{
	return rand() % sides;
}

static inline __printf(2, 3) __noreturn void worker_fail(struct worker *w, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(w->failed, sizeof(w->failed), fmt, args);
	va_end(args);
	_exit(1);
}

/* The errors that an operation may be refused with. */
#define MAY(...)	((const int []){ __VA_ARGS__, 0 })

/* @err: 0 or an errno. True: it was done. */
static inline bool worker_did(struct worker *w, int err, const int *may, const char *what)
{
	if (!err) {
		w->done++;
		return true;
	}
	for (; *may; may++) {
		if (err == *may) {
			w->refused++;
			return false;
		}
	}
	worker_fail(w, "%s: %s", what, strerror(err));
}

static inline const char *any_tree(void)
{
	static const char * const trees[] = { ETCH, ALL, RAW, TEXT };

	return trees[dice(4)];
}

/* One that may be emptied. */
static inline const char *loose_tree(void)
{
	return dice(2) ? ETCH : ALL;
}

static inline const char *file_of_cpu(const char *name)
{
	static char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%u/%s", dice(storm->nr_cpus), name);
	return file;
}

/* Of the whole tree, or of a CPU. */
static inline const char *file_or_cpus(const char *name)
{
	return dice(2) ? name : file_of_cpu(name);
}

static inline void worker_run(struct worker *w)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, w->name);
	srand(storm->seed + (w - storm->workers));
	while (!w->ended && (w->rest || storm_phase() == STORM_ON)) {
		w->op(w);
		if (w->pause && storm_phase() == STORM_ON)
			usleep(dice(w->pause));
	}
	_exit(0);
}

/* ---- Outside ---- */

static inline void storm_begin(void)
{
	for (unsigned int i = 0; i < storm->nr; i++) {
		storm->workers[i].pid = fork();
		if (storm->workers[i].pid < 0)
			give_up("fork");
		if (!storm->workers[i].pid)
			worker_run(&storm->workers[i]);
	}
}

/* Has those that are through by then come home. */
static inline void storm_enter(enum storm_phase phase)
{
	__atomic_store_n(&storm->phase, phase, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < storm->nr; i++) {
		struct worker *w = &storm->workers[i];

		if (w->rest != (phase == STORM_REST))
			continue;
		waitpid(w->pid, NULL, 0);
		w->pid = 0;
	}
}

#endif /* _ETCH_STORM_H */
