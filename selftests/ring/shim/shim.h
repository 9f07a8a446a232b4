/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the ring buffer uses of the kernel, for a program in user space. Each header
 * in linux/ and asm/ beside this file stands in for the kernel's of that name
 * and includes this one. Same meaning, no more than is needed.
 */
#ifndef ETCH_SHIM_H
#define ETCH_SHIM_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint16_t u16;
typedef uint8_t u8;
typedef unsigned int gfp_t;

#if defined(__x86_64__)
#define CONFIG_X86 1
#define CONFIG_X86_64 1
#elif defined(__aarch64__)
#define CONFIG_ARM64 1
#endif

/*
 * Called, if this thread has set it, before each access to memory that others write
 * too: all places where an interrupt, or another CPU, could make a difference.
 */
typedef void (*shim_hook)(void);
extern __thread shim_hook shim_point;
#ifdef SHIM_NO_POINTS
#define SHIM_POINT()		do { } while (0)
#else
#define SHIM_POINT()		do { if (shim_point) shim_point(); } while (0)
#endif

/*
 * ThreadSanitizer sees neither volatile nor assembler and knows C11's atomic operations
 * only, but not their fences: so for it all marked accesses are the former, and the
 * latter are what the processor needs but order nothing in its eyes. The ring has fences
 * only between marked accesses and around copies that it marks with data_race().
 */
#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define SHIM_TSAN 1
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
#endif

/* compiler.h, types.h, bits.h, minmax.h, log2.h */
#undef __always_inline
#define noinline		__attribute__((noinline))
#define __always_inline		inline __attribute__((always_inline))
#define notrace
#undef __maybe_unused
#define __maybe_unused		__attribute__((unused))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#ifdef SHIM_TSAN
#define READ_ONCE(x)		({ SHIM_POINT(); __atomic_load_n(&(x), __ATOMIC_RELAXED); })
#define WRITE_ONCE(x, v)						\
	do { SHIM_POINT(); __atomic_store_n(&(x), v, __ATOMIC_RELAXED); } while (0)
#define data_race(x) ({							\
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);			\
	__typeof__(x) __x = (x);					\
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);			\
	__x;								\
})
#else
#define READ_ONCE(x)		({ SHIM_POINT(); *(const volatile __typeof__(x) *)&(x); })
#define WRITE_ONCE(x, v)						\
	do { SHIM_POINT(); *(volatile __typeof__(x) *)&(x) = (v); } while (0)
#define data_race(x)		(x)
#endif
#define barrier()		__asm__ __volatile__("" : : : "memory")
#undef static_assert
#define static_assert(x, ...)	_Static_assert(x, #x)
#define BUILD_BUG_ON(c)	do {							\
	extern void build_bug(void) __attribute__((error("BUILD_BUG_ON: " #c)));	\
										\
	if (c)									\
		build_bug();							\
} while (0)
#define OPTIMIZER_HIDE_VAR(v)	__asm__("" : "=r" (v) : "0" (v))
#undef offsetofend
#define offsetofend(t, m)	(offsetof(t, m) + sizeof(((t *)0)->m))
#define ____cacheline_aligned	__attribute__((aligned(64)))
#define __aligned(n)		__attribute__((aligned(n)))
#undef __packed
#define __packed		__attribute__((packed))
#define __printf(f, a)		__attribute__((format(printf, f, a)))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define BIT(n)			(1UL << (n))
#define BIT_ULL(n)		(1ULL << (n))
#define GENMASK_ULL(h, l)	((~0ULL >> (63 - (h))) & (~0ULL << (l)))
#define SMP_CACHE_BYTES		64
#define PTR_ALIGN(p, a)		((__typeof__(p))ALIGN((unsigned long)(p), (a)))
#define ALIGN(x, a)		(((x) + ((a) - 1)) & ~((__typeof__(x))(a) - 1))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define max3(a, b, c)		max(max(a, b), c)
#define is_power_of_2(n)	((n) && !((n) & ((n) - 1)))
#define ilog2(n)		(63 - __builtin_clzll(n))
#define roundup_pow_of_two(n)	((n) < 2 ? 1UL : 1UL << (ilog2((n) - 1UL) + 1))

/* atomic.h: a local operation is atomic against this thread's signals only. */
#define smp_load_acquire(p)	({ SHIM_POINT(); __atomic_load_n(p, __ATOMIC_ACQUIRE); })
#define smp_store_release(p, v)						\
	do { SHIM_POINT(); __atomic_store_n(p, v, __ATOMIC_RELEASE); } while (0)
#if !defined(SHIM_TSAN)
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)
#elif defined(__aarch64__)
#define smp_rmb()		__asm__ __volatile__("dmb ishld" : : : "memory")
#define smp_wmb()		__asm__ __volatile__("dmb ishst" : : : "memory")
#else
#define smp_rmb()		barrier()
#define smp_wmb()		barrier()
#endif

#define xchg(p, new) ({							\
	SHIM_POINT();							\
	__atomic_exchange_n(p, new, __ATOMIC_SEQ_CST);			\
})

#define cmpxchg(p, old, new) ({						\
	__typeof__(*(p)) __old = (old);					\
									\
	SHIM_POINT();							\
	__atomic_compare_exchange_n(p, &__old, new, false,		\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
	__old;								\
})

static __always_inline bool try_cmpxchg_local(u64 *p, u64 *old, u64 new)
{
#if defined(__x86_64__) && !defined(SHIM_TSAN)
	bool ok;

	SHIM_POINT();
	__asm__ __volatile__("cmpxchgq %[new], %[p]"
			     : "=@ccz" (ok), [p] "+m" (*p), "+a" (*old)
			     : [new] "r" (new) : "memory");
	return ok;
#else
	SHIM_POINT();
	return __atomic_compare_exchange_n(p, old, new, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
#endif
}

static __always_inline u64 cmpxchg_local(u64 *p, u64 old, u64 new)
{
	try_cmpxchg_local(p, &old, new);
	return old;
}

/* asm/local.h */
typedef struct { long a; } local_t;

#define local_read(l)		READ_ONCE((l)->a)
#define local_set(l, v)		WRITE_ONCE((l)->a, v)
#define local_inc(l)		local_add(1, l)

static __always_inline void local_add(long n, local_t *l)
{
	SHIM_POINT();
#if defined(__x86_64__) && !defined(SHIM_TSAN)
	__asm__ __volatile__("addq %1, %0" : "+m" (l->a) : "er" (n) : "memory");
#else
	__atomic_fetch_add(&l->a, n, __ATOMIC_RELAXED);
#endif
}

/* asm/msr.h, asm/timex.h, timekeeping.h */
#if defined(__x86_64__)
static __always_inline u64 rdtsc(void)
{
	return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
static __always_inline u64 get_cycles(void)
{
	u64 t;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r" (t));
	return t;
}
#endif

/* ETCH_CLOCK_BOOT leaps now and then; with shim_leap_asked, when a test sets shim_leap. */
#define SHIM_MAX_LEAPS	32000u
extern bool shim_leap_asked, shim_leap;
extern unsigned int shim_leaps;
/* If not 0, the monotonic clock stands there. */
extern u64 shim_stopped;
u64 ktime_get_mono_fast_ns(void);

/* sched.h */
#define cond_resched()		do { } while (0)

struct shim_task {
	int pid;
};

static const struct shim_task shim_task = { .pid = 1 };

#define current			(&shim_task)

/* err.h, bug.h, export.h */
#define ERR_PTR(e)		((void *)(long)(e))
#define PTR_ERR(p)		((long)(p))
#define IS_ERR(p)		((unsigned long)(p) >= (unsigned long)-4095)
#define IS_ERR_OR_NULL(p)	(!(p) || IS_ERR(p))
#define EXPORT_SYMBOL_GPL(s)	_Static_assert(1, "")

/* A warning fails the test: see shim.c. */
extern int shim_warnings;
/* The counter may be set back soon: see shim.c. */
extern bool shim_asleep;
#define WARN_ON_ONCE(c) ({						\
	bool __c = !!(c);						\
									\
	if (__c && !__atomic_fetch_add(&shim_warnings, 1, __ATOMIC_RELAXED)) \
		fprintf(stderr, "%s:%d: warning: %s\n", __FILE__, __LINE__, #c); \
	__c;								\
})

/* string.h: a copy has points before, in the middle and behind. */
void *shim_memcpy(void *to, const void *from, size_t size);
#define memcpy(to, from, size)	shim_memcpy(to, from, size)

/* gfp.h, mm.h, slab.h */
#define PAGE_SIZE		4096U
#define NUMA_NO_NODE		(-1)
#define GFP_KERNEL		0
#define __GFP_ZERO		0
#define __GFP_COMP		0
#define __GFP_NORETRY		0
#define __GFP_NOWARN		0

struct page;

/* How many allocations succeed before all others fail; negative: all succeed. */
extern long shim_allocs;
/* The number of live allocations. */
extern long shim_live;

void *shim_alloc(size_t align, size_t size);
void shim_free(void *p);

#define get_order(size)		((size) <= PAGE_SIZE ? 0U : (unsigned int)ilog2(((size) - 1) / PAGE_SIZE) + 1)
#define alloc_pages_node(node, gfp, order) \
	((void)(gfp), (struct page *)shim_alloc(PAGE_SIZE, (size_t)PAGE_SIZE << (order)))
#define page_address(page)	((void *)(page))
#define free_pages(addr, order)	((void)(order), shim_free((void *)(addr)))
#define si_mem_available()	(1L << 40)
#define kzalloc_node(size, gfp, node) shim_alloc(64, size)
#define kzalloc(size, gfp)	shim_alloc(64, size)
#define kvcalloc(n, size, gfp)	shim_alloc(64, (n) * (size))
#define kvmalloc(size, gfp)	shim_alloc(64, size)
#define kfree(p)		shim_free(p)
#define kvfree(p)		shim_free(p)

#endif /* ETCH_SHIM_H */
