// SPDX-License-Identifier: GPL-2.0

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "storm_worker.h"

struct storm *storm;

#define STORM_CPUS	64

void storm_init(unsigned int seed)
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

struct worker *storm_add(struct worker w)
{
	if (storm->nr == ARRAY_LEN(storm->workers))
		give_up("too many workers");
	storm->workers[storm->nr] = w;
	return &storm->workers[storm->nr++];
}

enum storm_phase storm_phase(void)
{
	return __atomic_load_n(&storm->phase, __ATOMIC_RELAXED);
}

/* ---- In a worker ---- */

unsigned int dice(unsigned int sides)
{
	return rand() % sides;
}

void worker_fail(struct worker *w, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(w->failed, sizeof(w->failed), fmt, args);
	va_end(args);
	_exit(1);
}

/* @err: 0 or an errno. True: it was done. */
bool worker_did(struct worker *w, int err, const int *may, const char *what)
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

const char *any_tree(void)
{
	static const char * const trees[] = { ETCH, ALL, RAW, TEXT };

	return trees[dice(4)];
}

/* A tree that may be emptied. */
const char *loose_tree(void)
{
	return dice(2) ? ETCH : ALL;
}

const char *file_of_cpu(const char *name)
{
	static char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%u/%s", dice(storm->nr_cpus), name);
	return file;
}

/* Of the whole tree, or of a CPU. */
const char *file_or_cpus(const char *name)
{
	return dice(2) ? name : file_of_cpu(name);
}

/*
 * On a slow machine each worker waits seconds for the others. Recording takes many steps, so
 * it may not end within the test's patience. Workers that have done their part therefore
 * wait ten seconds before they do more.
 */
static void worker_make_room(const struct worker *w)
{
	for (int i = 0; i < 100 && storm_phase() == STORM_ABATES; i++) {
		if (w->rest || w->done < w->least)
			return;
		usleep(100000);
	}
}

static void worker_run(struct worker *w)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, w->name);
	srand(storm->seed + (w - storm->workers));
	while (!w->ended && (w->rest || storm_phase() < STORM_OVER)) {
		w->op(w);
		if (w->pause && storm_phase() < STORM_OVER)
			usleep(dice(w->pause));
		worker_make_room(w);
	}
	_exit(0);
}

/* ---- Outside ---- */

void storm_begin(void)
{
	for (unsigned int i = 0; i < storm->nr; i++) {
		pid_t pid = fork();

		if (pid < 0)
			give_up("fork");
		/* The parent sets the pid: pid is zero in the child, which might write it later. */
		if (!pid)
			worker_run(&storm->workers[i]);
		storm->workers[i].pid = pid;
	}
}

void storm_abate(void)
{
	__atomic_store_n(&storm->phase, STORM_ABATES, __ATOMIC_RELAXED);
}

/* Sets the phase, and waits for the workers that end with it. */
void storm_enter(enum storm_phase phase)
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
