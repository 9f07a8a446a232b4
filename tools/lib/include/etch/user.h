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

#ifndef MADV_WIPEONFORK
#error "etch/user.h needs _GNU_SOURCE or _DEFAULT_SOURCE, or -std=gnu11 instead of -std=c11"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ETCH_STRING
#define ETCH_STRING	1024
#endif

#if defined(__x86_64__)
#define ETCH_PAGE	4096
#else
#error "etch/user.h knows x86-64"
#endif

/* The C library's: where each thread's area for restartable sequences is, if it has any. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

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
 * @cpus: how many CPUs there may be; 0: there are no restartable sequences
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

/* The bytes in front of the fields: as struct etch_head of the kernel's. */
#define ETCH_HEAD	12

/* ---- One record ---- */

/*
 * Stores a record, whole: @row is the instance's part of etch_provider.rings. Returns 0: stored;
 * 1: etch__slow() has to look. The section is between 1 and 2; only its last instruction counts.
 */
static inline __attribute__((always_inline)) int
etch__store(struct etch_user_ring **row, uint64_t word, int32_t tid, const void *payload,
	    uint64_t len)
{
	uint64_t add = ((ETCH_HEAD + len) << ETCH_USER_COUNT_BITS) + 1;

	__asm__ goto(
		".pushsection __rseq_cs, \"aw\"\n\t"
		".balign 32\n"
		"10:\t.long 0, 0\n\t"
		".quad 1f, 2f - 1f, 4f\n\t"
		".popsection\n"
		"3:\tleaq 10b(%%rip), %%rax\n\t"
		"movq %%rax, %%fs:8(%[area])\n"
		"1:\tmovl %%fs:4(%[area]), %%ecx\n\t"
		"movq (%[row], %%rcx, 8), %%rcx\n\t"
		"testq %%rcx, %%rcx\n\t"
		"jz %l[slow]\n\t"
		"movq (%%rcx), %%r8\n\t"			/* pos */
		"leaq (%%r8, %[add]), %%r10\n\t"
		"cmpq %c[end](%%rcx), %%r10\n\t"
		"ja %l[slow]\n\t"
		"shrq %[count], %%r8\n\t"
		"andl %[mask], %%r8d\n\t"
		"leaq %c[data](%%rcx, %%r8), %%r8\n\t"
		"rdtsc\n\t"
		"shlq $32, %%rdx\n\t"
		"orq %%rdx, %%rax\n\t"
		"addq %c[step](%%rcx), %%rax\n\t"
		"shlq $16, %%rax\n\t"
		"shrq $16, %%rax\n\t"
		"orq %[word], %%rax\n\t"
		"movq %%rax, (%%r8)\n\t"
		"movl %[tid], 8(%%r8)\n\t"
		"addq $12, %%r8\n\t"
		"xorl %%eax, %%eax\n\t"
		"jmp 6f\n"
		"5:\tmovq (%[payload], %%rax), %%rdx\n\t"
		"movq %%rdx, (%%r8, %%rax)\n\t"
		"addq $8, %%rax\n"
		"6:\tleaq 8(%%rax), %%rdx\n\t"
		"cmpq %%rdx, %[len]\n\t"
		"jae 5b\n\t"
		"cmpq %%rax, %[len]\n\t"
		"je 7f\n\t"
		"movl (%[payload], %%rax), %%edx\n\t"
		"movl %%edx, (%%r8, %%rax)\n"
		"7:\tmovq %%r10, (%%rcx)\n"
		"2:\n\t"
		".pushsection __rseq_failure, \"ax\"\n\t"
		".byte 0x0f, 0xb9, 0x3d\n\t"
		".long 0x53053053\n"
		"4:\tjmp 3b\n\t"
		".popsection\n\t"
		:
		: [area] "r" (__rseq_offset), [row] "r" (row), [word] "r" (word), [tid] "r" (tid),
		  [payload] "r" (payload), [len] "r" (len), [add] "r" (add),
		  [end] "i" (offsetof(struct etch_user_ring, end)),
		  [step] "i" (offsetof(struct etch_user_ring, step)),
		  [count] "i" (ETCH_USER_COUNT_BITS), [data] "i" (ETCH_USER_DATA),
		  [mask] "i" (ETCH_USER_SUBBUFS * ETCH_USER_SUBBUF - 1)
		: "rax", "rcx", "rdx", "r8", "r10", "memory", "cc"
		: slow);
	return 0;
slow:
	return 1;
}

/* What a step of etch__slow() has found. */
enum etch__step {
	ETCH__AGAIN,		/* the record may fit now */
	ETCH__NONE,		/* there is no ring on this CPU */
	ETCH__GONE,		/* the instance of the ring has gone */
	ETCH__LOSE,		/* full, or stopped */
	ETCH__NEXT,		/* the record does not fit in this block */
};

#define ETCH__BEGIN							\
	".pushsection __rseq_cs, \"aw\"\n\t"				\
	".balign 32\n"							\
	"10:\t.long 0, 0\n\t"						\
	".quad 1f, 2f - 1f, 4f\n\t"					\
	".popsection\n"							\
	"3:\tleaq 10b(%%rip), %%rax\n\t"				\
	"movq %%rax, %%fs:8(%[area])\n"					\
	"1:\tmovl %%fs:4(%[area]), %%ecx\n\t"				\
	"movq (%[row], %%rcx, 8), %%rcx\n\t"

#define ETCH__END							\
	"2:\n\t"							\
	".pushsection __rseq_failure, \"ax\"\n\t"			\
	".byte 0x0f, 0xb9, 0x3d\n\t"					\
	".long 0x53053053\n"						\
	"4:\tjmp 3b\n\t"						\
	".popsection\n\t"

/* Counts lost records on the CPU where we are by now; its ring may be another. */
static inline enum etch__step etch__lose(struct etch_user_ring **row, uint64_t nr)
{
	__asm__ goto(
		ETCH__BEGIN
		"testq %%rcx, %%rcx\n\t"
		"jz %l[none]\n\t"
		"addq %[nr], %c[lost](%%rcx)\n"
		ETCH__END
		:
		: [area] "r" (__rseq_offset), [row] "r" (row), [nr] "r" (nr),
		  [lost] "i" (offsetof(struct etch_user_ring, lost))
		: "rax", "rcx", "memory", "cc"
		: none);
	return ETCH__LOSE;
none:
	return ETCH__NONE;
}

/*
 * Counts a record as lost if the ring is full for @len bytes: the way of one that is, and so in
 * one section. ETCH__NEXT: it is not full, or not sure to be.
 */
static inline __attribute__((always_inline)) enum etch__step
etch__lose_if_full(struct etch_user_ring **row, uint64_t len)
{
	__asm__ goto(
		ETCH__BEGIN
		"testq %%rcx, %%rcx\n\t"
		"jz %l[next]\n\t"
		"movq %c[stopped](%%rcx), %%rdx\n\t"
		"orq %c[overwrite](%%rcx), %%rdx\n\t"
		"jnz %l[next]\n\t"
		"movq (%%rcx), %%r8\n\t"
		"shrq %[count], %%r8\n\t"
		"decq %%r8\n\t"
		"leaq (%%r8, %[len]), %%r9\n\t"
		"sarq %[shift], %%r8\n\t"
		"sarq %[shift], %%r9\n\t"
		"cmpq %%r8, %%r9\n\t"
		"je %l[next]\n\t"				/* it fits in this block */
		"incq %%r8\n\t"
		"shlq %[shift], %%r8\n\t"
		"subq %c[consumed](%%rcx), %%r8\n\t"
		"cmpq %[bytes], %%r8\n\t"
		"jl %l[next]\n\t"
		"addq $1, %c[lost](%%rcx)\n"
		ETCH__END
		:
		: [area] "r" (__rseq_offset), [row] "r" (row), [len] "r" (len),
		  [stopped] "i" (offsetof(struct etch_user_ring, stopped)),
		  [overwrite] "i" (offsetof(struct etch_user_ring, overwrite)),
		  [consumed] "i" (offsetof(struct etch_user_ring, consumed)),
		  [lost] "i" (offsetof(struct etch_user_ring, lost)),
		  [bytes] "i" (ETCH_USER_SUBBUFS * ETCH_USER_SUBBUF),
		  [count] "i" (ETCH_USER_COUNT_BITS), [shift] "i" (ETCH_USER_SUBBUF_SHIFT)
		: "rax", "rcx", "rdx", "r8", "r9", "memory", "cc"
		: next);
	return ETCH__LOSE;
next:
	return ETCH__NEXT;
}

/* Tells records where the block of pos ends, if they are welcome and @len bytes fit. */
static inline enum etch__step etch__open(struct etch_user_ring **row, uint64_t len)
{
	__asm__ goto(
		ETCH__BEGIN
		"testq %%rcx, %%rcx\n\t"
		"jz %l[none]\n\t"
		"movq %c[stopped](%%rcx), %%rdx\n\t"
		"cmpq %[gone], %%rdx\n\t"
		"je %l[gone_]\n\t"
		"testq %%rdx, %%rdx\n\t"
		"jnz %l[lose]\n\t"
		"movq (%%rcx), %%r8\n\t"
		"shrq %[count], %%r8\n\t"
		"jz %l[next]\n\t"				/* no block was begun */
		"decq %%r8\n\t"
		"leaq (%%r8, %[len]), %%r9\n\t"
		"sarq %[shift], %%r8\n\t"
		"sarq %[shift], %%r9\n\t"
		"cmpq %%r8, %%r9\n\t"
		"jne %l[next]\n\t"
		"incq %%r8\n\t"
		"shlq %[both], %%r8\n\t"
		"orq $0xffff, %%r8\n\t"
		"movq %%r8, %c[end](%%rcx)\n"
		ETCH__END
		:
		: [area] "r" (__rseq_offset), [row] "r" (row), [len] "r" (len),
		  [stopped] "i" (offsetof(struct etch_user_ring, stopped)),
		  [end] "i" (offsetof(struct etch_user_ring, end)),
		  [gone] "i" (ETCH_USER_GONE), [count] "i" (ETCH_USER_COUNT_BITS),
		  [shift] "i" (ETCH_USER_SUBBUF_SHIFT),
		  [both] "i" (ETCH_USER_SUBBUF_SHIFT + ETCH_USER_COUNT_BITS)
		: "rax", "rcx", "rdx", "r8", "r9", "memory", "cc"
		: none, gone_, lose, next);
	return ETCH__AGAIN;
none:
	return ETCH__NONE;
gone_:
	return ETCH__GONE;
lose:
	return ETCH__LOSE;
next:
	return ETCH__NEXT;
}

/*
 * Begins the next block, if @len bytes do not fit in this one, and it is free or may be
 * overwritten. Then pos is behind end, and etch__open() is next.
 */
static inline enum etch__step etch__begin(struct etch_user_ring **row, uint64_t len)
{
	__asm__ goto(
		ETCH__BEGIN
		"testq %%rcx, %%rcx\n\t"
		"jz %l[again]\n\t"
		"movq (%%rcx), %%r8\n\t"
		"movq %%r8, %%r9\n\t"
		"shrq %[count], %%r9\n\t"
		"decq %%r9\n\t"
		"leaq (%%r9, %[len]), %%rax\n\t"
		"sarq %[shift], %%rax\n\t"
		"sarq %[shift], %%r9\n\t"			/* this block's number, or -1 */
		"cmpq %%rax, %%r9\n\t"
		"je %l[again]\n\t"
		"leaq 1(%%r9), %%r10\n\t"			/* of the next one */
		"movq %%r10, %%rax\n\t"
		"shlq %[shift], %%rax\n\t"			/* its first position */
		"cmpq $0, %c[overwrite](%%rcx)\n\t"
		"jne 5f\n\t"
		"movq %%rax, %%rdx\n\t"
		"subq %c[consumed](%%rcx), %%rdx\n\t"
		"cmpq %[bytes], %%rdx\n\t"
		"jge %l[full]\n"
		"5:\tmovq %%r10, %%rdx\n\t"
		"andl %[blocks], %%edx\n\t"
		"shlq %[shift], %%rdx\n\t"
		"leaq %c[data](%%rcx, %%rdx), %%rdx\n\t"	/* the next block */
		"andl %[blocks], %%r9d\n\t"
		"shlq %[shift], %%r9\n\t"
		"leaq %c[data](%%rcx, %%r9), %%r9\n\t"		/* this block */
		"movq $0, (%%rdx)\n\t"				/* its gen: nothing stands here */
		"movzwl %%r8w, %%r11d\n\t"
		"addq 8(%%r9), %%r11\n\t"
		"movq %%r11, 8(%%rdx)\n\t"			/* total */
		"movq %c[lost](%%rcx), %%r11\n\t"
		"movq %%r11, 16(%%rdx)\n\t"			/* lost */
		"movq %%r8, 24(%%r9)\n\t"			/* left */
		"incq %%r10\n\t"
		"movq %%r10, (%%rdx)\n\t"			/* gen */
		"addq %[head], %%rax\n\t"
		"shlq %[count], %%rax\n\t"
		"movq %%rax, (%%rcx)\n"				/* pos */
		ETCH__END
		:
		: [area] "r" (__rseq_offset), [row] "r" (row), [len] "r" (len),
		  [overwrite] "i" (offsetof(struct etch_user_ring, overwrite)),
		  [consumed] "i" (offsetof(struct etch_user_ring, consumed)),
		  [lost] "i" (offsetof(struct etch_user_ring, lost)),
		  [bytes] "i" (ETCH_USER_SUBBUFS * ETCH_USER_SUBBUF),
		  [blocks] "i" (ETCH_USER_SUBBUFS - 1), [data] "i" (ETCH_USER_DATA),
		  [count] "i" (ETCH_USER_COUNT_BITS), [shift] "i" (ETCH_USER_SUBBUF_SHIFT),
		  [head] "i" (sizeof(struct etch_user_block))
		: "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc"
		: again, full);
again:
	return ETCH__AGAIN;
full:
	return ETCH__LOSE;
}

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

/* The same, quick where the ring is full. */
static inline __attribute__((always_inline)) int
etch__make_room(struct etch_provider *p, struct etch_user_ring **row, unsigned int instance,
		int32_t *tid, uint64_t len)
{
	return etch__lose_if_full(row, len) != ETCH__LOSE &&
	       etch__slow(p, row, instance, tid, len);
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

/* Stores a record in the rings of all instances of a mask. */
static inline __attribute__((always_inline)) void
etch__record(struct etch_provider *p, int32_t *tid, unsigned int gate, const void *payload,
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
			if (!etch__make_room(p, row, instance, tid, ETCH_HEAD + len))
				break;
	}
}

/* ---- Providers ---- */

/* Opens the device, unless this has been tried before. Returns 0, or an errno. */
static inline int etch__open_device(struct etch_provider *p)
{
	if (p->error != ETCH__UNTRIED)
		return p->error;
	if (&__rseq_offset && &__rseq_size && __rseq_size)
		p->cpus = sysconf(_SC_NPROCESSORS_CONF);
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
	return 0;
}

/* Has the kernel's page instead of the program's. Returns 0, or an errno. */
static inline int etch__map_gates(struct etch_provider *p)
{
	if (mmap((void *)p->gates, ETCH_PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, p->fd, 0) ==
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
