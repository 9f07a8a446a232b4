/* SPDX-License-Identifier: GPL-2.0 */
/*
 * etch-record: what its parts know of each other.
 *
 *	record.c	the options, a recording from its beginning to its end
 *	command.c	the command that is recorded, signals
 *	tree.c		an instance's files, and the settings changed in them
 *	preset.c	events that belong together, by a name
 *	reader.c	a thread for each CPU, and the metadata that its packets need
 *	account.c	progress, and what became of the records
 *	keep.c		what readers need beside packets and metadata: the folder .etch
 *	pump.c		packets from one file to another, by splice()
 *	place.c		where a trace goes: a folder, or a receiver elsewhere
 *	receive.c	that receiver
 *	repair.c	a trace that was cut off
 *
 * A function that returns an int returns 0, or -1 after it has said what went wrong.
 */
#ifndef _ETCH_RECORD_H
#define _ETCH_RECORD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <linux/etch_packet.h>

/* ---- record.c: the program, and messages ---- */

/*
 * etch-record, with its options. @name is what its messages begin with; @words, which end
 * with NULL, begin with the program's name. Returns an exit status.
 */
int record_main(const char *name, int argc, char **words);

/**
 * struct recorded - for a caller that opens the trace when the user gives --open
 * @can_open: set by the caller: it can; else --open is refused
 * @open: the user wants that
 * @folder: the trace; NULL: there is none here
 */
struct recorded {
	bool can_open, open;
	const char *folder;
};

int record_for(struct recorded *recorded, const char *name, int argc, char **words);

/* Exit statuses, beside those of the command. */
enum { EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_NO_COMMAND = 127, EXIT_SIGNAL = 128 };

/* What messages begin with from now on. */
void say_as(const char *name);
/* Progress, in place of the line before if this is a @terminal. */
void say_progress(const char *line, bool terminal);
/* A line for the user. */
void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...);
/* The same, of something that went wrong; -1. */
int __attribute__((format(printf, 1, 2))) fail(const char *fmt, ...);

/* ---- command.c ---- */

/**
 * struct command - a command that runs while records are taken, and signals
 * @words: the command; NULL: there is none
 * @pid: its process; 0: none, or it has ended
 * @go: a pipe: the command begins when it is written to; -1: it was, or there is none
 * @failed: a pipe: the errno, if the command cannot be run
 * @status: the command's, as a shell gives it
 * @signals: a signalfd
 * @files: the limit of open files that the command gets
 */
struct command {
	char **words;
	pid_t pid;
	int go, failed;
	int status;
	int signals;
	struct rlimit files;
};

/* The signals that end what goes on. */
void signals_that_end(sigset_t *set);
/* Takes the signals, before there are threads, which inherit that. @words may be NULL. */
int command_open(struct command *command, char **words);
/* Makes the process, which waits. */
int command_prepare(struct command *command);
int command_start(struct command *command);
/* Has the command ended, or has a signal come that ends all? For when @signals is readable. */
bool command_is_over(struct command *command);
bool command_ended(struct command *command);
/* The command may not have begun, and then it will not; or have more to do than we. */
void command_leave(struct command *command);
/*
 * From now on a signal does not wait until somebody looks: it prints @text and ends the
 * process. But for SIGHUP: of a terminal that is closed there come two, from the shell and
 * from the kernel.
 */
void command_signals_abort(const char *text);
/* As many as this process may have; @before: the limit until then. */
void open_many_files(struct rlimit *before);
/* ---- tree.c ---- */

/* What became of a CPU's records, as its file stats tells. */
enum {
	ENTRIES,
	WRITTEN,
	READ,
	OVERWRITTEN,
	LOST_FULL,
	LOST_TOO_BIG,
	LOST_NESTED,
	LOST_THROTTLED,
	LOST_OFF,
	LOST_NO_BUFFER,
	STATS
};

/**
 * struct account - figures of a CPU, or of all
 * @of: one for each line of stats, in the order above
 */
struct account {
	unsigned long long of[STATS];
};

extern const char * const account_names[STATS];

/**
 * struct tree - an instance of Etch
 * @path: its folder
 * @dir: the same, open, because a path lookup waits for those who enable events, and each
 *	 file needs fewer of them from here; 0: it is not open
 * @root: the folder of the main tree
 * @own: made by us: it goes when we do
 * @changes: what others find changed, the last one first; not kept of one of our own
 */
struct tree {
	char path[PATH_MAX], root[PATH_MAX];
	int dir;
	bool own;
	struct change *changes;
};

int tree_open(struct tree *tree, const char *root, const char *instance);
/* Put everything back, or remove what is our own. All its files are closed by now. */
int tree_close(struct tree *tree);
/* A whole file, ended with a zero, to be freed; NULL with errno. */
char *tree_read(const struct tree *tree, const char *file, size_t *len);

/**
 * struct tree_format - what a format file says of one event
 * @text: not ended; no empty line is behind it
 * @len: of @text
 * @name: the event's, without its system; not ended
 * @name_len: of @name
 * @id: in its records; -1 if the text does not say
 */
struct tree_format {
	const char *text, *name;
	size_t len, name_len;
	long id;
};

/* The formats of all events of a system, or of all (NULL), to be freed; NULL with errno. */
char *tree_formats(const struct tree *tree, const char *system);
/* The format that begins at @at. Returns where the next one begins; NULL: there was none. */
const char *tree_format(const char *at, struct tree_format *format);
/* The events that the kernel has, "SYSTEM:EVENT\n" each; to be freed; NULL, said. */
char *tree_events(const struct tree *tree);
/* Does such a text have this line, "SYSTEM:EVENT"? */
bool tree_lists(const char *events, const char *event);
/* One write(). */
int tree_write(const struct tree *tree, const char *file, const char *text);
int tree_try(const struct tree *tree, const char *file, const char *text);
/* The same, of a setting that tree_close() puts back. */
int tree_change(struct tree *tree, const char *file, const char *text);
/* Events by names with commas between them: more of them are on. */
int tree_choose_events(struct tree *tree, const char *words);
/* Of each CPU's buffer: KiB, or with K, M or G behind. */
int tree_choose_size(struct tree *tree, const char *size);
/* False if that cannot be known, either. */
bool tree_is_off(const struct tree *tree);
/* A CPU's packets, of @programs or of the kernel, without waiting; -1 with errno. */
int tree_open_packets(const struct tree *tree, int cpu, bool programs);
/* Whether this kernel has records of programs. */
bool tree_has_programs(const struct tree *tree);
/* Whether CPU @cpu is there and has told. */
bool tree_stats(const struct tree *tree, int cpu, struct account *account);
/* Calls @each with the number of every CPU that has a folder, until it does not return 0. */
int tree_each_cpu(const struct tree *tree, int (*each)(void *arg, int cpu), void *arg);

/* ---- preset.c ---- */

/* Names of presets, with commas. -1, said, if there is none of that name. */
int preset_check(const char *names);
/* Adds their events to those that are on. -1, said, if the kernel has none of them. */
int preset_choose(struct tree *tree, const char *names);

/* ---- place.c ---- */

/**
 * struct place - where a trace goes
 * @path: the folder, or the receiver's address
 * @dir: the folder; -1: to a receiver
 * @peer: the receiver's address
 * @control: the connection that metadata goes through
 * @gone: nobody is at its other end, which was said; nothing is sent, and nothing more said
 * @refused: its metadata was not taken, which was said, and @control is of no use
 * @sync: files are on the disk before they are taken as written
 * @notes: the folder .etch; 0: not made yet
 * @takes: a bit for each note that the receiver takes
 * @lacks_notes: that it lacks one was said
 */
struct place {
	const char *path;
	int dir;
	struct sockaddr_storage peer;
	int control;
	atomic_bool gone, refused;
	bool sync, lacks_notes;
	int notes;
	unsigned int takes;
};

/* HOST:PORT, [HOST]:PORT, or PORT if @any; numbers only. */
int place_address(const char *text, bool any, struct sockaddr_storage *addr);
int place_folder(struct place *place, const char *path);
int place_receiver(struct place *place, const char *address);
/* Turns on keepalive, so that a peer which vanishes is noticed after some 30 s. */
void place_keep_asking(int fd);
/* Replaces what was there, at once or not at all. */
int place_metadata(struct place *place, const char *text, size_t len);
/* A file of the folder .etch, in place of the one before. */
int place_note(struct place *place, const char *name, const char *text, size_t len);
/* Whether a file of .etch may have this name. */
bool place_may_note(const char *name);
/* The names, one after the other; NULL behind the last one. */
const char *place_note_name(unsigned int i);
/* A file that did not exist before; a descriptor to write to, or -1, said. */
int place_file(struct place *place, const char *name);
/* Its first @bytes are kept. Closes @fd in any case. */
int place_file_end(struct place *place, const char *name, int fd, unsigned long long bytes);
/* Nothing comes any more. */
int place_end(struct place *place);
/* A hint for the user after a write to a place failed with @err: ": and a hint", or "". */
const char *place_advice(int err);
/* The other end of @control is closed, before place_end(): says so, if nobody has; -1. */
int place_gone(struct place *place);

/* Sockets, by line and by length; -1 with errno, 0 at the end of the file. */
int write_all(int fd, const void *bytes, size_t len);
int read_all(int fd, void *bytes, size_t len);
int read_text_line(int fd, char *line, size_t room);

/* ---- pump.c ---- */

/* How far a turn came. */
enum pump_state {
	PUMP_MOVED,	/* there may be more */
	PUMP_EMPTY,	/* nothing for now */
	PUMP_ENDED,	/* the source has ended */
	PUMP_FAILED,	/* said */
};

/**
 * struct pump - packets on their way from one file to another
 * @name: of the file that they go to
 * @from: where they come from
 * @to: where they go; -1 until the first one comes
 * @begin: called before a packet goes, with @to open or not; it opens it
 * @arg: for @begin
 * @pipe: bytes read from @from and not yet in @to
 * @peek: for a look at the bytes in @pipe
 * @room: bytes that @pipe can have
 * @have: bytes in @pipe
 * @left: bytes of a packet that have not gone yet
 * @header: of that packet
 * @copy: @to knows no splice()
 * @broken: something went wrong: the rest of @pipe goes nowhere
 * @starved: how often in a row the kernel had no memory
 * @packets: how many have gone whole
 * @bytes: how many they have
 * @records: and how many records
 * @dropped: records taken from @from that are in no whole packet
 */
struct pump {
	char name[32];
	int from, to;
	int (*begin)(struct pump *pump, const struct etch_packet_header *header);
	void *arg;
	int pipe[2], peek[2];
	size_t room, have;
	unsigned long long left;
	struct etch_packet_header header;
	bool copy, broken;
	unsigned int starved;
	atomic_ullong packets, bytes, records, dropped;
};

bool pump_header_ok(const struct etch_packet_header *header);
int pump_open(struct pump *pump, const char *name, int from);
enum pump_state pump_turn(struct pump *pump);
/* Leaves @to open: who opened it knows how to end it. */
void pump_close(struct pump *pump);

/* ---- keep.c ---- */

#define KEEP_IDS	(1 << 14)	/* of events: as many as a record can name */

/* A file of .etch while it is written. */
struct kept_text {
	char *bytes;
	size_t len, room;
};

/**
 * struct kept - the notes beside the packets
 * @tree: where it comes from
 * @place: where it goes; NULL: nowhere
 * @failed: something could not be kept, which was said; the rest is not kept
 * @known: a bit for each event whose format is in @formats, or has none
 * @wanted: a bit for each event whose format is being looked for
 * @formats: a file
 * @tasks: a file
 * @account: a file
 * @command: a file
 */
struct kept {
	const struct tree *tree;
	struct place *place;
	bool failed;
	unsigned char known[KEEP_IDS / 8], wanted[KEEP_IDS / 8];
	struct kept_text formats, tasks, account, command;
};

/* Writes nothing yet: metadata goes first. @words: the recorder's arguments. */
void keep_begin(struct kept *kept, const struct tree *tree, struct place *place, char **words);
/* The command, and the tasks that are there. */
void keep_start(struct kept *kept);
/* The formats of events in @metadata that are not kept yet. */
void keep_formats(struct kept *kept, const char *metadata);
/* Adds these to @kept->formats, and writes nothing. */
void keep_look(struct kept *kept, const char *metadata);
/* Adds a CPU to the file that keep_end() writes. */
void keep_account(struct kept *kept, int cpu, const struct account *account);
/* The names of the kernel's functions, which keep_end() keeps, too. */
void keep_symbols(struct kept *kept);
/* All the rest; frees. */
void keep_end(struct kept *kept, int status);
/* Frees, and writes nothing. */
void keep_drop(struct kept *kept);

/* ---- reader.c ---- */

/**
 * struct metadata - the description of the packets, where they are
 * @tree: where it comes from
 * @place: where it goes
 * @kept: gets the formats of its events
 * @lock: of the rest
 * @uuid: of the trace
 * @generation: the metadata at @place has this generation, or a newer one
 * @known: there is a @generation
 */
struct metadata {
	struct tree *tree;
	struct place *place;
	struct kept *kept;
	pthread_mutex_t lock;
	unsigned char uuid[ETCH_PACKET_UUID];
	__u32 generation;
	bool known;
};

/**
 * struct readers - the threads
 * @tree: whose packets
 * @place: where they go
 * @metadata: what describes them
 * @list: one for each CPU, and one more where the kernel has events of programs
 * @nr: how many
 * @ready: readers_open() has done all
 * @begun: tracing is on: if it is not, somebody else has turned it off
 * @ending: tracing is off: take what is left and end
 * @end: an eventfd, readable when @ending
 * @news: an eventfd, readable when one of the next two is
 * @off: somebody has turned tracing off
 * @failed: something went wrong, and is said
 */
struct readers {
	struct tree *tree;
	struct place *place;
	struct metadata metadata;
	struct reader **list;
	int nr;
	bool ready;
	atomic_bool begun, ending;
	int end, news;
	atomic_bool off, failed;
};

/* What they all have done. */
struct progress {
	unsigned long long packets, bytes, records, dropped;
	/* Of these records, those of programs, of which the account of CPUs does not tell. */
	unsigned long long programs;
	int files;
};

/* Copies the metadata, too. The threads start with readers_look(). */
int readers_open(struct readers *readers, struct tree *tree, struct place *place,
		 struct kept *kept);
/* Start a thread for each CPU that has none. */
int readers_look(struct readers *readers);
/* Tracing is off: wait until all of them have come to the end of their CPU's packets. */
int readers_end(struct readers *readers);
/* Nobody is at the other end of @place any more: -1, said, unless a thread has said why. */
int readers_alone(struct readers *readers);
void readers_progress(const struct readers *readers, struct progress *progress);
/* Since readers_look() found the CPU; of all CPUs together. */
void readers_account(const struct readers *readers, struct account *account);
/* The same, CPU by CPU, for readers of the trace. */
void readers_keep_account(const struct readers *readers, struct kept *kept);
void readers_close(struct readers *readers);

/* ---- account.c ---- */

/* Prints a line of progress, unless it is less than a second since the last one. */
void account_progress(const struct readers *readers, double seconds);
/* Prints the records and losses of so many @seconds. -1: some are missing without a reason. */
int account_tell(const struct readers *readers, const struct place *place, double seconds,
		 bool quiet);

/* ---- receive.c ---- */

/* Receive one trace at @address. */
int receive(const char *address, struct place *place);

/* ---- repair.c ---- */

/* Make what is in @folder a trace that ends with a whole packet. */
int repair(const char *folder);

#endif /* _ETCH_RECORD_H */
