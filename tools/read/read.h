/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading a trace: records of all CPUs, in the order of their times, and their fields by name.
 *
 *	struct etch_source *source = etch_trace_open("trace");
 *	struct etch_record rec;
 *
 *	while (etch_next(source, &rec) > 0) {
 *		if (rec.loss)
 *			printf("%llu lost on CPU %d\n", rec.loss->total, rec.cpu);
 *		else if (etch_is(rec.event, "sched:sched_switch"))
 *			puts(etch_text(&rec, etch_field(rec.event, "next_comm")));
 *	}
 *	etch_close(source);
 *
 * How it hangs together; each part knows those below it:
 *
 *	trace.c		a folder as a source
 *	babel.c		the same of another tracer's, by libbabeltrace2; see babel.h
 *	merge.c		several CPUs' files, by time
 *	stream.c	a CPU's file: packets, records, and losses between packets. A CPU may have
 *			two: "cpuN", and "userN" with what programs have recorded by themselves
 *	notes.c		the folder .etch: symbols, tasks
 *	names.c		what threads are called when a record is written; see names.h
 *	format.c	format files: an event's fields and how it is printed
 *	tsdl.c		metadata: the clock, the environment, contexts, names of events; and the
 *			fields of events that have no format file
 *	layout.c	events and fields, made by the two above; fields' values
 *	bytes.h		bytes in memory, for those who write
 *
 * A source of another kind (babel.c is one) fills struct
 * etch_source with a next() and a close() of its own, describes its events by
 * etch_event_add() and etch_field_add(), and lays each record out as it has described it:
 * numbers in the machine's byte order, text as an array of char that ends with a zero, or
 * behind the payload with a word as in __data_loc. So all that looks at records works on
 * any source.
 *
 * A trace may have been made by anybody: every length and offset in it is checked before use.
 * Once next() has returned a record, all that its fields refer to is inside of it. A
 * record that makes no sense is skipped, with the rest of its packet, counted (struct
 * etch_cpu), and reported once by etch_complain(). Memory does not grow with the trace: there
 * is one buffer for each CPU.
 */
#ifndef _ETCH_READ_H
#define _ETCH_READ_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ETCH_IDS	(1 << 14)	/* of events: as many as a record can name */
#define ETCH_HEAD	12		/* bytes in front of a record's contexts and payload */
#define ETCH_CONTEXTS	4096		/* bytes of contexts: more make no sense */

/* ---- Events and fields: layout.c ---- */

enum etch_kind {
	ETCH_NUMBER,	/* 1, 2, 4 or 8 bytes */
	ETCH_TEXT,	/* characters; they may lack the zero at the end */
	ETCH_ARRAY,	/* numbers of @elem bytes each */
	ETCH_BYTES,	/* a struct, or what else is no number */
};

enum etch_where {
	ETCH_FIXED,	/* at @offset, of @size bytes */
	ETCH_LOC,	/* at @offset is a word: offset from the record, and bytes << 16 */
	ETCH_REL_LOC,	/* the same, with the offset from behind the word */
};

/**
 * struct etch_field - a field of an event, or a context
 * @name: its name
 * @type: in C, or "" if only metadata describes it
 * @kind: what it is
 * @where: where it is
 * @guessed: only metadata describes it, which does not tell whether @where is ETCH_LOC or
 *	ETCH_REL_LOC; the first record in which it is not empty does
 * @is_signed: numbers in it have a sign
 * @hex: people read it in base 16
 * @offset: from etch_record.data; of a context from etch_record.head
 * @size: bytes there
 * @elem: bytes of a number of an ETCH_ARRAY
 */
struct etch_field {
	const char *name, *type;
	enum etch_kind kind;
	enum etch_where where;
	bool guessed, is_signed, hex;
	unsigned int offset, size, elem;
};

/**
 * struct etch_event - an event that a trace may have records of
 * @index: counts the events of a source from 0 on: for tables by event
 * @id: in records
 * @system: its system, and
 * @name: its name
 * @full: both: "SYSTEM:NAME"
 * @fields: its fields
 * @nr_fields: how many
 * @size: bytes of a record without what is behind the payload, head included
 * @dynamic: some fields have their content behind the payload
 * @print: the format file's "print fmt:", or NULL
 * @format: the format file, or NULL; @format_len bytes
 * @format_len: see @format
 * @format_more: bytes of contexts that are in the offsets of @format, but not of @fields
 */
struct etch_event {
	unsigned int index, id;
	const char *system, *name, *full;
	struct etch_field *fields;
	unsigned int nr_fields, size;
	bool dynamic;
	const char *print;
	const char *format;
	size_t format_len;
	unsigned int format_more;
};

/* ---- Records ---- */

/**
 * struct etch_loss - records that are missing in front of a packet
 * @total: how many; the sum of the others, unless the trace contradicts itself
 * @overwritten: had been stored
 * @full: lost because the buffer was full
 * @throttled: because the budget was spent
 * @nested: because of where an interrupt came
 * @too_big: because they fit in no sub-buffer
 * @unknown: so many at least, for a reason that the trace does not tell
 * @packets: how many packets were overwritten; their records are in @overwritten
 * @since: the end of the packet before; they were lost between that and etch_record.time
 */
struct etch_loss {
	unsigned long long total, overwritten, full, throttled, nested, too_big, unknown, packets;
	uint64_t since;
};

enum etch_context { ETCH_TASK, ETCH_SOFTIRQ, ETCH_HARDIRQ, ETCH_NMI };

/**
 * struct etch_record - a record, or a loss; valid until the next etch_next()
 * @loss: a loss, and then only @time, @ns, @cpu and @where are set; NULL: a record
 * @time: by the trace's clock
 * @ns: the same in nanoseconds since the clock was at zero
 * @cpu: the CPU
 * @where: the same, with the figures so far
 * @pid: the thread; -1 if the trace of another tracer does not tell
 * @context: what the CPU was doing
 * @event: which event
 * @head: the record's first byte: what contexts' offsets count from
 * @data: what the fields' offsets count from: @head plus the bytes of contexts
 * @len: bytes from @data to the record's end
 *
 * Programs record no contexts. In their records these are zeroes; see etch_has_contexts().
 */
struct etch_record {
	const struct etch_loss *loss;
	uint64_t time, ns;
	int cpu, pid;
	const struct etch_cpu *where;
	enum etch_context context;
	const struct etch_event *event;
	const unsigned char *head, *data;
	unsigned int len;
};

/* ---- Sources ---- */

/**
 * struct etch_clock - what times mean
 * @name: as trace_clock has it, "" if unknown
 * @freq: ticks in a second; 1000000000: times are nanoseconds
 * @offset_ns: a time in ns plus this is the wall-clock time, in ns since 1970
 * @absolute: so it is; else the times have no relation to the wall clock
 */
struct etch_clock {
	char name[32];
	uint64_t freq;
	int64_t offset_ns;
	bool absolute;
};

/* What a CPU's file has been found to have so far. */
struct etch_cpu {
	int cpu;
	bool programs;			/* the records are of programs: "userN" */
	bool no_file;			/* the CPU has only the other one of its two files */
	unsigned long long packets, records, bytes;
	/* Records that packets say they have and that cannot be read. */
	unsigned long long unreadable;
	/* Bytes behind the last whole packet: the file was cut off, or is damaged there. */
	unsigned long long cut;
	struct etch_loss lost;		/* the sum; @since: 0 */
	/* Packets' numbers or counters that go back: the file is not one recording. */
	unsigned long long disorder;
	uint64_t first, last;		/* times of records */
	/* Records end at @gap_since: a loss comes next, or the file is cut off there. */
	bool gap;
	uint64_t gap_since;
	/* The thread that ran when the last packet was begun, and its name, if it has one. */
	int pid;
	char comm[17];
};

/**
 * struct etch_source - where records come from
 * @next: see etch_next()
 * @close: see etch_close()
 * @describe: gets the events of packets that need metadata of @generation, or newer, by
 *	etch_tsdl_more(); NULL: all that there is was described at the beginning
 * @generation: the packets' that were described last, if there is a @describe
 * @path: the folder
 * @foreign: it is no trace of Etch's: the folder has neither its packets nor its notes
 * @events: all events, @nr_events of them, by index
 * @nr_events: see @events
 * @by_id: by id, or NULL
 * @contexts: fields that every record has between its head and its payload
 * @nr_contexts: how many
 * @more: bytes of them
 * @clock: what times mean
 * @cpus: one for each CPU, by number; complete when etch_next() has returned 0
 * @nr_cpus: how many
 * @nr_programs: how many more there are in @cpus behind them, of files with programs' records;
 *	their CPUs are among @nr_cpus, too
 * @gaps: CPUs that have a gap now: a loss comes when it is over, but a reader that
 *	follows all CPUs has to know when it begins; see struct etch_cpu
 * @metadata: the text; "" if the source has none
 * @arena: what etch_source_alloc() gave
 */
struct etch_source {
	int (*next)(struct etch_source *source, struct etch_record *rec);
	void (*close)(struct etch_source *source);
	void (*describe)(struct etch_source *source, uint32_t generation);
	uint32_t generation;
	char *path;
	bool foreign;
	struct etch_event **events;
	unsigned int nr_events;
	struct etch_event *by_id[ETCH_IDS];
	struct etch_field *contexts;
	unsigned int nr_contexts, more;
	struct etch_clock clock;
	struct etch_cpu *cpus;
	unsigned int nr_cpus, nr_programs, gaps;
	char *metadata;
	struct etch_arena *arena;
};

/* A trace's folder. NULL if it cannot be read at all, which was said. */
struct etch_source *etch_trace_open(const char *path);
/* What the name of a CPU's file begins with. */
static inline const char *etch_cpu_kind(const struct etch_cpu *cpu)
{
	return cpu->programs ? "user" : "cpu";
}

/* Does the record have what source->contexts describes? */
static inline bool etch_has_contexts(const struct etch_record *rec)
{
	return !rec->where || !rec->where->programs;
}

/* The same of any tracer's; etch_trace_open() calls it. NULL unless its library is built in. */
struct etch_source *etch_babel_open(const char *path) __attribute__((weak));
/* 1: a record or a loss; 0: the end. Times do not go back. */
static inline int etch_next(struct etch_source *source, struct etch_record *rec)
{
	return source->next(source, rec);
}

void etch_close(struct etch_source *source);

/* Complaints about a trace go here; at first, to the standard error. */
extern void (*etch_complain)(const char *sentence);
void __attribute__((format(printf, 1, 2))) etch_complaint(const char *fmt, ...);

/* A value of the metadata's env, as "hostname"; copies it. False, and "", if there is none. */
bool etch_env(const struct etch_source *source, const char *name, char *value, size_t room);
/* A time of the clock, in nanoseconds. */
uint64_t etch_clock_ns(const struct etch_clock *clock, uint64_t time);

/* ---- Values: layout.c ---- */

static inline bool etch_is(const struct etch_event *event, const char *full)
{
	return event && !strcmp(event->full, full);
}

/* By "SYSTEM:NAME", or NULL. Several may have the name: this is the newest. */
struct etch_event *etch_event(const struct etch_source *source, const char *full);
/* By name, or NULL. */
const struct etch_field *etch_field(const struct etch_event *event, const char *name);
const struct etch_field *etch_context(const struct etch_source *source, const char *name);

/*
 * A table by event's index, with room for all events that the source has now. Events may come
 * while a source is read, so its user compares an index with @nr first. @table: what it is so
 * far, with @nr entries of @size bytes; NULL: nothing. New entries are zero. Returns NULL if there
 * is no memory, which it says, and @table is as it was. The caller frees it.
 */
void *etch_by_event(const struct etch_source *source, void *table, unsigned int *nr, size_t size);

/* Where a field's content is, and how many bytes. Never outside of the record. */
const unsigned char *etch_bytes(const struct etch_record *rec, const struct etch_field *field,
				size_t *len);
/* A number at @at, its sign extended. */
uint64_t etch_load(const void *at, unsigned int size, bool is_signed);
/* A field that is an ETCH_NUMBER; 0 if @field is NULL or no number. */
uint64_t etch_number(const struct etch_record *rec, const struct etch_field *field);
/* A context that is a number. */
uint64_t etch_context_number(const struct etch_record *rec, const struct etch_field *context);
/* An ETCH_TEXT up to its zero: bytes in @len. Not ended by a zero itself. */
const char *etch_text(const struct etch_record *rec, const struct etch_field *field, size_t *len);

/* For who makes a source. Memory that etch_close() frees; NULL: none, said. */
void *etch_source_alloc(struct etch_source *source, size_t size);
char *etch_source_text(struct etch_source *source, const char *text, size_t len);
/* Adds an event without fields; the newer one of two with one id counts. NULL: no memory. */
struct etch_event *etch_event_add(struct etch_source *source, unsigned int id, const char *full);
/* Adds a field behind the others. False if it makes no sense or there is no memory. */
bool etch_field_add(struct etch_source *source, struct etch_event *event,
		    const struct etch_field *field);
bool etch_context_add(struct etch_source *source, const struct etch_field *field);

/* ---- tsdl.c and format.c ---- */

/* Takes all that the reader needs from source->metadata. -1, said, if it is no metadata. */
int etch_tsdl_read(struct etch_source *source);
/* Adds the events of newer metadata that are not described yet. @text may go. */
void etch_tsdl_more(struct etch_source *source, const char *text);
/* Format files, one behind the other: fields become as they say. @text must stay. */
void etch_formats_read(struct etch_source *source, const char *text, size_t len);

/*
 * Bytes of a number of that type in C, as "unsigned long" or "u32"; 0: a struct, or unknown.
 * @is_signed: whether it has a sign; may be NULL.
 */
unsigned int etch_type_size(const char *type, size_t len, bool *is_signed);

/* ---- notes.c: the folder .etch; each is NULL if there is none ---- */

/* A whole file of the trace's folder, with a zero behind it, to be freed; NULL with errno. */
char *etch_file_read(const char *folder, const char *name, size_t *len);

/* Functions of the kernel, by address. */
struct etch_symbols;

struct etch_symbols *etch_symbols_open(const char *folder);
/* The function that @address is in: its name, not ended by a zero, @len bytes; NULL: none. */
const char *etch_symbol(const struct etch_symbols *symbols, uint64_t address, size_t *len,
			uint64_t *offset, uint64_t *size);
void etch_symbols_close(struct etch_symbols *symbols);

/* A thread that was there when the recording began or ended. */
struct etch_task {
	int tid, tgid, ppid;
	bool at_start;
	const char *comm;
};

/**
 * struct etch_tasks - all of those
 * @nr: how many
 * @list: in the order of their numbers; of one that was there twice, the start comes first
 * @text: their names
 */
struct etch_tasks {
	unsigned int nr;
	struct etch_task *list;
	char *text;
};

struct etch_tasks *etch_tasks_open(const char *folder);
/* The first of the list with that number, or NULL. */
const struct etch_task *etch_task(const struct etch_tasks *tasks, int tid);
void etch_tasks_close(struct etch_tasks *tasks);

/* ---- stream.c ---- */

struct etch_stream;

/* A CPU's file, from its beginning; takes @fd. NULL: no memory, said. */
struct etch_stream *etch_stream_open(struct etch_source *source, struct etch_cpu *cpu, int fd);
/*
 * As etch_next(), of that CPU. If @fd does not wait for more bytes (O_NONBLOCK), 0 may also
 * say that there are none now, and later calls return what has come.
 */
int etch_stream_next(struct etch_stream *stream, struct etch_record *rec);
/* Whether nothing comes any more. */
bool etch_stream_ended(const struct etch_stream *stream);
void etch_stream_close(struct etch_stream *stream);

/* ---- merge.c ---- */

/**
 * struct etch_lane - a CPU, and what it has next
 * @stream: the CPU's; NULL: there is none yet
 * @rec: the next record, if @waits
 * @waits: it is in the heap
 */
struct etch_lane {
	struct etch_stream *stream;
	struct etch_record rec;
	bool waits;
};

/**
 * struct etch_merge - several CPUs
 * @lanes: one for each, of @nr_lanes
 * @heap: those that have records, the earliest on top
 * @nr_lanes: see @lanes
 * @nr: how many are in @heap
 * @taken: the record on top was returned: it is to be replaced
 */
struct etch_merge {
	struct etch_lane *lanes, **heap;
	unsigned int nr_lanes, nr;
	bool taken;
};

/* The streams are for the caller to open. False: no memory. */
bool etch_merge_open(struct etch_merge *merge, unsigned int nr_lanes);
/* Looks at the lanes that had no record so far. */
void etch_merge_fill(struct etch_merge *merge);
/* The earliest record, unless it is later than @until: 1, or 0. Without its @ns. */
int etch_merge_next(struct etch_merge *merge, uint64_t until, struct etch_record *rec);
/* Closes the streams, too. */
void etch_merge_close(struct etch_merge *merge);

#endif /* _ETCH_READ_H */
