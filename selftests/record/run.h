/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_RUN_H
#define _ETCH_RUN_H

/*
 * Running the recorder, and looking at what it has written. For recorder.c and
 * recorder_ends.c alone.
 */

#include "etch.h"

#define RECORDER	"./etch-record"
#define INSTANCE	"etch-recorder"
#define TREE		ETCH "/instances/" INSTANCE
#define DIR_FORMAT	"/tmp/etch-recorder.%d"
#define DISK_KB		512
#define PORT		"45123"

/* The sums over a trace's files. */
struct found {
	int files;
	unsigned long long packets, records, bytes, overwritten, lost_full, gaps;
	unsigned int newest;	/* generation that a packet needs */
	bool broken;		/* some bytes are no packet, or a packet is cut */
};

/* A recorder that runs, and the trace that it makes. */
struct run {
	char dir[64], trace[80], said[65536];
	int out;
	pid_t pid;
	void (*before)(void);	/* called in the child, before it becomes the recorder */
};

#define RUN(run, ...) ({						\
	const char * const argv[] = { RECORDER, __VA_ARGS__, NULL };	\
	(run)->said[0] = 0;						\
	start(run, argv);						\
	finish(run);							\
})

#define START(run, ...) ({						\
	const char * const argv[] = { RECORDER, __VA_ARGS__, NULL };	\
	(run)->said[0] = 0;						\
	start(run, argv);						\
})

pid_t start(struct run *run, const char * const argv[]);
int finish(struct run *run);
bool wait_until_said(struct run *run, const char *text);
bool wait_until_heard(struct run *run);
long long said_records(const char *said);
struct found look_at_trace(const char *trace);
bool wait_until_written(const struct run *run);
int recorders_instances(void);
void remove_trace(const char *trace);
int listen_as_receiver(void);
bool take_metadata(int control, const char *no);

#endif /* _ETCH_RUN_H */
