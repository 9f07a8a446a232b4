// SPDX-License-Identifier: GPL-2.0

#include <limits.h>

#include "fuzz_input.h"

struct list fuzz_events;

static const uint64_t fuzz_limits[] = {
	0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 63, 99, 100, 101, 127, 128, 255, 256, 511, 512, 513,
	1023, 1024, 4095, 4096, 8192, 32767, 65535, 65536, 1 << 20, 1 << 24, INT_MAX,
	1ULL << 31, UINT_MAX, 1ULL << 32, 1ULL << 53, ULONG_MAX >> 10, 1ULL << 54,
	ULONG_MAX / 2, 1ULL << 63, ULONG_MAX - 1, ULONG_MAX,
};

static const char * const fuzz_words[] = {
	"0", "1", "X", "on", "off", "overwrite", "discard", "counter", "mono", "mono_raw",
	"boot", "tai", "local", "global", "seq", "[mono]", "all", "nop", "-1", "0x10", "1k",
	"sched", "irq", "*", "*:*", ":", "!", "!*:*", "sched:", ":sched_switch", "sched:*",
	"!sched:*", "sched:sched_sw[i-t]*", "s?hed:*", "[", "[!", "[a-", "\\", "sched:\\*",
	"%s%s%n", "%pK", "../../enable", "/", "(expanded:", "\"", "'", ",",
	"common_pid & 1", "comm != \"x\"", "cpu < 64 && ", "!(", "CPUS{0-3}", "none",
	"traceoff:1 if common_pid < 0", "stacktrace:3", "!stacktrace", "signal:CONT:3", " if ",
	"start:x:key=common_pid", "!start:x:key=common_pid", "end:x:key=cpu", "!end:x:key=cpu",
	"latency > 5", "latency.max == 1", "hist:keys=latency.log2",
	"hist:keys=common_pid", "!hist:keys=common_pid", "hist:keys=common_pid.log2:size=128",
};

/* White space to the kernel: the last one is a no-break space. */
static const char * const fuzz_separators[] = {
	" ", " ", "\n", "\n", "\t", "  ", "\r\n", "\v", "\f", "\240", ",", ";", "\n\n", "",
};

void fuzz_add(struct fuzz_input *in, const void *bytes, size_t len)
{
	if (len > FUZZ_INPUT_MAX - in->len)
		len = FUZZ_INPUT_MAX - in->len;
	memcpy(in->bytes + in->len, bytes, len);
	in->len += len;
}

static void fuzz_add_text(struct fuzz_input *in, const char *text)
{
	fuzz_add(in, text, strlen(text));
}

/* Most that would make a buffer of hundreds of MiB are refused; they cost too much time. */
static void fuzz_add_number(struct fuzz_input *in)
{
	static const char * const formats[] = {
		"%llu", "%llu", "%llu", "%llu", "%lld", "%#llx", "0%llo", "+%llu", "0000%llu",
		"%llu0000000000", "%llu.5", "%lluK", "-%llu",
	};
	char text[64];
	uint64_t n = fuzz_of(fuzz_limits);

	if (fuzz_once_in(2))
		n = fuzz_below(2000);
	else if (fuzz_once_in(3))
		n += fuzz_below(3) - 1;
	if (n > 1 << 16 && n < 1ULL << 33)
		n &= 0xffff;
	snprintf(text, sizeof(text), fuzz_of(formats), (unsigned long long)n);
	fuzz_add_text(in, text);
}

/* An event's name, or a part of it, or with a part of it as a glob. */
static void fuzz_add_event(struct fuzz_input *in)
{
	const char *name = fuzz_events.lines[fuzz_below(fuzz_events.nr)];
	size_t at = in->len;

	if (fuzz_once_in(3))
		fuzz_add_text(in, "!");
	if (fuzz_once_in(8))
		name = strchr(name, ':') + 1;
	fuzz_add_text(in, name);
	if (fuzz_once_in(8) && in->len > at)
		in->len -= fuzz_below(in->len - at);
	if (fuzz_once_in(8))
		fuzz_add_text(in, "*");
}

void fuzz_change(struct fuzz_input *in)
{
	size_t at = fuzz_below(in->len + 1), n;

	switch (fuzz_below(6)) {
	case 0:
		in->bytes[at] = fuzz_any() >> 56;
		break;
	case 1:
		in->bytes[at] ^= 1 << fuzz_below(8);
		break;
	case 2:
		in->bytes[at] = 0;
		break;
	case 3:		/* a part is missing */
		n = fuzz_below(in->len - at + 1);
		memmove(in->bytes + at, in->bytes + at + n, in->len - at - n);
		in->len -= n;
		break;
	case 4:		/* a part is there twice */
		fuzz_add(in, in->bytes + at, in->len - at);
		break;
	default:	/* and nothing behind it */
		in->len = at;
	}
}

static void fuzz_by_grammar(struct fuzz_input *in)
{
	unsigned int words = fuzz_once_in(4) ? fuzz_below(8) : 1;

	/* Longer than any file takes. */
	if (fuzz_once_in(100))
		words = fuzz_below(2000);
	while (words--) {
		if (fuzz_once_in(8))
			fuzz_add_text(in, fuzz_of(fuzz_separators));
		switch (fuzz_below(4)) {
		case 0:
			fuzz_add_number(in);
			break;
		case 1:
			fuzz_add_event(in);
			break;
		default:
			fuzz_add_text(in, fuzz_of(fuzz_words));
		}
		if (words || fuzz_once_in(2))
			fuzz_add_text(in, fuzz_of(fuzz_separators));
	}
	if (fuzz_once_in(20))
		fuzz_add(in, "", 1);
	while (fuzz_once_in(3))
		fuzz_change(in);
}

static void fuzz_any_bytes(struct fuzz_input *in)
{
	size_t len = fuzz_below(fuzz_once_in(50) ? FUZZ_INPUT_MAX : 40);

	while (in->len < len) {
		uint64_t bytes = fuzz_any();

		fuzz_add(in, &bytes, sizeof(bytes));
	}
	in->len = len;
}

void fuzz_make(struct fuzz_input *in)
{
	in->len = 0;
	if (fuzz_once_in(3))
		fuzz_any_bytes(in);
	else
		fuzz_by_grammar(in);
	in->bytes[in->len] = 0;
}
