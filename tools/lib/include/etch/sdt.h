/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_SDT_H
#define _ETCH_SDT_H

/*
 * The probes of <sys/sdt.h> as events of Etch's, without a trap.
 *
 *	DTRACE_PROBE2(server, request, id, path);
 *
 * is the event server:request with the fields arg1 and arg2, which have their types by themselves:
 * see <etch/mark.h>. A program whose sources say <sys/sdt.h> is recompiled as it is, with
 * "-I /usr/include/etch/sdt": then <sys/sdt.h> is this file.
 *
 * A char * is recorded as a string, so it must point to one that ends with a zero, or be NULL.
 * Define ETCH_SDT_ADDRESSES for a program whose probes have others: then it is an address.
 *
 * Arguments are evaluated while the event is on, and not otherwise, as those of <sys/sdt.h> are:
 * they must not have side effects.
 *
 * There are no semaphores. A header that dtrace has made guards probes by them: such a guard stays
 * closed, and records nothing. So this file warns where _SDT_HAS_SEMAPHORES is defined.
 */

#include <etch/mark.h>

#ifdef _SDT_HAS_SEMAPHORES
#warning "etch/sdt.h: nothing sets semaphores; a probe that is guarded by one records nothing"
#endif

/* The system's <sys/sdt.h> has nothing to add. */
#ifndef _SYS_SDT_H
#define _SYS_SDT_H	1
#endif

#ifdef ETCH_SDT_ADDRESSES
#ifdef __cplusplus
extern "C++" {
template <class T> constexpr const T &etch__sdt(const T &x) { return x; }
constexpr const void *etch__sdt(const char *x) { return x; }
constexpr const void *etch__sdt(char *x) { return x; }
template <size_t N> constexpr const void *etch__sdt(const char (&x)[N]) { return x; }
template <size_t N> constexpr const void *etch__sdt(char (&x)[N]) { return x; }
}
#define ETCH__SDT(x)	etch__sdt(x)
#else
#define ETCH__SDT(x) _Generic(ETCH__VALUE(x),				\
	char *: (const void *)__builtin_choose_expr(ETCH__IS_TEXT(x), ETCH__VALUE(x), 0), \
	const char *: (const void *)__builtin_choose_expr(ETCH__IS_TEXT(x), ETCH__VALUE(x), 0), \
	default: (x))
#endif
#else
#define ETCH__SDT(x)	x
#endif

#define ETCH__PROBE(provider, name, ...) ETCH__MARK(#provider, NULL, #name, ##__VA_ARGS__)

#define DTRACE_PROBE(provider, name)	ETCH__PROBE(provider, name)
#define DTRACE_PROBE1(provider, name, a)				\
	ETCH__PROBE(provider, name, ETCH__SDT(a))
#define DTRACE_PROBE2(provider, name, a, b)				\
	ETCH__PROBE(provider, name, ETCH__SDT(a), ETCH__SDT(b))
#define DTRACE_PROBE3(provider, name, a, b, c)				\
	ETCH__PROBE(provider, name, ETCH__SDT(a), ETCH__SDT(b), ETCH__SDT(c))
#define DTRACE_PROBE4(provider, name, a, b, c, d)			\
	ETCH__PROBE(provider, name, ETCH__SDT(a), ETCH__SDT(b), ETCH__SDT(c), ETCH__SDT(d))
#define DTRACE_PROBE5(provider, name, a, b, c, d, e)			\
	ETCH__PROBE(provider, name, ETCH__SDT(a), ETCH__SDT(b), ETCH__SDT(c), ETCH__SDT(d), \
		    ETCH__SDT(e))
#define DTRACE_PROBE6(provider, name, a, b, c, d, e, f)			\
	ETCH__PROBE(provider, name, ETCH__SDT(a), ETCH__SDT(b), ETCH__SDT(c), ETCH__SDT(d), \
		    ETCH__SDT(e), ETCH__SDT(f))
#define DTRACE_PROBE7(provider, name, a, b, c, d, e, f, g)		\
	ETCH__PROBE(provider, name, ETCH__SDT(a), ETCH__SDT(b), ETCH__SDT(c), ETCH__SDT(d), \
		    ETCH__SDT(e), ETCH__SDT(f), ETCH__SDT(g))
#define DTRACE_PROBE8(provider, name, a, b, c, d, e, f, g, h)		\
	ETCH__PROBE(provider, name, ETCH__SDT(a), ETCH__SDT(b), ETCH__SDT(c), ETCH__SDT(d), \
		    ETCH__SDT(e), ETCH__SDT(f), ETCH__SDT(g), ETCH__SDT(h))
#define DTRACE_PROBE9(provider, name, a, b, c, d, e, f, g, h, i)	\
	ETCH__PROBE(provider, name, ETCH__SDT(a), ETCH__SDT(b), ETCH__SDT(c), ETCH__SDT(d), \
		    ETCH__SDT(e), ETCH__SDT(f), ETCH__SDT(g), ETCH__SDT(h), ETCH__SDT(i))
#define DTRACE_PROBE10(provider, name, a, b, c, d, e, f, g, h, i, j)	\
	ETCH__PROBE(provider, name, ETCH__SDT(a), ETCH__SDT(b), ETCH__SDT(c), ETCH__SDT(d), \
		    ETCH__SDT(e), ETCH__SDT(f), ETCH__SDT(g), ETCH__SDT(h), ETCH__SDT(i), \
		    ETCH__SDT(j))
#define DTRACE_PROBE11(provider, name, a, b, c, d, e, f, g, h, i, j, k)	\
	ETCH__PROBE(provider, name, ETCH__SDT(a), ETCH__SDT(b), ETCH__SDT(c), ETCH__SDT(d), \
		    ETCH__SDT(e), ETCH__SDT(f), ETCH__SDT(g), ETCH__SDT(h), ETCH__SDT(i), \
		    ETCH__SDT(j), ETCH__SDT(k))
#define DTRACE_PROBE12(provider, name, a, b, c, d, e, f, g, h, i, j, k, l) \
	ETCH__PROBE(provider, name, ETCH__SDT(a), ETCH__SDT(b), ETCH__SDT(c), ETCH__SDT(d), \
		    ETCH__SDT(e), ETCH__SDT(f), ETCH__SDT(g), ETCH__SDT(h), ETCH__SDT(i), \
		    ETCH__SDT(j), ETCH__SDT(k), ETCH__SDT(l))

#define STAP_PROBE	DTRACE_PROBE
#define STAP_PROBE1	DTRACE_PROBE1
#define STAP_PROBE2	DTRACE_PROBE2
#define STAP_PROBE3	DTRACE_PROBE3
#define STAP_PROBE4	DTRACE_PROBE4
#define STAP_PROBE5	DTRACE_PROBE5
#define STAP_PROBE6	DTRACE_PROBE6
#define STAP_PROBE7	DTRACE_PROBE7
#define STAP_PROBE8	DTRACE_PROBE8
#define STAP_PROBE9	DTRACE_PROBE9
#define STAP_PROBE10	DTRACE_PROBE10
#define STAP_PROBE11	DTRACE_PROBE11
#define STAP_PROBE12	DTRACE_PROBE12
#define STAP_PROBEV(provider, name, ...) ETCH__PROBE(provider, name, ##__VA_ARGS__)

#endif /* _ETCH_SDT_H */
