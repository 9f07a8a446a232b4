/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI_LINUX_ETCH_USER_H
#define _UAPI_LINUX_ETCH_USER_H

/*
 * /dev/etch: events of programs in Etch's trace.
 *
 * A program registers its events, and maps an array of gates, one to an event. Each gate is a
 * mask of the instances that record the event; the kernel writes it. While a gate is not 0, the
 * program writes a record into a ring of each of these instances, without a system call. There
 * is a ring for each instance, process and CPU, which the kernel maps when the program asks for
 * it.
 *
 * THE RING
 *
 * All that changes in a ring is changed in restartable sequences on the ring's CPU, whose last
 * instruction makes the change. So a ring is never in between, and needs no atomic operation.
 * A ring has a page of words, struct etch_user_ring, and ETCH_USER_SUBBUFS blocks of
 * ETCH_USER_SUBBUF bytes behind it. A block starts with struct etch_user_block; records follow,
 * each on 4 bytes. Positions are bytes since the ring was made, block headers included. A block's
 * number is its first position divided by ETCH_USER_SUBBUF.
 *
 * To store a record of N bytes, a multiple of 4: if pos + (N << 16) + 1 is not more than end,
 * read the counter, add step, store the record at pos, and store the new pos, last.
 *
 * Otherwise: if stopped is not 0, count the record in lost. If the record fits into the block of
 * pos, store the block's end in end. If it does not, begin the next block: its gen becomes 0;
 * then its total and lost; then left of the block before, which is pos; then its own gen; and
 * last pos, which is behind its header. But if overwrite is 0 and the next block starts all
 * blocks' bytes or more behind consumed, the ring is full: count the record in lost.
 *
 * THE RECORD
 *
 * As in the kernel's own rings: a word with 48 bits of time, 14 bits of the event's id and two
 * zero bits; the thread id that the kernel told; the fields, aligned to 4 bytes at most from the
 * record's start. A "__data_loc" field is a word with the offset of its content from the
 * record's start in the lower half and its bytes in the upper one.
 *
 * The kernel believes nothing that it reads in a ring. A record that makes no sense ends the
 * block that it is in, and is counted in user/stats.
 *
 * WITHOUT RESTARTABLE SEQUENCES
 *
 * A program whose C library has none hands each record over, by ETCH_USER_IOC_WRITE. The kernel
 * stores it in a ring that the program has not mapped. It is a command and no write(): a
 * program may have closed the file without knowing it, and the number may be another file's.
 */

#include <linux/ioctl.h>
#include <linux/types.h>

#define ETCH_USER_VERSION	1

#define ETCH_USER_SUBBUF_SHIFT	14
#define ETCH_USER_SUBBUF	(1 << ETCH_USER_SUBBUF_SHIFT)
#define ETCH_USER_SUBBUFS	16
#define ETCH_USER_DATA		4096
#define ETCH_USER_RING		(ETCH_USER_DATA + ETCH_USER_SUBBUFS * ETCH_USER_SUBBUF)

/* Bits of etch_user_ring.pos that count records; the others are the position. */
#define ETCH_USER_COUNT_BITS	16

/* The gates that one open file has, and bytes of an event's name and of the text of its fields. */
#define ETCH_USER_GATES		1024
#define ETCH_USER_NAME		64
#define ETCH_USER_FIELDS	1024

/* Values of etch_user_ring.stopped. */
#define ETCH_USER_GOES		0	/* records are welcome */
#define ETCH_USER_STOPPED	1	/* they are not, for now */
#define ETCH_USER_GONE		2	/* the instance has gone: ask for another ring */

/**
 * struct etch_user_block - what a block starts with; the program writes it
 * @gen: the block's number plus 1; 0: it is being begun
 * @total: records in all blocks before this one
 * @lost: etch_user_ring.lost when it was begun
 * @left: etch_user_ring.pos when the next block was begun
 */
struct etch_user_block {
	__u64 gen;
	__u64 total;
	__u64 lost;
	__u64 left;
};

/**
 * struct etch_user_ring - the words of a ring
 * @pos: where the next record goes, and in the lower ETCH_USER_COUNT_BITS how many
 *	 records there are in its block; the program writes it
 * @end: the largest @pos in this block, or less; the program writes it, the kernel stores 0
 * @lost: records that were not stored; the program writes it
 * @consumed: where a block starts: those before it were read; the kernel writes it, as all below
 * @overwrite: the oldest block gives way to new ones
 * @stopped: one of ETCH_USER_GOES, ETCH_USER_STOPPED, ETCH_USER_GONE
 * @step: what the counter was set back by, in sum, when the machine was suspended
 * @reserved: 0
 * @reserved2: 0
 */
struct etch_user_ring {
	__u64 pos;
	__u64 end;
	__u64 lost;
	__u64 reserved[5];
	__u64 consumed;
	__u64 overwrite;
	__u64 stopped;
	__u64 step;
	__u64 reserved2[4];
};

/**
 * struct etch_user_register - register an event for an open file
 * @size: of this struct
 * @gate: the event's index in the array of gates
 * @name: address of the name, "PROVIDER:EVENT", ending in a zero
 * @fields: address of "TYPE NAME; TYPE NAME[4]; __data_loc char[] NAME", ending in a zero
 * @id: returned: the event's id, for its records
 * @cpus: 0; returned: one more than the largest number that a CPU may have
 */
struct etch_user_register {
	__u32 size;
	__u32 gate;
	__u64 name;
	__u64 fields;
	__u32 id;
	__u32 cpus;
};

/**
 * struct etch_user_attach - map the calling process's ring of an instance and a CPU
 * @instance: a bit of a gate: its number
 * @cpu: the CPU
 * @address: returned: of the ring
 * @tid: returned: the calling thread's id, for its records
 * @reserved: 0
 */
struct etch_user_attach {
	__u32 instance;
	__u32 cpu;
	__u64 address;
	__s32 tid;
	__u32 reserved;
};

/**
 * struct etch_user_write - a record
 * @id: of its event
 * @len: bytes at @fields
 * @fields: address of the fields; offsets of "__data_loc" count from 12 bytes before
 */
struct etch_user_write {
	__u32 id;
	__u32 len;
	__u64 fields;
};

/* Returns ETCH_USER_VERSION. */
#define ETCH_USER_IOC_VERSION	 _IO(0xE7, 0x10)
/*
 * EEXIST: the provider's name is that of a part of the kernel, or the gate is taken. EINVAL: the
 * name or the fields cannot be. EDQUOT: the user has as many events as a user may. ENOSPC:
 * there are no ids left.
 */
#define ETCH_USER_IOC_REGISTER	 _IOWR(0xE7, 0x11, struct etch_user_register)
/* The argument is a name. ENOENT, EPERM: it is another user's, EBUSY: a program has it. */
#define ETCH_USER_IOC_UNREGISTER _IO(0xE7, 0x12)
/* ENOENT: no such instance. EINVAL: no such CPU. ENOMEM: no memory, or more than RLIMIT_MEMLOCK. */
#define ETCH_USER_IOC_ATTACH	 _IOWR(0xE7, 0x13, struct etch_user_attach)
/* Returns the calling thread's id, for its records. ESRCH: the process has no ring. */
#define ETCH_USER_IOC_THREAD	 _IO(0xE7, 0x14)
/*
 * 0: the record is stored for all instances that want it, or counted as lost. EINVAL: there is no
 * such event, or its fields cannot be these. ENOMEM: no memory, and the loss may not be counted.
 */
#define ETCH_USER_IOC_WRITE	 _IOW(0xE7, 0x15, struct etch_user_write)

#endif /* _UAPI_LINUX_ETCH_USER_H */
