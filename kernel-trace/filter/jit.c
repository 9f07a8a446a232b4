// SPDX-License-Identifier: GPL-2.0
/*
 * Programs become machine code: see jit.h.
 *
 * The translator writes each test in BPF's instructions, of which BPF's JIT makes machine code.
 * Numbers and short texts are compared in line; for all other tests the code calls
 * etch_test_other(). No verifier looks at the instructions: they read what the flat program
 * reads, and jump forward only.
 *
 * The translator goes through the tests twice. The first time it only counts, and so learns where
 * each test begins; the second time it writes.
 */
#include <linux/bits.h>
#include <linux/filter.h>
#include <linux/limits.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "event/program.h"
#include "filter/jit.h"

/* Longer patterns are compared by a function. */
#define ETCH_JIT_TEXT		32

#define ETCH_NUMBER		BPF_REG_0	/* a test's number, or a function's result */
#define ETCH_LENGTH		BPF_REG_2	/* of a text, in bytes */
#define ETCH_PART		BPF_REG_3	/* of a text */
#define ETCH_CONSTANT		BPF_REG_4	/* a value too large for an instruction */
#define ETCH_KEPT		BPF_REG_6	/* the record, if functions are called */

/**
 * struct etch_jit - a program on its way to instructions
 * @program: the program
 * @insns: where the translator writes; NULL: it only counts
 * @nr: instructions so far
 * @record: the register that has the record's address
 * @starts: by index of a test, its first instruction; behind the last: where it fails, and passes
 */
struct etch_jit {
	const struct etch_program *program;
	struct bpf_insn *insns;
	unsigned int nr;
	u8 record;
	u16 starts[ETCH_PROGRAM_MAX + 2];
};

/* ---- Instructions ---- */

static void etch_emit(struct etch_jit *j, struct bpf_insn insn)
{
	if (j->insns)
		j->insns[j->nr] = insn;
	j->nr++;
}

static void etch_emit_constant(struct etch_jit *j, u8 reg, u64 value)
{
	const struct bpf_insn both[] = { BPF_LD_IMM64(reg, value) };

	etch_emit(j, both[0]);
	etch_emit(j, both[1]);
}

static void etch_emit_load(struct etch_jit *j, u8 to, unsigned int size, u8 from, int offset)
{
	u8 sizes[] = { [1] = BPF_B, [2] = BPF_H, [4] = BPF_W, [8] = BPF_DW };

	etch_emit(j, BPF_LDX_MEM(sizes[size], to, from, offset));
}

/* Whether an instruction of 64 bits can hold a value, which it extends by its sign. */
static bool etch_fits(u64 value)
{
	return (s64)value == (s32)value;
}

/* Compute the number that has @size bytes from itself and a value. */
static void etch_emit_compute(struct etch_jit *j, u8 op, unsigned int size, u64 value)
{
	if (size < sizeof(u64)) {
		etch_emit(j, BPF_ALU32_IMM(op, ETCH_NUMBER, (u32)value));
	} else if (etch_fits(value)) {
		etch_emit(j, BPF_ALU64_IMM(op, ETCH_NUMBER, (s32)value));
	} else {
		etch_emit_constant(j, ETCH_CONSTANT, value);
		etch_emit(j, BPF_ALU64_REG(op, ETCH_NUMBER, ETCH_CONSTANT));
	}
}

/* ---- Jumps ---- */

/* Where the test @at goes on: an index of starts[]. */
static unsigned int etch_goal(const struct etch_jit *j, unsigned int at, u16 go)
{
	switch (go) {
	case ETCH_NEXT:
		return at + 1;
	case ETCH_FAIL:
		return j->program->nr;
	case ETCH_PASS:
		return j->program->nr + 1;
	default:
		return go;
	}
}

/* When the instructions are counted, starts[] does not have the goal yet, nor does it matter. */
static void etch_emit_jump(struct etch_jit *j, struct bpf_insn insn, unsigned int goal)
{
	insn.off = j->starts[goal] - j->nr - 1;
	etch_emit(j, insn);
}

static void etch_emit_goto(struct etch_jit *j, unsigned int at, u16 go)
{
	unsigned int goal = etch_goal(j, at, go);

	if (goal != at + 1)
		etch_emit_jump(j, BPF_JMP_A(0), goal);
}

/* Jump if what @reg has, of @size bytes, and @value are as @op says. */
static void etch_emit_compare(struct etch_jit *j, u8 op, u8 reg, unsigned int size, u64 value,
			      unsigned int goal)
{
	if (size < sizeof(u64)) {
		etch_emit_jump(j, BPF_JMP32_IMM(op, reg, (u32)value, 0), goal);
	} else if (etch_fits(value)) {
		etch_emit_jump(j, BPF_JMP_IMM(op, reg, (s32)value, 0), goal);
	} else {
		etch_emit_constant(j, ETCH_CONSTANT, value);
		etch_emit_jump(j, BPF_JMP_REG(op, reg, ETCH_CONSTANT, 0), goal);
	}
}

static u8 etch_opposite(u8 op)
{
	switch (op) {
	case BPF_JEQ:
		return BPF_JNE;
	case BPF_JNE:
		return BPF_JEQ;
	case BPF_JGE:
		return BPF_JLT;
	default:	/* BPF_JLE */
		return BPF_JGT;
	}
}

/* The end of a test, which is true if the number and @value are as @op says. */
static void etch_emit_decide(struct etch_jit *j, unsigned int at, u8 op, unsigned int size,
			     u64 value)
{
	const struct etch_test_of *t = &j->program->tests[at];
	unsigned int yes = etch_goal(j, at, t->yes), no = etch_goal(j, at, t->no);

	if (yes == at + 1) {
		etch_emit_compare(j, etch_opposite(op), ETCH_NUMBER, size, value, no);
		return;
	}
	etch_emit_compare(j, op, ETCH_NUMBER, size, value, yes);
	etch_emit_goto(j, at, t->no);
}

/* ---- Tests ---- */

static bool etch_jit_does_number(const struct etch_test_of *t)
{
	return t->plain && t->offset <= S16_MAX &&
	       t->field == GENMASK_ULL(t->size * BITS_PER_BYTE - 1, 0);
}

static bool etch_jit_does_text(const struct etch_test_of *t)
{
	return t->how == ETCH_EQUALS && (t->of == ETCH_OF_STRING || t->of == ETCH_OF_DYNAMIC) &&
	       t->len && t->len <= ETCH_JIT_TEXT && t->offset <= S16_MAX / 2;
}

/* etch_in_range(), in as few instructions as the range allows. */
static void etch_emit_number(struct etch_jit *j, unsigned int at)
{
	const struct etch_test_of *t = &j->program->tests[at];
	u64 low = t->low & t->field, and = t->and & t->field;
	unsigned int size = t->size;

	etch_emit_load(j, ETCH_NUMBER, size, j->record, t->offset);
	if (and != t->field)
		etch_emit_compute(j, BPF_AND, size, and);
	if (!t->span)
		return etch_emit_decide(j, at, BPF_JEQ, size, low);
	if (t->span == t->field - 1)
		return etch_emit_decide(j, at, BPF_JNE, size, (low - 1) & t->field);
	if (low + t->span == t->field)
		return etch_emit_decide(j, at, BPF_JGE, size, low);
	if (low)
		etch_emit_compute(j, BPF_SUB, size, low);
	if (low && size < sizeof(u32))
		etch_emit_compute(j, BPF_AND, size, t->field);
	etch_emit_decide(j, at, BPF_JLE, size, t->span);
}

/* How many bytes to compare at once, of those from @done on. The last ones may be seen twice. */
static unsigned int etch_text_part(unsigned int *done, unsigned int len)
{
	unsigned int size = sizeof(u64);

	while (size > len || (size > 1 && size / 2 >= len - *done))
		size /= 2;
	if (*done + size > len)
		*done = len - size;
	return size;
}

/* Go to @no if not the first @len bytes at @offset from @text are the pattern's. */
static void etch_emit_text_is(struct etch_jit *j, const struct etch_test_of *t, u8 text,
			      int offset, unsigned int len, unsigned int no)
{
	unsigned int done = 0, size;

	for (; done < len; done += size) {
		u64 part = 0;

		size = etch_text_part(&done, len);
		memcpy(&part, t->pattern + done, size);
		etch_emit_load(j, ETCH_PART, size, text, offset + done);
		etch_emit_compare(j, BPF_JNE, ETCH_PART, size, part, no);
	}
}

/* etch_equals() for a text whose place does not change. */
static void etch_emit_fixed_text(struct etch_jit *j, unsigned int at)
{
	const struct etch_test_of *t = &j->program->tests[at];

	if (t->len > t->most)
		return etch_emit_goto(j, at, t->no);
	/* The zero at the end is compared with the pattern's. */
	etch_emit_text_is(j, t, j->record, t->offset, t->len + (t->len < t->most),
			  etch_goal(j, at, t->no));
	etch_emit_goto(j, at, t->yes);
}

/* etch_equals() for a text whose place and length stand in the record. */
static void etch_emit_dynamic_text(struct etch_jit *j, unsigned int at)
{
	const struct etch_test_of *t = &j->program->tests[at];
	unsigned int yes = etch_goal(j, at, t->yes), no = etch_goal(j, at, t->no);
	int offset = t->relative ? t->offset + sizeof(u32) : 0;

	etch_emit_load(j, ETCH_NUMBER, sizeof(u32), j->record, t->offset);
	etch_emit(j, BPF_MOV32_REG(ETCH_LENGTH, ETCH_NUMBER));
	etch_emit(j, BPF_ALU32_IMM(BPF_RSH, ETCH_LENGTH, 16));
	etch_emit_compare(j, BPF_JLT, ETCH_LENGTH, sizeof(u32), t->len, no);
	etch_emit(j, BPF_ALU32_IMM(BPF_AND, ETCH_NUMBER, 0xffff));
	etch_emit(j, BPF_ALU64_REG(BPF_ADD, ETCH_NUMBER, j->record));
	etch_emit_text_is(j, t, ETCH_NUMBER, offset, t->len, no);
	etch_emit_compare(j, BPF_JEQ, ETCH_LENGTH, sizeof(u32), t->len, yes);
	etch_emit_load(j, ETCH_PART, 1, ETCH_NUMBER, offset + t->len);
	etch_emit_compare(j, BPF_JNE, ETCH_PART, 1, 0, no);
	etch_emit_goto(j, at, t->yes);
}

/* The code calls this. */
static u64 etch_jit_other(u64 test, u64 record, u64 r3, u64 r4, u64 r5)
{
	return etch_test_other((const void *)test, (const void *)record);
}

static void etch_emit_other(struct etch_jit *j, unsigned int at)
{
	etch_emit_constant(j, BPF_REG_1, (unsigned long)&j->program->tests[at]);
	etch_emit(j, BPF_MOV64_REG(BPF_REG_2, j->record));
	etch_emit(j, BPF_EMIT_CALL(etch_jit_other));
	etch_emit_decide(j, at, BPF_JNE, sizeof(u64), 0);
}

static void etch_emit_test(struct etch_jit *j, unsigned int at)
{
	const struct etch_test_of *t = &j->program->tests[at];

	if (etch_jit_does_number(t))
		etch_emit_number(j, at);
	else if (!etch_jit_does_text(t))
		etch_emit_other(j, at);
	else if (t->of == ETCH_OF_STRING)
		etch_emit_fixed_text(j, at);
	else
		etch_emit_dynamic_text(j, at);
}

/* ---- Programs ---- */

/*
 * Getting into the code and out of it costs as much as one test of a number saves. Tests for
 * which the code calls a function save nothing.
 */
static bool etch_jit_pays(const struct etch_program *program)
{
	unsigned int i, numbers = 0;

	for (i = 0; i < program->nr; i++) {
		if (etch_jit_does_text(&program->tests[i]))
			return true;
		numbers += etch_jit_does_number(&program->tests[i]);
	}
	return numbers > 1;
}

/* A function may change all registers but a few, and the code keeps the record in one of these. */
static u8 etch_jit_record(const struct etch_program *program)
{
	unsigned int i;

	for (i = 0; i < program->nr; i++) {
		const struct etch_test_of *t = &program->tests[i];

		if (!etch_jit_does_number(t) && !etch_jit_does_text(t))
			return ETCH_KEPT;
	}
	return BPF_REG_1;
}

static void etch_jit_write(struct etch_jit *j, struct bpf_insn *insns)
{
	unsigned int i;

	j->insns = insns;
	j->nr = 0;
	if (j->record == ETCH_KEPT)
		etch_emit(j, BPF_MOV64_REG(ETCH_KEPT, BPF_REG_1));
	for (i = 0; i < j->program->nr; i++) {
		j->starts[i] = j->nr;
		etch_emit_test(j, i);
	}
	for (i = 0; i < 2; i++) {
		j->starts[j->program->nr + i] = j->nr;
		etch_emit(j, BPF_MOV64_IMM(BPF_REG_0, i));
		etch_emit(j, BPF_EXIT_INSN());
	}
}

/* A prepared program for the JIT; NULL: no memory, or it is too long. */
static struct bpf_prog *etch_jit_translate(const struct etch_program *program)
{
	struct etch_jit *j = kmalloc(sizeof(*j), GFP_KERNEL | __GFP_NOWARN);
	struct bpf_prog *prog = NULL;

	if (!j)
		return NULL;
	j->program = program;
	j->record = etch_jit_record(program);
	etch_jit_write(j, NULL);
	if (j->nr <= S16_MAX)
		prog = bpf_prog_alloc_no_stats(bpf_prog_size(j->nr), __GFP_NOWARN);
	if (prog) {
		etch_jit_write(j, prog->insnsi);
		prog->len = j->nr;
		prog->type = BPF_PROG_TYPE_SOCKET_FILTER;
		strscpy(prog->aux->name, "etch_filter");
	}
	kfree(j);
	return prog;
}

static void etch_jit_free_now(struct rcu_head *rcu)
{
	bpf_prog_free(container_of(rcu, struct bpf_prog_aux, rcu)->prog);
}

/* Unwinders may have found the code among the kernel's symbols. */
static void etch_jit_free(struct bpf_prog *prog)
{
	bpf_prog_kallsyms_del(prog);
	call_rcu(&prog->aux->rcu, etch_jit_free_now);
}

/**
 * etch_jit_make() - have a program run as machine code
 * @program: complete, and nobody runs it yet
 *
 * If the kernel has no JIT for BPF, if it is off (net.core.bpf_jit_enable), if the code would not
 * be quicker, or if there is no memory, the program stays as it is. BPF's interpreter is never
 * used: it is slower than the flat program. The code is among the kernel's symbols, as
 * bpf_prog_..._etch_filter.
 *
 * Context: process, may sleep.
 */
void etch_jit_make(struct etch_program *program)
{
	struct bpf_prog *prog;
	int err;

	if (!IS_ENABLED(CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS) || !ebpf_jit_enabled() ||
	    !etch_jit_pays(program))
		return;
	prog = etch_jit_translate(program);
	if (!prog)
		return;
	prog = bpf_prog_select_runtime(prog, &err);
	if (err || !prog->jited) {
		bpf_prog_free(prog);
		return;
	}
	bpf_prog_kallsyms_add(prog);
	program->native = prog->bpf_func;
	program->native_of = prog;
	program->native_free = etch_jit_free;
	program->plain = false;
}
