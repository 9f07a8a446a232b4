/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_USER_H
#define _ETCH_USER_H

/*
 * Events of a program in Etch's trace.
 *
 *	// server.h
 *	#include <etch/user.h>
 *	#define SERVER_EVENTS(event)					\
 *		event(server, request, (u32, id), (string, path))	\
 *		event(server, answer, (u32, id), (s32, status), (u64, bytes))
 *	ETCH_PROVIDER(server, SERVER_EVENTS)
 *
 *	// one source
 *	ETCH_PROVIDER_DEFINE(server, SERVER_EVENTS)
 *
 *	// anywhere
 *	server_request(id, path);
 *	if (server_answer_enabled())
 *		server_answer(id, status, count(...));
 *
 * A provider has up to 1024 events, an event 1 to 8 fields. Their types are u8 to u64, s8 to
 * s64, and string: a const char * of which up to ETCH_STRING bytes are recorded.
 *
 * An event that is off costs a load and a branch; its arguments are not evaluated further than
 * the compiler wants to. One that is on is stored without a system call, and is safe in handlers
 * of signals. Where the C library has no restartable sequences, a record costs a system call:
 * etch_provider_calls() tells. While it is not possible to register, events are off:
 * etch_provider_error() says why. A debugger that steps through the sequence that stores a record
 * begins it again for ever: step over the call. No event may be recorded between vfork() and exec.
 *
 * Names that begin with "etch_" are this header's.
 */

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/etch_user.h>

#include <etch/sections.h>

#ifndef MADV_WIPEONFORK
#error "etch/user.h needs _GNU_SOURCE or _DEFAULT_SOURCE, or -std=gnu11 instead of -std=c11"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ETCH_STRING
#define ETCH_STRING	1024
#endif

/* Why -: the record cannot be in any block. */
#define ETCH_LONGEST	(ETCH_USER_SUBBUF - (int)sizeof(struct etch_user_block))

/**
 * struct etch_provider - what one provider has in a process
 * @name: of the provider
 * @names: of its events, with their fields: "event\0fields\0", and "" behind the last
 * @gates: its gates, as the kernel sets them
 * @ids: of its events, by gate
 * @nr: how many events there are
 * @fd: /dev/etch, or -1
 * @error: 0, or an errno: why there are no events; or ETCH__UNTRIED
 * @cpus: one more than the largest number of a CPU; 0: there are no restartable sequences, or
 *	  no event is registered
 * @rings: by instance and CPU; NULL: not yet asked for. A child finds only NULLs
 */
struct etch_provider {
	const char *name;
	const char *names;
	volatile uint32_t *gates;
	uint16_t *ids;
	unsigned int nr;
	int fd;
	int error;
	unsigned int cpus;
	struct etch_user_ring **rings;
};

/* etch_provider.error before the device is opened. */
#define ETCH__UNTRIED	-1

/* ---- Rings ---- */

/* Where the C library says that the thread runs; the kernel keeps it right. */
static inline unsigned int etch__cpu(void)
{
	return *(volatile uint32_t *)((char *)__builtin_thread_pointer() + __rseq_offset + 4);
}

/* Hits at most without another attempt to get a ring, where there was none. */
#define ETCH__PAUSE	1024

/*
 * Behind the rows. @records were lost because there was no ring that could count them. Another
 * attempt to get one comes @left hits from now, then twice @pause. Threads may disturb each
 * other in these two, which costs a system call more or less.
 */
struct etch__missed {
	uint64_t records;
	uint32_t left;
	uint32_t pause;
};

static inline struct etch__missed *etch__missed(struct etch_provider *p,
						struct etch_user_ring **rows)
{
	return (struct etch__missed *)(rows + 32 * p->cpus);
}

static inline size_t etch__rows_bytes(struct etch_provider *p)
{
	return 32 * p->cpus * sizeof(struct etch_user_ring *) + sizeof(struct etch__missed);
}

/* The rows of all instances. Another thread may be the first to have them. */
static inline struct etch_user_ring **etch__rows(struct etch_provider *p)
{
	struct etch_user_ring **rows = __atomic_load_n(&p->rings, __ATOMIC_ACQUIRE), **old = NULL;
	size_t bytes = etch__rows_bytes(p);
	void *at;

	if (rows)
		return rows;
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	/* A child must not write into the rings of its parent. */
	if (madvise(at, bytes, MADV_WIPEONFORK)) {
		munmap(at, bytes);
		return NULL;
	}
	rows = (struct etch_user_ring **)at;
	if (__atomic_compare_exchange_n(&p->rings, &old, rows, 0, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return rows;
	munmap(at, bytes);
	return old;
}

/*
 * Asks for the ring of an instance and of the CPU where the thread is. Returns 0, or an errno.
 * A program may have closed what it did not open: then the file is opened once more.
 */
static inline int etch__attach(struct etch_provider *p, struct etch_user_ring **row,
			       unsigned int instance, int32_t *tid)
{
	struct etch_user_attach attach;
	struct etch_user_ring *old;
	int ret, fd;

	memset(&attach, 0, sizeof(attach));
	attach.instance = instance;
	attach.cpu = etch__cpu();
	if (attach.cpu >= p->cpus)
		return EINVAL;
	old = __atomic_load_n(&row[attach.cpu], __ATOMIC_ACQUIRE);
	ret = ioctl(p->fd, ETCH_USER_IOC_ATTACH, &attach);
	if (ret && (errno == EBADF || errno == ENOTTY)) {
		fd = open("/dev/etch", O_RDWR | O_CLOEXEC);
		if (fd < 0)
			return errno;
		ret = ioctl(fd, ETCH_USER_IOC_ATTACH, &attach);
		p->fd = fd;
	}
	if (ret)
		return errno;
	*tid = attach.tid;
	/* Another thread may have been quicker; both are the same ring. */
	if (!__atomic_compare_exchange_n(&row[attach.cpu], &old,
					 (struct etch_user_ring *)(uintptr_t)attach.address, 0,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		munmap((void *)(uintptr_t)attach.address, ETCH_USER_RING);
	return 0;
}

/* Counts lost records in a ring, or where there is none, for the next ring. */
static inline void etch__count(struct etch__missed *m, struct etch_user_ring **row, uint64_t nr)
{
	if (etch__lose(row, nr) == ETCH__NONE)
		__atomic_fetch_add(&m->records, nr, __ATOMIC_RELAXED);
}

/*
 * As etch__attach(), but after an attempt that failed only now and then, and the record that
 * finds no ring is counted.
 */
static __attribute__((noinline, unused)) int
etch__find(struct etch_provider *p, struct etch_user_ring **row, unsigned int instance,
	   int32_t *tid)
{
	struct etch__missed *m = etch__missed(p, p->rings);
	uint32_t left = __atomic_load_n(&m->left, __ATOMIC_RELAXED), pause;
	int saved = errno, ret = ENOMEM;
	uint64_t missed;

	if (left) {
		__atomic_store_n(&m->left, left - 1, __ATOMIC_RELAXED);
	} else if (etch__attach(p, row, instance, tid)) {
		pause = 2 * __atomic_load_n(&m->pause, __ATOMIC_RELAXED);
		pause = pause < 2 ? 1 : pause > ETCH__PAUSE ? ETCH__PAUSE : pause;
		__atomic_store_n(&m->pause, pause, __ATOMIC_RELAXED);
		__atomic_store_n(&m->left, pause, __ATOMIC_RELAXED);
	} else {
		__atomic_store_n(&m->pause, 0, __ATOMIC_RELAXED);
		missed = __atomic_exchange_n(&m->records, 0, __ATOMIC_RELAXED);
		if (missed)
			etch__count(m, row, missed);
		ret = 0;
	}
	if (ret)
		__atomic_fetch_add(&m->records, 1, __ATOMIC_RELAXED);
	errno = saved;
	return ret;
}

/* Makes room for a record of @len bytes. True: try again. False: it is lost. */
static __attribute__((noinline, unused)) int
etch__slow(struct etch_provider *p, struct etch_user_ring **row, unsigned int instance,
	   int32_t *tid, uint64_t len)
{
	if (len > ETCH_LONGEST) {
		etch__count(etch__missed(p, p->rings), row, 1);
		return 0;
	}
	switch (etch__open(row, len)) {
	case ETCH__AGAIN:
		return 1;
	case ETCH__NEXT:
		if (etch__begin(row, len) == ETCH__AGAIN)
			return 1;
		break;
	case ETCH__NONE:
	case ETCH__GONE:
		return !etch__find(p, row, instance, tid);
	case ETCH__LOSE:
		break;
	}
	etch__count(etch__missed(p, p->rings), row, 1);
	return 0;
}

/* The thread's id for records. A process without a ring gets it with the first. */
static inline int32_t etch__tid(struct etch_provider *p)
{
	int saved = errno, tid = ioctl(p->fd, ETCH_USER_IOC_THREAD);

	errno = saved;
	return tid > 0 ? tid : 0;
}

/*
 * Has the kernel store a record, in all instances that want it. A program may have closed what it
 * did not open: then the file is opened once more.
 */
static __attribute__((noinline, unused, cold)) void
etch__call(struct etch_provider *p, unsigned int gate, const void *payload, uint64_t len)
{
	struct etch_user_write write = { p->ids[gate], (uint32_t)len, (uintptr_t)payload };
	int saved = errno, fd;

	if (ioctl(p->fd, ETCH_USER_IOC_WRITE, &write) && (errno == EBADF || errno == ENOTTY)) {
		fd = open("/dev/etch", O_RDWR | O_CLOEXEC);
		if (fd >= 0) {
			p->fd = fd;
			ioctl(fd, ETCH_USER_IOC_WRITE, &write);
		}
	}
	errno = saved;
}

/* Stores a record in the rings of all instances that want it. */
static __attribute__((noinline, unused)) void
etch__record_in_each(struct etch_provider *p, int32_t *tid, unsigned int gate, const void *payload,
		     uint64_t len)
{
	struct etch_user_ring **rows = p->rings;
	uint64_t word = (uint64_t)p->ids[gate] << 48;
	uint32_t mask = p->gates[gate];

	if (!rows) {
		if (!p->cpus) {
			etch__call(p, gate, payload, len);
			return;
		}
		rows = etch__rows(p);
	}
	if (rows && !*tid && !__atomic_load_n(&etch__missed(p, rows)->left, __ATOMIC_RELAXED))
		*tid = etch__tid(p);
	for (; mask && rows; mask &= mask - 1) {
		unsigned int instance = __builtin_ctz(mask);
		struct etch_user_ring **row = rows + instance * p->cpus;

		/* A ring comes with the number of the thread that asks for it. */
		if (!*tid && etch__find(p, row, instance, tid))
			continue;
		while (etch__store(row, word, *tid, payload, len))
			if (!etch__slow(p, row, instance, tid, ETCH_HEAD + len))
				break;
	}
}

/* The same, quick where there is one instance, and nothing is missing. */
static inline __attribute__((always_inline)) void
etch__record(struct etch_provider *p, int32_t *tid, unsigned int gate, const void *payload,
	     uint64_t len)
{
	struct etch_user_ring **rows = p->rings;
	uint32_t mask = p->gates[gate];

	if (!rows || !*tid || (mask & (mask - 1)) || !mask ||
	    etch__store(rows + __builtin_ctz(mask) * p->cpus, (uint64_t)p->ids[gate] << 48, *tid,
			payload, len))
		etch__record_in_each(p, tid, gate, payload, len);
}

/* ---- Providers ---- */

/* Opens the device, unless this has been tried before. Returns 0, or an errno. */
static inline int etch__open_device(struct etch_provider *p)
{
	if (p->error != ETCH__UNTRIED)
		return p->error;
	p->fd = open("/dev/etch", O_RDWR | O_CLOEXEC);
	p->error = p->fd < 0 ? errno : 0;
	return p->error;
}

/* Registers an event for a gate. Returns 0, or an errno. */
static inline int etch__register(struct etch_provider *p, unsigned int gate, const char *provider,
				 const char *event, const char *fields)
{
	struct etch_user_register reg;
	char name[ETCH_USER_NAME];

	if (strlen(provider) + 1 + strlen(event) >= ETCH_USER_NAME)
		return EINVAL;
	strcpy(name, provider);
	strcat(name, ":");
	strcat(name, event);
	memset(&reg, 0, sizeof(reg));
	reg.size = sizeof(reg);
	reg.gate = gate;
	reg.name = (uintptr_t)name;
	reg.fields = (uintptr_t)fields;
	if (ioctl(p->fd, ETCH_USER_IOC_REGISTER, &reg))
		return errno;
	p->ids[gate] = reg.id;
	/* Numbers of CPUs may have gaps, so the C library's count of them is not enough. */
	if (!p->cpus && &__rseq_offset && &__rseq_size && __rseq_size)
		p->cpus = reg.cpus;
	return 0;
}

/* Has the kernel's page instead of the program's. Returns 0, or an errno. */
static inline int etch__map_gates(struct etch_provider *p)
{
	size_t bytes = ETCH_USER_GATES * sizeof(p->gates[0]);

	if (mmap((void *)p->gates, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, p->fd, 0) ==
	    MAP_FAILED)
		return errno;
	return 0;
}

/* Called before main(), or when a library is loaded. */
static inline void etch__provide(struct etch_provider *p)
{
	const char *event = p->names, *fields;
	unsigned int i;

	etch__open_device(p);
	for (i = 0; i < p->nr && !p->error; i++) {
		fields = event + strlen(event) + 1;
		p->error = etch__register(p, i, p->name, event, fields);
		event = fields + strlen(fields) + 1;
	}
	if (!p->error)
		p->error = etch__map_gates(p);
}

/* A library is unloaded: its gates go with it. Its records stay. */
static inline void etch__withdraw(struct etch_provider *p)
{
	unsigned int i;

	for (i = 0; p->rings && i < 32 * p->cpus; i++)
		if (p->rings[i])
			munmap(p->rings[i], ETCH_USER_RING);
	if (p->rings)
		munmap(p->rings, etch__rows_bytes(p));
	p->rings = NULL;
	if (p->fd >= 0 && ioctl(p->fd, ETCH_USER_IOC_VERSION) == ETCH_USER_VERSION)
		close(p->fd);
}

#ifdef __cplusplus
}
#endif

#include <etch/fields.h>

#endif /* _ETCH_USER_H */
