/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ETCH_FIELDS_H
#define _ETCH_FIELDS_H

/*
 * What <etch/user.h> makes of a list of events. For
 *
 *	#define SERVER_EVENTS(event) event(server, answer, (u32, id), (string, path))
 *
 * ETCH_PROVIDER() makes
 *
 *	struct server_answer__fields { etch__u32 id; uint32_t path; char etch__end; };
 *	static inline int server_answer_enabled(void);
 *	static void server_answer__hit(uint32_t id, const char *path);
 *	static inline void server_answer(uint32_t id, const char *path);
 *
 * and ETCH_PROVIDER_DEFINE() makes the gates, the ids, and the text
 * "answer\0" "u32 id;" "__data_loc char[] path;" "\0".
 */

/* Fields have the alignment that they have in a record: 4 at most. */
typedef uint8_t etch__u8;
typedef uint16_t etch__u16;
typedef uint32_t etch__u32;
typedef uint64_t etch__u64 __attribute__((aligned(4)));
typedef int8_t etch__s8;
typedef int16_t etch__s16;
typedef int32_t etch__s32;
typedef int64_t etch__s64 __attribute__((aligned(4)));
typedef uint32_t etch__string;

/* What a function takes for a field. */
typedef uint8_t etch__arg_u8;
typedef uint16_t etch__arg_u16;
typedef uint32_t etch__arg_u32;
typedef uint64_t etch__arg_u64;
typedef int8_t etch__arg_s8;
typedef int16_t etch__arg_s16;
typedef int32_t etch__arg_s32;
typedef int64_t etch__arg_s64;
typedef const char *etch__arg_string;

/* ---- Lists of (type, name) ---- */

#define ETCH__CAT(a, b) ETCH__CAT_(a, b)
#define ETCH__CAT_(a, b) a##b
#define ETCH__COUNT(...) ETCH__COUNT_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define ETCH__COUNT_(a, b, c, d, e, f, g, h, nr, ...) nr

/* M x for each x, with S between them. */
#define ETCH__MAP(M, S, ...) ETCH__CAT(ETCH__MAP_, ETCH__COUNT(__VA_ARGS__))(M, S, __VA_ARGS__)
#define ETCH__MAP_1(M, S, x) M x
#define ETCH__MAP_2(M, S, x, ...) M x S() ETCH__MAP_1(M, S, __VA_ARGS__)
#define ETCH__MAP_3(M, S, x, ...) M x S() ETCH__MAP_2(M, S, __VA_ARGS__)
#define ETCH__MAP_4(M, S, x, ...) M x S() ETCH__MAP_3(M, S, __VA_ARGS__)
#define ETCH__MAP_5(M, S, x, ...) M x S() ETCH__MAP_4(M, S, __VA_ARGS__)
#define ETCH__MAP_6(M, S, x, ...) M x S() ETCH__MAP_5(M, S, __VA_ARGS__)
#define ETCH__MAP_7(M, S, x, ...) M x S() ETCH__MAP_6(M, S, __VA_ARGS__)
#define ETCH__MAP_8(M, S, x, ...) M x S() ETCH__MAP_7(M, S, __VA_ARGS__)
#define ETCH__COMMA() ,
#define ETCH__NONE()

/* ---- What each field becomes ---- */

#define ETCH__MEMBER(type, name)	etch__##type name;
#define ETCH__PARAM(type, name)		etch__arg_##type name
#define ETCH__ARG(type, name)		name

#define ETCH__TEXT(type, name)		ETCH__TEXT_##type(name)
#define ETCH__TEXT_u8(name)		"u8 " #name ";"
#define ETCH__TEXT_u16(name)		"u16 " #name ";"
#define ETCH__TEXT_u32(name)		"u32 " #name ";"
#define ETCH__TEXT_u64(name)		"u64 " #name ";"
#define ETCH__TEXT_s8(name)		"s8 " #name ";"
#define ETCH__TEXT_s16(name)		"s16 " #name ";"
#define ETCH__TEXT_s32(name)		"s32 " #name ";"
#define ETCH__TEXT_s64(name)		"s64 " #name ";"
#define ETCH__TEXT_string(name)		"__data_loc char[] " #name ";"

/* Bytes of the strings, which lie behind the fields. */
#define ETCH__SIZE(type, name)		+ ETCH__SIZE_##type(name)
#define ETCH__SIZE_u8(name)		0
#define ETCH__SIZE_u16(name)		0
#define ETCH__SIZE_u32(name)		0
#define ETCH__SIZE_u64(name)		0
#define ETCH__SIZE_s8(name)		0
#define ETCH__SIZE_s16(name)		0
#define ETCH__SIZE_s32(name)		0
#define ETCH__SIZE_s64(name)		0
#define ETCH__SIZE_string(name)		etch__size(name)

#define ETCH__PUT(type, name)		ETCH__PUT_##type(name)
#define ETCH__PUT_NUMBER(name)		etch__fields->name = name;
#define ETCH__PUT_u8(name)		ETCH__PUT_NUMBER(name)
#define ETCH__PUT_u16(name)		ETCH__PUT_NUMBER(name)
#define ETCH__PUT_u32(name)		ETCH__PUT_NUMBER(name)
#define ETCH__PUT_u64(name)		ETCH__PUT_NUMBER(name)
#define ETCH__PUT_s8(name)		ETCH__PUT_NUMBER(name)
#define ETCH__PUT_s16(name)		ETCH__PUT_NUMBER(name)
#define ETCH__PUT_s32(name)		ETCH__PUT_NUMBER(name)
#define ETCH__PUT_s64(name)		ETCH__PUT_NUMBER(name)
#define ETCH__PUT_string(name)						\
	etch__fields->name = etch__put(etch__buf, &etch__at, etch__room, name);

/* Bytes of a string in a record, with the zero behind it. */
static inline size_t etch__size(const char *string)
{
	return strnlen(string ? string : "(null)", ETCH_STRING) + 1;
}

/* Another thread may have changed the string since it was measured: it is cut, or shorter. */
static inline uint32_t etch__put(char *buf, size_t *at, size_t room, const char *string)
{
	size_t start = *at, size = etch__size(string);

	if (size > room - start)
		size = room - start;
	if (!size)
		return 0;
	memcpy(buf + start, string ? string : "(null)", size - 1);
	buf[start + size - 1] = '\0';
	*at += size;
	return (ETCH_HEAD + start) | size << 16;
}

/* ---- What each event becomes ---- */

#define ETCH__GATE(provider, event)	provider##__gate_##event
#define ETCH__ENUM(provider, event, ...) ETCH__GATE(provider, event),
#define ETCH__NAMES(provider, event, ...)				\
	#event "\0" ETCH__MAP(ETCH__TEXT, ETCH__NONE, __VA_ARGS__) "\0"

#define ETCH__FUNCTIONS(provider, event, ...)				\
struct provider##_##event##__fields {					\
	ETCH__MAP(ETCH__MEMBER, ETCH__NONE, __VA_ARGS__)		\
	char etch__end;							\
};									\
									\
static inline int provider##_##event##_enabled(void)			\
{									\
	return provider##__gates[ETCH__GATE(provider, event)] != 0;	\
}									\
									\
static __attribute__((noinline, unused, cold)) void			\
provider##_##event##__hit(ETCH__MAP(ETCH__PARAM, ETCH__COMMA, __VA_ARGS__)) \
{									\
	size_t etch__at = offsetof(struct provider##_##event##__fields, etch__end); \
	size_t etch__room = etch__at ETCH__MAP(ETCH__SIZE, ETCH__NONE, __VA_ARGS__); \
	size_t etch__len = (etch__room + 3) & ~(size_t)3;		\
	char *etch__buf = (char *)__builtin_alloca(etch__len + sizeof(uint64_t)); \
	struct provider##_##event##__fields *etch__fields =		\
		(struct provider##_##event##__fields *)(void *)etch__buf; \
									\
	memset(etch__buf + etch__len - 4, 0, 4);			\
	ETCH__MAP(ETCH__PUT, ETCH__NONE, __VA_ARGS__)			\
	etch__record(&provider##__provider, &provider##__tid,		\
		     ETCH__GATE(provider, event), etch__buf,		\
		     (etch__at + 3) & ~(size_t)3);			\
}									\
									\
static inline void							\
provider##_##event(ETCH__MAP(ETCH__PARAM, ETCH__COMMA, __VA_ARGS__))	\
{									\
	if (__builtin_expect(provider##_##event##_enabled(), 0))	\
		provider##_##event##__hit(ETCH__MAP(ETCH__ARG, ETCH__COMMA, __VA_ARGS__)); \
}

/* ---- Providers ---- */

#ifdef __cplusplus
#define ETCH__C	extern "C"
#else
#define ETCH__C	extern
#endif

#define ETCH__HIDDEN	__attribute__((visibility("hidden")))
#define ETCH__TLS	__attribute__((visibility("hidden"), tls_model("initial-exec")))

/**
 * ETCH_PROVIDER() - declare the events of a provider
 * @provider: its name
 * @events: the name of the macro that has the list
 */
#define ETCH_PROVIDER(provider, events)					\
enum { events(ETCH__ENUM) provider##__nr };				\
ETCH__C volatile uint32_t provider##__gates[ETCH_PAGE / 4] ETCH__HIDDEN; \
ETCH__C struct etch_provider provider##__provider ETCH__HIDDEN;		\
ETCH__C __thread int32_t provider##__tid ETCH__TLS;			\
events(ETCH__FUNCTIONS)							\
ETCH__C int provider##__declared

/**
 * ETCH_PROVIDER_DEFINE() - define the events of a provider, once in a program or library
 * @provider: its name
 * @events: the name of the macro that has the list
 */
#define ETCH_PROVIDER_DEFINE(provider, events)				\
volatile uint32_t provider##__gates[ETCH_PAGE / 4] __attribute__((aligned(ETCH_PAGE))); \
static uint16_t provider##__ids[provider##__nr];			\
__thread int32_t provider##__tid;					\
struct etch_provider provider##__provider = {				\
	#provider, events(ETCH__NAMES), provider##__gates, provider##__ids, \
	provider##__nr, -1, ETCH__UNTRIED, 0, NULL,			\
};									\
static __attribute__((constructor)) void provider##__begin(void)	\
{									\
	etch__provide(&provider##__provider);				\
}									\
static __attribute__((destructor)) void provider##__end(void)		\
{									\
	etch__withdraw(&provider##__provider);				\
}									\
ETCH__C int provider##__declared

/**
 * etch_provider_error() - why are there no events?
 * @provider: the provider's name
 *
 * Return: 0, or an errno: that of opening /dev/etch, such as ENOENT, ENXIO and EACCES; or that of
 * registering an event.
 */
#define etch_provider_error(provider)	((provider##__provider).error)

/**
 * etch_provider_calls() - does each record cost a system call?
 * @provider: the provider's name
 *
 * Return: true if threads have no restartable sequences, or no event is registered.
 */
#define etch_provider_calls(provider)	(!(provider##__provider).cpus)

#endif /* _ETCH_FIELDS_H */
