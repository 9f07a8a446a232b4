// SPDX-License-Identifier: GPL-2.0
/*
 * Requests to disks: from when the driver got one until all of it was complete, which may come
 * in parts. A device has one request at a sector, and one that has no sectors.
 */
#include "states/machine.h"

#include <stdio.h>
#include <stdlib.h>

#define REQUEST_BUCKETS	1024

static struct request **request_place(struct states *s, uint32_t dev, uint64_t sector, bool empty)
{
	uint64_t hash = (sector ^ (uint64_t)dev << 32) * 0x9e3779b97f4a7c15ULL;
	struct request **at;

	if (!s->requests)
		s->requests = calloc(REQUEST_BUCKETS, sizeof(*s->requests));
	if (!s->requests)
		return NULL;
	at = &s->requests[hash >> 54];
	while (*at && ((*at)->dev != dev || (*at)->sector != sector || (*at)->empty != empty))
		at = &(*at)->next;
	return at;
}

static struct request **request_of(struct states *s, const struct etch_record *rec,
				   const struct etch_field * const *fields)
{
	return request_place(s, etch_number(rec, fields[0]), etch_number(rec, fields[1]),
			     !etch_number(rec, fields[2]));
}

static void request_gone(struct request **at)
{
	struct request *request = *at;

	*at = request->next;
	free(request);
}

/* "254,0 RA": the device, and what the kernel calls rwbs. */
static unsigned int request_label(struct states *s, uint32_t dev, const char *rwbs, size_t len)
{
	char text[64];

	snprintf(text, sizeof(text), "%u,%u %.*s", dev >> 20, dev & 0xfffff,
		 (int)(len < 16 ? len : 16), rwbs);
	return labels_add(s->labels, text, strlen(text));
}

int on_issue(struct states *s, const struct etch_record *rec,
	     const struct etch_field * const *fields)
{
	struct request **at, *request;
	const struct thread *thread = rec->pid ? thread_of(s, rec->pid, false) : NULL;
	size_t len;
	const char *rwbs = etch_text(rec, fields[4], &len);

	/* It may be complete where records are missing. */
	if (s->gaps)
		return 0;
	at = request_of(s, rec, fields);
	if (!at)
		return -1;
	request = *at ? *at : calloc(1, sizeof(*request));
	if (!request)
		return -1;
	*at = request;
	request->dev = etch_number(rec, fields[0]);
	request->sector = etch_number(rec, fields[1]);
	request->left = etch_number(rec, fields[2]);
	request->empty = !request->left;
	request->bytes = etch_number(rec, fields[3]);
	request->since = rec->ns;
	request->tid = rec->pid;
	request->task = rec->pid ? thread ? thread->name : 0 : labels_add(s->labels, "<idle>", 6);
	request->label = request_label(s, request->dev, rwbs, len);
	return 0;
}

static void request_emit(struct states *s, const struct request *r, uint64_t ns, int cpu,
			 enum span_fate fate)
{
	emit(s, &(struct span){
		.kind = SPAN_IO, .fate = fate, .start = r->since, .end = ns, .cpu = cpu,
		.tid = r->tid, .task = r->task, .label = r->label, .bytes = r->bytes });
}

int on_complete(struct states *s, const struct etch_record *rec,
		const struct etch_field * const *fields)
{
	struct request **at = request_of(s, rec, fields), *request, **to;
	uint32_t done = etch_number(rec, fields[2]);

	if (!at)
		return -1;
	request = *at;
	if (!request)
		return 0;
	if (request->left <= done) {
		request_emit(s, request, rec->ns, rec->cpu, SPAN_WHOLE);
		request_gone(at);
		return 0;
	}
	/* The rest begins behind what is complete. */
	*at = request->next;
	request->left -= done;
	request->sector += done;
	to = request_place(s, request->dev, request->sector, request->empty);
	if (*to)
		request_gone(to);
	request->next = *to;
	*to = request;
	return 0;
}

/* The driver gave it back, and will get it again. */
int on_requeue(struct states *s, const struct etch_record *rec,
	       const struct etch_field * const *fields)
{
	struct request **at = request_of(s, rec, fields);

	if (!at)
		return -1;
	if (*at)
		request_gone(at);
	return 0;
}

void io_drop(struct states *s, uint64_t ns, enum span_fate fate)
{
	for (unsigned int i = 0; s->requests && i < REQUEST_BUCKETS; i++)
		while (s->requests[i]) {
			request_emit(s, s->requests[i], ns, -1, fate);
			request_gone(&s->requests[i]);
		}
}

void io_close(struct states *s)
{
	for (unsigned int i = 0; s->requests && i < REQUEST_BUCKETS; i++)
		while (s->requests[i])
			request_gone(&s->requests[i]);
	free(s->requests);
}
