/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_SECTIONS_X86_64_H
#define _ETCH_SECTIONS_X86_64_H

/*
 * <etch/sections.h> on x86-64, whose processors keep the order of stores: an instruction that
 * comes later is enough for each rule there.
 */

/* Begins again at 3. Then rcx is the ring of the CPU where the thread is, or 0. */
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

/* The C library has told the kernel which bytes stand in front of 4. */
#define ETCH__END							\
	"2:\n\t"							\
	".pushsection __rseq_failure, \"ax\"\n\t"			\
	".byte 0x0f, 0xb9, 0x3d\n\t"					\
	".long 0x53053053\n"						\
	"4:\tjmp 3b\n\t"						\
	".popsection\n\t"

static inline __attribute__((always_inline)) int
etch__store(struct etch_user_ring **row, uint64_t word, int32_t tid, const void *payload,
	    uint64_t len)
{
	uint64_t add = ((ETCH_HEAD + len) << ETCH_USER_COUNT_BITS) + 1;

	__asm__ goto(
		ETCH__BEGIN
		"testq %%rcx, %%rcx\n\t"
		"jz %l[slow]\n\t"
		"movq (%%rcx), %%r8\n\t"			/* pos */
		"leaq (%%r8, %[add]), %%r10\n\t"
		"cmpq %c[end](%%rcx), %%r10\n\t"
		"ja 8f\n\t"
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
		"8:\tmovq %c[stopped](%%rcx), %%rdx\n\t"
		"orq %c[overwrite](%%rcx), %%rdx\n\t"
		"jnz %l[slow]\n\t"
		"shrq %[count], %%r8\n\t"
		"decq %%r8\n\t"
		"leaq %c[head](%%r8, %[len]), %%rdx\n\t"	/* the record's last byte */
		"orq %[last], %%r8\n\t"				/* the block's, or -1 */
		"cmpq %%r8, %%rdx\n\t"
		"jle %l[slow]\n\t"				/* it fits in this block */
		"subq %c[consumed](%%rcx), %%r8\n\t"
		"cmpq %[bytes] - 1, %%r8\n\t"
		"jl %l[slow]\n\t"				/* the next one is free */
		"movq %c[lost](%%rcx), %%r10\n\t"
		"incq %%r10\n\t"
		"addq %[lost], %%rcx\n\t"
		"jmp 7f\n"
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
		"7:\tmovq %%r10, (%%rcx)\n"			/* pos, or lost */
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
		  [mask] "i" (ETCH_USER_SUBBUFS * ETCH_USER_SUBBUF - 1)
		: "rax", "rcx", "rdx", "r8", "r10", "memory", "cc"
		: slow);
	return 0;
slow:
	return 1;
}

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

#endif /* _ETCH_SECTIONS_X86_64_H */
