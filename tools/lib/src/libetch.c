// SPDX-License-Identifier: GPL-2.0
/*
 * libetch: events of programs for other languages than C and C++. <etch/emit.h> is its manual.
 *
 * All events of a process that come from here are in one array of gates. <etch/user.h> records
 * them, as in a program in C.
 */
#include <pthread.h>
#include <stdbool.h>

#include <etch/emit.h>
#include <etch/user.h>

#define EXPORT	__attribute__((visibility("default")))

static volatile uint32_t gates[ETCH_PAGE / 4] __attribute__((aligned(ETCH_PAGE)));
static uint16_t ids[ETCH_USER_GATES];
static __thread int32_t tid __attribute__((tls_model("initial-exec")));
static struct etch_provider provider = {
	"", "", gates, ids, 0, -1, ETCH__UNTRIED, 0, NULL,
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Bytes of the text of fields, with the zero behind it. */
#define FIELDS	ETCH_USER_FIELDS

/* "string NAME" is "__data_loc char[] NAME" to the kernel. False: it is too long. */
static bool translate(char *to, const char *fields)
{
	static const char string[] = "string ", loc[] = "__data_loc char[] ";
	size_t len = 0;

	while (*fields) {
		size_t spaces = strspn(fields, "; ");
		bool is_string = !strncmp(fields + spaces, string, strlen(string));
		size_t end = spaces + strcspn(fields + spaces, ";");

		if (len + end + sizeof(loc) + 2 > FIELDS)
			return false;
		if (is_string) {
			memcpy(to + len, loc, strlen(loc));
			len += strlen(loc);
			spaces += strlen(string);
		}
		memcpy(to + len, fields + spaces, end - spaces);
		len += end - spaces;
		to[len++] = ';';
		fields += end;
	}
	to[len] = '\0';
	return true;
}

static int add(const char *name, const char *event, const char *fields)
{
	bool first = provider.error == ETCH__UNTRIED;
	int error = etch__open_device(&provider);

	if (first && !error) {
		provider.error = etch__map_gates(&provider);
		error = provider.error;
	}
	if (!error && provider.nr == ETCH_USER_GATES)
		error = E2BIG;
	if (!error)
		error = etch__register(&provider, provider.nr, name, event, fields);
	return error ? -error : (int)provider.nr++;
}

EXPORT int etch_event(const char *name, const char *event, const char *fields)
{
	char text[FIELDS];
	int ret;

	if (!name || !event || !fields || !translate(text, fields))
		return -EINVAL;
	pthread_mutex_lock(&lock);
	ret = add(name, event, text);
	pthread_mutex_unlock(&lock);
	return ret;
}

static bool is_event(int event)
{
	return event >= 0 && event < ETCH_USER_GATES;
}

EXPORT const volatile uint32_t *etch_event_gate(int event)
{
	return is_event(event) ? &gates[event] : NULL;
}

EXPORT int etch_event_enabled(int event)
{
	return is_event(event) && gates[event];
}

EXPORT int etch_emit(int event, const void *fields, size_t len)
{
	size_t padded = (len + 3) & ~(size_t)3;
	char copy[4096];

	if (!is_event(event) || len > (size_t)ETCH_LONGEST)
		return -EINVAL;
	if (!gates[event])
		return 0;
	/* A record is stored by words. */
	if (len % 4 && padded <= sizeof(copy)) {
		memcpy(copy, fields, len);
		memset(copy + len, 0, padded - len);
		fields = copy;
	} else if (len % 4) {
		return -EINVAL;
	}
	etch__record(&provider, &tid, event, fields, padded);
	return 0;
}

static __attribute__((destructor)) void end(void)
{
	etch__withdraw(&provider);
}
