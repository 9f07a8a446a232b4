// SPDX-License-Identifier: GPL-2.0
/*
 * Any bytes as a trace (tools/tracing/etch/read), whose records are printed
 * (tools/tracing/etch/verbs): nothing outside of a record is read, a record is in the packets so
 * far, times do not go back, no more records come than there is room for, and all bytes are in
 * packets or counted as cut off.
 *
 * The input is a file of packets, or, behind a '/', metadata, behind a '#', format files, which
 * describe the packets that follow a zero.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "read/read.h"
#include "verbs/etch.h"
#include "verbs/line.h"

static const char some_metadata[] =
	"stream { event.context := struct { integer { size = 2; align = 1; signed = false; } context;"
	" integer { size = 32; align = 1; signed = true; } pid; }; };\n"
	"event { id = 1; name = \"a:one\"; fields := struct { int32_t _x; char8_t _t[8]; }; };\n"
	"event { id = 2; name = \"a:two\"; fields := struct { loc16_t __s_offset;"
	" uint16_t __s_length; loc16_t __v_offset; integer { size = 2; align = 1; } __v_rest;"
	" integer { size = 14; align = 1; } __v_length; char8_t _s[__s_length];"
	" uint32_t _v[__v_length]; }; };\n";
static const char some_formats[] =
	"name: one\nID: 1\n\tfield:int x;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:char t[8];\toffset:16;\tsize:8;\tsigned:0;\n"
	"print fmt: \"%d %s %*ph\", REC->x, REC->t, 8, REC->t\n"
	"name: two\nID: 2\n\tfield:__rel_loc char[] s;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc u32[] v;\toffset:16;\tsize:4;\tsigned:0;\n"
	"print fmt: \"%s %s\", __get_rel_str(s), __print_array(__get_dynamic_array(v), "
	"__get_dynamic_array_len(v) / 4, 4)\n";

static char folder[64];
static int dir = -1, null = -1;

int trouble(const char *fmt, ...)
{
	abort();
}

static void no_complaint(const char *sentence)
{
}

static void put(const char *name, const void *bytes, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		abort();
	close(fd);
}

static void forget_folder(void)
{
	unlinkat(dir, "cpu0", 0);
	unlinkat(dir, "metadata", 0);
	unlinkat(dir, ".etch/formats", 0);
	unlinkat(dir, ".etch", AT_REMOVEDIR);
	rmdir(folder);
}

static void prepare(void)
{
	snprintf(folder, sizeof(folder), "/dev/shm/etch-trace-%d", getpid());
	if (mkdir(folder, 0700))
		abort();
	dir = open(folder, O_RDONLY | O_DIRECTORY);
	null = open("/dev/null", O_WRONLY);
	if (dir < 0 || null < 0 || mkdirat(dir, ".etch", 0700))
		abort();
	atexit(forget_folder);
	etch_complain = no_complaint;
}

/* All that the fields refer to is in the record, and that is in a packet. */
static void check_record(const struct etch_record *rec, const uint8_t *file, size_t size)
{
	const unsigned char *end = rec->data + rec->len, *at;
	size_t len = end - rec->head;
	const uint8_t *found = len <= size ? memmem(file, size, rec->head, len) : NULL;

	if (!found || found + len > file + rec->where->bytes)
		abort();
	for (unsigned int i = 0; i < rec->event->nr_fields; i++) {
		at = etch_bytes(rec, &rec->event->fields[i], &len);
		if (len && (at < rec->data || at + len > end))
			abort();
	}
}

static void read_trace(const uint8_t *file, size_t len)
{
	static struct out out;
	struct etch_source *source = etch_trace_open(folder);
	struct etch_record rec;
	struct liner liner;
	uint64_t time = 0;
	size_t records = 0;

	if (!source)
		return;
	if (!liner_open(&liner, source))
		abort();
	out = (struct out){ .fd = null };
	while (etch_next(source, &rec) > 0) {
		if (rec.time < time || records++ > len)
			abort();
		time = rec.time;
		names_look(liner.names, source, &rec, NULL, NULL);
		if (rec.loss) {
			line_loss(&liner, &out, &rec);
			continue;
		}
		check_record(&rec, file, len);
		liner.by_fields = records & 1;
		line_record(&liner, &out, &rec);
	}
	if (source->cpus[0].bytes + source->cpus[0].cut != len)
		abort();
	out_flush(&out);
	liner_close(&liner);
	etch_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = memchr(data, 0, size);
	size_t text = 0;

	if (dir < 0)
		prepare();
	put("metadata", some_metadata, strlen(some_metadata));
	put(".etch/formats", some_formats, strlen(some_formats));
	if (zero && (*data == '/' || *data == '#')) {
		text = zero - data;
		put(*data == '/' ? "metadata" : ".etch/formats", data, text);
		if (*data == '/')
			unlinkat(dir, ".etch/formats", 0);
		text++;
	}
	put("cpu0", data + text, size - text);
	read_trace(data + text, size - text);
	return 0;
}
