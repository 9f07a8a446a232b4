/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_STORM_WORKER_H
#define _ETCH_STORM_WORKER_H

/*
 * Workers of a storm: tasks that repeat one operation each until the storm is over. For the
 * storm's sources alone.
 *
 * A worker is a process, and its results are in memory that all share. An operation may fail
 * with the errors that its documentation names. Any other error is a failure of the test, and
 * ends the worker.
 */

#include "load.h"
#include "records.h"

/*
 * Every operation may use the main tree and ALL. RAW and TEXT are never emptied, and each has
 * a single taking reader: of packets for each CPU, and of text.
 */
#define ALL		ETCH "/instances/etch-storm-all"
#define RAW		ETCH "/instances/etch-storm-raw"
#define TEXT		ETCH "/instances/etch-storm-text"
/* An instance that is made and removed again and again. */
#define FLEETING	ETCH "/instances/etch-storm-fleeting"

/*
 * The storm goes on; workers that have done their part make room for the others; the storm is
 * over; and the taking readers read the rest.
 */
enum storm_phase {
	STORM_ON,
	STORM_ABATES,
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
	/* Its results. */
	pid_t pid;
	unsigned long long done, refused;
	struct records records;
	bool ended;			/* took the last record there was */
	char failed[200];
};

struct storm {
	enum storm_phase phase;
	unsigned int seed;
	int nr_cpus;			/* possible CPUs */
	int nr_clocks;
	char clocks[16][16];
	unsigned int nr;
	struct worker workers[64];
};

extern struct storm *storm;

/* The errors that an operation may be refused with. */
#define MAY(...)	((const int []){ __VA_ARGS__, 0 })

void storm_init(unsigned int seed);
struct worker *storm_add(struct worker w);
enum storm_phase storm_phase(void);
unsigned int dice(unsigned int sides);
__printf(2, 3) __noreturn void worker_fail(struct worker *w, const char *fmt, ...);
bool worker_did(struct worker *w, int err, const int *may, const char *what);
const char *any_tree(void);
const char *loose_tree(void);
const char *file_of_cpu(const char *name);
const char *file_or_cpus(const char *name);
void storm_begin(void);
void storm_abate(void);
void storm_enter(enum storm_phase phase);

#endif /* _ETCH_STORM_WORKER_H */
