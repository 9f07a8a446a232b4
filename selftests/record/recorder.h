/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_RECORDER_H
#define _ETCH_RECORDER_H

/* The fixture of recorder.c and recorder_ends.c, and what both expect of a trace. */

#include "etch_test.h"
#include "run.h"

FIXTURE(recorder) {
	struct run run;
};

FIXTURE_SETUP(recorder)
{
	if (!have_etch())
		SKIP(return, NO_ETCH);
	memset(self, 0, sizeof(*self));
	snprintf(self->run.dir, sizeof(self->run.dir), DIR_FORMAT, getpid());
	snprintf(self->run.trace, sizeof(self->run.trace), "%s/trace", self->run.dir);
	rmdir(TREE);
	ASSERT_EQ(0, mkdir(self->run.dir, 0700));
	ASSERT_EQ(0, recorders_instances());
}

FIXTURE_TEARDOWN(recorder)
{
	remove_trace(self->run.trace);
	EXPECT_EQ(0, rmdir(self->run.dir));
	EXPECT_EQ(0, recorders_instances());
	rmdir(TREE);
}

/* A receiver, and a recorder that has begun to send it what the scheduler does. */
#define START_BOTH(receiver, run) do {					\
	START(receiver, "-l", "127.0.0.1:" PORT, "-o", (run)->trace);	\
	ASSERT_TRUE(wait_until_said(receiver, "listening"));		\
	START(run, "-v", "-e", "sched", "-s", "127.0.0.1:" PORT);	\
	EXPECT_TRUE(wait_until_said(run, " s  "));			\
} while (0)

#define SHOW_IF(run, wrong) do {						\
	if (wrong)							\
		TH_LOG("it said:\n%s", (run)->said);			\
} while (0)

/* The trace is whole, and has as many records as the recorder printed. */
#define EXPECT_TRACE(run, found) do {					\
	(found) = look_at_trace((run)->trace);				\
	EXPECT_FALSE((found).broken);					\
	EXPECT_EQ(said_records((run)->said), (found).records);		\
	EXPECT_EQ(0, access(path_of((run)->trace, "metadata"), R_OK));	\
	EXPECT_NE(0, access(path_of((run)->trace, ".metadata.new"), F_OK)); \
} while (0)

#endif /* _ETCH_RECORDER_H */
