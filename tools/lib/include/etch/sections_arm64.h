/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_SECTIONS_ARM64_H
#define _ETCH_SECTIONS_ARM64_H

/*
 * <etch/sections.h> on arm64, whose processors keep no order of stores: the stores behind which
 * others must be seen are releases.
 */

/* Begins again at 3. Then x11 is the ring of the CPU where the thread is, or 0. */
#define ETCH__BEGIN							\
	".pushsection __rseq_cs, \"aw\"\n\t"				\
	".balign 32\n"							\
	"10:\t.long 0, 0\n\t"						\
	".quad 1f, 2f - 1f, 4f\n\t"					\
	".popsection\n"							\
	"3:\tadrp x9, 10b\n\t"						\
	"add x9, x9, :lo12:10b\n\t"					\
	"mrs x10, tpidr_el0\n\t"					\
	"add x10, x10, %[area]\n\t"					\
	"str x9, [x10, 8]\n"						\
	"1:\tldr w11, [x10, 4]\n\t"					\
	"ldr x11, [%[row], x11, lsl 3]\n\t"

/* The C library has told the kernel which bytes stand in front of 4. */
#define ETCH__END							\
	"2:\n\t"							\
	".pushsection __rseq_failure, \"ax\"\n\t"			\
	".inst 0xd428bc00\n"						\
	"4:\tb 3b\n\t"							\
	".popsection\n\t"

static inline __attribute__((always_inline)) int
etch__store(struct etch_user_ring **row, uint64_t word, int32_t tid, const void *payload,
	    uint64_t len)
{
	uint64_t add = ((ETCH_HEAD + len) << ETCH_USER_COUNT_BITS) + 1;

	__asm__ goto(
		ETCH__BEGIN
		"cbz x11, %l[slow]\n\t"
		"ldr x12, [x11]\n\t"				/* pos */
		"add x13, x12, %[add]\n\t"
		"ldr x14, [x11, %c[end]]\n\t"
		"cmp x13, x14\n\t"
		"b.hi 8f\n\t"
		"ubfx x12, x12, %c[count], %c[width]\n\t"
		"add x12, x12, x11\n\t"
		"add x12, x12, %c[data]\n\t"
		"ldr x15, [x11, %c[step]]\n\t"
		"isb\n\t"					/* or it is read too early */
		"mrs x14, cntvct_el0\n\t"
		"add x14, x14, x15\n\t"
		"mov x15, %[word]\n\t"
		"bfxil x15, x14, 0, 48\n\t"
		"str x15, [x12]\n\t"
		"str %w[tid], [x12, 8]\n\t"
		"add x12, x12, 12\n\t"
		"mov x14, 0\n\t"
		"b 6f\n"
		"8:\tldr x13, [x11, %c[stopped]]\n\t"
		"ldr x14, [x11, %c[overwrite]]\n\t"
		"orr x13, x13, x14\n\t"
		"cbnz x13, %l[slow]\n\t"
		"lsr x12, x12, %c[count]\n\t"
		"sub x12, x12, 1\n\t"
		"add x13, x12, %[len]\n\t"
		"add x13, x13, %c[head]\n\t"			/* the record's last byte */
		"orr x12, x12, %c[last]\n\t"			/* the block's, or -1 */
		"cmp x13, x12\n\t"
		"b.le %l[slow]\n\t"				/* it fits in this block */
		"ldr x13, [x11, %c[consumed]]\n\t"
		"sub x12, x12, x13\n\t"
		"add x12, x12, 1\n\t"
		"cmp x12, %c[bytes]\n\t"
		"b.lt %l[slow]\n\t"				/* the next one is free */
		"add x11, x11, %c[lost]\n\t"
		"ldr x13, [x11]\n\t"
		"add x13, x13, 1\n\t"
		"b 7f\n"
		"5:\tldr x15, [%[payload], x14]\n\t"
		"str x15, [x12, x14]\n\t"
		"add x14, x14, 8\n"
		"6:\tadd x15, x14, 8\n\t"
		"cmp %[len], x15\n\t"
		"b.hs 5b\n\t"
		"cmp %[len], x14\n\t"
		"b.eq 7f\n\t"
		"ldr w15, [%[payload], x14]\n\t"
		"str w15, [x12, x14]\n"
		"7:\tstlr x13, [x11]\n"				/* (u) pos, or lost */
		ETCH__END
		:
		: [area] "r" (__rseq_offset), [row] "r" (row), [word] "r" (word), [tid] "r" (tid),
		  [payload] "r" (payload), [len] "r" (len), [add] "r" (add),
		  [end] "i" (offsetof(struct etch_user_ring, end)),
		  [step] "i" (offsetof(struct etch_user_ring, step)),
		  [stopped] "i" (offsetof(struct etch_user_ring, stopped)),
		  [overwrite] "i" (offsetof(struct etch_user_ring, overwrite)),
		  [consumed] "i" (offsetof(struct etch_user_ring, consumed)),
		  [lost] "i" (offsetof(struct etch_user_ring, lost)), [head] "i" (ETCH_HEAD),
		  [last] "i" (ETCH_USER_SUBBUF - 1),
		  [bytes] "i" (ETCH_USER_SUBBUFS * ETCH_USER_SUBBUF),
		  [count] "i" (ETCH_USER_COUNT_BITS), [data] "i" (ETCH_USER_DATA),
		  [width] "i" (ETCH_USER_SUBBUF_SHIFT + __builtin_ctz(ETCH_USER_SUBBUFS))
		: "x9", "x10", "x11", "x12", "x13", "x14", "x15", "memory", "cc"
		: slow);
	return 0;
slow:
	return 1;
}

static inline enum etch__step etch__lose(struct etch_user_ring **row, uint64_t nr)
{
	__asm__ goto(
		ETCH__BEGIN
		"cbz x11, %l[none]\n\t"
		"ldr x12, [x11, %c[lost]]\n\t"
		"add x12, x12, %[nr]\n\t"
		"str x12, [x11, %c[lost]]\n"
		ETCH__END
		:
		: [area] "r" (__rseq_offset), [row] "r" (row), [nr] "r" (nr),
		  [lost] "i" (offsetof(struct etch_user_ring, lost))
		: "x9", "x10", "x11", "x12", "memory", "cc"
		: none);
	return ETCH__LOSE;
none:
	return ETCH__NONE;
}

static inline enum etch__step etch__open(struct etch_user_ring **row, uint64_t len)
{
	__asm__ goto(
		ETCH__BEGIN
		"cbz x11, %l[none]\n\t"
		"ldr x12, [x11, %c[stopped]]\n\t"
		"cmp x12, %c[gone]\n\t"
		"b.eq %l[gone_]\n\t"
		"cbnz x12, %l[lose]\n\t"
		"ldr x12, [x11]\n\t"
		"lsr x12, x12, %c[count]\n\t"
		"cbz x12, %l[next]\n\t"				/* no block was begun */
		"sub x12, x12, 1\n\t"
		"add x13, x12, %[len]\n\t"
		"asr x12, x12, %c[shift]\n\t"
		"asr x13, x13, %c[shift]\n\t"
		"cmp x13, x12\n\t"
		"b.ne %l[next]\n\t"
		"add x12, x12, 1\n\t"
		"lsl x12, x12, %c[both]\n\t"
		"orr x12, x12, 0xffff\n\t"
		"str x12, [x11, %c[end]]\n"
		ETCH__END
		:
		: [area] "r" (__rseq_offset), [row] "r" (row), [len] "r" (len),
		  [stopped] "i" (offsetof(struct etch_user_ring, stopped)),
		  [end] "i" (offsetof(struct etch_user_ring, end)),
		  [gone] "i" (ETCH_USER_GONE), [count] "i" (ETCH_USER_COUNT_BITS),
		  [shift] "i" (ETCH_USER_SUBBUF_SHIFT),
		  [both] "i" (ETCH_USER_SUBBUF_SHIFT + ETCH_USER_COUNT_BITS)
		: "x9", "x10", "x11", "x12", "x13", "memory", "cc"
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

static inline enum etch__step etch__begin(struct etch_user_ring **row, uint64_t len)
{
	__asm__ goto(
		ETCH__BEGIN
		"cbz x11, %l[again]\n\t"
		"ldr x12, [x11]\n\t"
		"lsr x13, x12, %c[count]\n\t"
		"sub x13, x13, 1\n\t"
		"add x14, x13, %[len]\n\t"
		"asr x14, x14, %c[shift]\n\t"
		"asr x13, x13, %c[shift]\n\t"			/* this block's number, or -1 */
		"cmp x13, x14\n\t"
		"b.eq %l[again]\n\t"
		"add x14, x13, 1\n\t"				/* of the next one */
		"lsl x15, x14, %c[shift]\n\t"			/* its first position */
		"ldr x16, [x11, %c[overwrite]]\n\t"
		"cbnz x16, 5f\n\t"
		"add x16, x11, %c[consumed]\n\t"
		"ldar x16, [x16]\n\t"				/* (w) */
		"sub x16, x15, x16\n\t"
		"cmp x16, %c[bytes]\n\t"
		"b.ge %l[full]\n"
		"5:\tadd x17, x11, %c[data]\n\t"
		"and x16, x14, %c[blocks]\n\t"
		"add x16, x17, x16, lsl %c[shift]\n\t"		/* the next block */
		"and x13, x13, %c[blocks]\n\t"
		"add x13, x17, x13, lsl %c[shift]\n\t"		/* this block */
		"str xzr, [x16]\n\t"				/* its gen: nothing stands here */
		"dmb ishst\n\t"					/* (v) */
		"ldr x17, [x13, 8]\n\t"
		"add x17, x17, w12, uxth\n\t"
		"str x17, [x16, 8]\n\t"				/* total */
		"ldr x17, [x11, %c[lost]]\n\t"
		"str x17, [x16, 16]\n\t"			/* lost */
		"str x12, [x13, 24]\n\t"			/* left */
		"add x14, x14, 1\n\t"
		"stlr x14, [x16]\n\t"				/* (v) gen */
		"add x15, x15, %c[head]\n\t"
		"lsl x15, x15, %c[count]\n\t"
		"stlr x15, [x11]\n"				/* (u) pos */
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
		: "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "memory", "cc"
		: again, full);
again:
	return ETCH__AGAIN;
full:
	return ETCH__LOSE;
}

#endif /* _ETCH_SECTIONS_ARM64_H */
