// SPDX-License-Identifier: GPL-2.0
/*
 * How a recording goes, and what became of its records: the line of progress, and the account
 * at the end.
 *
 * The kernel counts records by CPU and by cause (stats), not by event, and the recorder looks
 * into no record. So the account has no figures by event: "etch list -d" counts them later.
 */
#include "record.h"

#include <stdio.h>
#include <unistd.h>

/* Those that came while tracing was turned off came after the end. */
static unsigned long long account_lost(const struct account *account)
{
	return account->of[LOST_FULL] + account->of[LOST_TOO_BIG] + account->of[LOST_NESTED] +
	       account->of[LOST_THROTTLED] + account->of[LOST_NO_BUFFER];
}

void account_progress(const struct readers *readers, double seconds)
{
	static unsigned long long hits_then;
	static double then;
	struct progress done;
	struct account account;
	unsigned long long hits;
	char line[160];

	/* News may come more often. */
	if (seconds - then < 0.9)
		return;
	readers_progress(readers, &done);
	readers_account(readers, &account);
	hits = account.of[WRITTEN] + account_lost(&account);
	snprintf(line, sizeof(line),
		 "%4.0f s  %.1f MB  %llu events, %.0f/s  %llu overwritten  %llu lost",
		 seconds, done.bytes / 1e6, hits,
		 hits > hits_then ? (hits - hits_then) / (seconds - then) : 0,
		 account.of[OVERWRITTEN], account_lost(&account));
	hits_then = hits;
	then = seconds;
	say_progress(line, isatty(STDERR_FILENO));
}

static void tell_lost(const struct account *account)
{
	static const char * const why[STATS] = {
		[OVERWRITTEN]	= "overwritten before they were read: have larger buffers (-b)",
		[LOST_FULL]	= "lost because a buffer was full: have larger ones (-b)",
		[LOST_TOO_BIG]	= "lost because they fit in no sub-buffer: see buffer_subbuf_size_kb",
		[LOST_NESTED]	= "lost because of where an interrupt came",
		[LOST_THROTTLED] = "lost because the budget was spent: see the file budget",
		[LOST_NO_BUFFER] = "lost because there was no memory for a CPU's buffer",
	};

	for (int i = 0; i < STATS; i++)
		if (why[i] && account->of[i])
			say("ATTENTION: %llu records were %s", account->of[i], why[i]);
}

/* Nothing may be missing that the kernel did not report. */
static int check_account(const struct progress *done, const struct account *account)
{
	unsigned long long ours = done->records + done->dropped - done->programs;
	int ret = 0;

	if (done->dropped)
		ret = fail("ATTENTION: %llu records were taken out of the buffers and could not be written",
			   done->dropped);
	if (account->of[ENTRIES])
		ret = fail("ATTENTION: %llu records are left in the buffers", account->of[ENTRIES]);
	if (account->of[READ] > ours)
		ret = fail("ATTENTION: %llu records are missing: somebody else has read them from this instance",
			   account->of[READ] - ours);
	if (account->of[READ] < ours)
		ret = fail("ATTENTION: the kernel counts %llu records fewer: somebody has emptied the buffers",
			   ours - account->of[READ]);
	return ret;
}

int account_tell(const struct readers *readers, const struct place *place, double seconds,
		 bool quiet)
{
	struct progress done;
	struct account account;

	readers_progress(readers, &done);
	readers_account(readers, &account);
	if (!quiet)
		say("%llu records of %d CPU%s, %.1f MB, in %.1f s, %s %s", done.records, done.files,
		    done.files == 1 ? "" : "s", done.bytes / 1e6, seconds,
		    place->dir < 0 ? "sent to" : "in", place->path);
	tell_lost(&account);
	return check_account(&done, &account);
}
