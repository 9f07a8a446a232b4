/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The file per_cpu/cpuN/trace_pipe_raw gives packets of Common Trace Format 1.8, one
 * after the other. Each begins with this header, and has records up to content_size.
 *
 * The file "metadata" of the tree describes all of it. A program that only copies packets
 * needs packet_size of this header, and perhaps generation. A program that reads records
 * itself finds each on a multiple of 4 bytes: where the record before it ended, rounded up.
 *
 * Behind its last record a packet is zero. The padding bytes in a record, and up to the
 * start of the next one, have no meaning. They may be remains of records that were
 * overwritten or read since the buffer was last emptied, but not of earlier ones.
 *
 * The counters of a packet minus those of the packet before it give the records lost
 * between the two. A reader that has no packet before its first one therefore gets an
 * empty packet in front of it, with the counters of the last packet that any reader got.
 *
 * Numbers have the byte order of the machine, and no field is aligned to more than
 * 4 bytes.
 */
#ifndef _UAPI_LINUX_ETCH_PACKET_H
#define _UAPI_LINUX_ETCH_PACKET_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define ETCH_PACKET_MAGIC	0xC1FC1FC1	/* of every packet of the format */
#define ETCH_PACKET_UUID	16		/* bytes */
#define ETCH_PACKET_COMM	16		/* bytes, as TASK_COMM_LEN */

/* Whose records a packet has: etch_packet_header.stream_id. */
#define ETCH_STREAM_KERNEL	0	/* trace_pipe_raw, snapshot */
#define ETCH_STREAM_USER	1	/* user_pipe_raw, user_snapshot: of programs */

/**
 * struct etch_packet_header - what a packet starts with
 * @magic: ETCH_PACKET_MAGIC
 * @uuid: of the trace; the same as in its metadata
 * @stream_id: ETCH_STREAM_KERNEL or ETCH_STREAM_USER
 * @overwritten: of @events_discarded, how many had been stored
 * @lost_full: how many were lost in discard mode because the buffer was full: modulo 2^32. Of a
 *	program's records: how many it did not store, for any reason, or the kernel did not
 *	accept
 * @lost_throttled: how many because the budget was spent: modulo 2^32
 * @lost_nested: how many because of where an interrupt came: modulo 2^32
 * @lost_too_big: how many because they fit in no sub-buffer: modulo 2^32
 * @comm: the name of @pid, as far as known
 * @cpu_id: the CPU
 * @pid: the thread that was running when the packet was begun, or that wrote a program's first
 *	record
 * @generation: metadata that is this new, or newer, describes all records of the packet
 * @records: how many the packet has
 * @timestamp_begin: by the trace's clock; not after its first record, nor before the
 *	end of the packet before it
 * @timestamp_end: not before its last record
 * @content_size: bits, this header included
 * @packet_size: bits, to where the next packet starts; a whole number of pages
 * @packet_seq_num: of the packets of this CPU, from 1 on; a gap stands for packets that
 *	were overwritten
 * @events_discarded: records of this CPU that were overwritten unread or lost, before
 *	this packet was begun
 *
 * The metadata describes what viewers need. They would show each other field beside every
 * event, so @overwritten to @comm, and @pid to @records, stand where the metadata has padding.
 */
struct etch_packet_header {
	__u32	magic;
	__u8	uuid[ETCH_PACKET_UUID];
	__u32	stream_id;
	__u64	overwritten;
	__u32	lost_full;
	__u32	lost_throttled;
	__u32	lost_nested;
	__u32	lost_too_big;
	char	comm[ETCH_PACKET_COMM];
	__u32	cpu_id;
	__s32	pid;
	__u32	generation;
	__u32	records;
	__u64	timestamp_begin;
	__u64	timestamp_end;
	__u64	content_size;
	__u64	packet_size;
	__u64	packet_seq_num;
	__u64	events_discarded;
};

/**
 * struct etch_window - a window of mapped packets
 * @address: in a mapping of trace_pipe_raw (PROT_READ, MAP_SHARED): where it shall be. A file
 *	that was opened once has one window, however often it is mapped
 * @packets: in: how many may be mapped, of @stride bytes each; out: how many are
 * @stride: in: bytes from one packet's start to the next one's: at least a sub-buffer, and
 *	whole pages
 */
struct etch_window {
	__u64	address;
	__u32	packets;
	__u32	stride;
};

/*
 * Gives back what the window shows, wherever it was, and has it show the next packets: as
 * many as there are and fit. Waits as read() does if there is none; 0 packets are the end.
 * The pages between a packet's end and the next one's start are not mapped: SIGBUS.
 *
 * The pages can be read by the processor, by the program or for it, as in write(). They
 * cannot be pinned: vmsplice(), MSG_ZEROCOPY, O_DIRECT, process_vm_readv() and debuggers get
 * an error (EFAULT, EIO).
 *
 * EFAULT: the window is not inside a mapping of this file, or struct etch_window cannot be
 * read, or not be written. EINVAL: no packets are asked for, or too many; the address or
 * the stride is not a whole number of pages, or the stride is too large, or smaller than
 * the sub-buffer that comes next. EAGAIN, EINTR, ENOMEM: as of read(). After any of these
 * the window is empty or as it was, and no packet is lost. Packets that the window has given
 * back are not shown again, nor are those in it when the mapping goes.
 */
#define ETCH_IOC_WINDOW		_IOWR(0xE7, 0x00, struct etch_window)

#endif /* _UAPI_LINUX_ETCH_PACKET_H */
