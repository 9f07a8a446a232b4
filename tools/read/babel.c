// SPDX-License-Identifier: GPL-2.0
/*
 * The traces of other tracers as a source, read by libbabeltrace2: LTTng's, perf's, and others
 * in Common Trace Format 1.8.
 *
 * The library's source component has a port for each stream, and a stream is in the order of
 * time. A sink component of ours has as many ports. It reads one message after the
 * other of a stream until it has a record, or a loss, and gives the earliest of all
 * streams. A loss is known when its message comes, in front of the packet behind it: from then
 * on its CPU has a gap, as struct etch_source demands.
 *
 * A record that does not tell of its thread is of the thread that the last switch of its
 * CPU began to run, or of none that is known: -1.
 */
#ifdef HAVE_BABELTRACE2
#include "read/babel.h"

#include <stdio.h>
#include <stdlib.h>

/**
 * struct port - a stream
 * @messages: where its messages come from; NULL behind the last
 * @batch: those that came at once, @nr of them
 * @nr: see @batch
 * @at: the next one of these
 * @cpu: what its packets say; -1: no packet has come
 * @known: the event of @rec
 * @rec: the record or loss that it has next, if @waits
 * @waits: see @rec
 * @loss: the loss in front of the next packet, if @losing
 * @losing: see @loss
 * @broken: it could not be read to its end
 * @told: it is broken, and its CPU knows
 * @time: of the latest message
 * @cut: a record did not fit, and this was said
 * @packets: begun and not counted yet
 * @buf: the record; BABEL_RECORD bytes
 */
struct port {
	bt_message_iterator *messages;
	bt_message_array_const batch;
	uint64_t nr, at;
	int cpu;
	const struct babel_event *known;
	struct etch_record rec;
	bool waits, losing, cut, broken, told;
	struct etch_loss loss;
	uint64_t time;
	unsigned long long packets;
	unsigned char *buf;
};

/**
 * struct babel - a trace
 * @source: what others know of it; first
 * @graph: the components
 * @reader: the library's, which reads the files
 * @ports: its streams, @nr_ports of them
 * @nr_ports: see @ports
 * @events: its events
 * @running: by the source's CPUs: the thread that runs there; -1: unknown
 * @last: the port that gave the record before; NULL: none
 * @described: the trace's events are known
 * @failed: there is no memory, or the trace is of a kind that cannot be shown; said
 */
struct babel {
	struct etch_source source;
	bt_graph *graph;
	const bt_component_source *reader;
	struct port *ports;
	uint64_t nr_ports;
	struct babel_events events;
	int *running;
	struct port *last;
	bool described, failed;
};

/* ---- Errors ---- */

/* Says what the library says: the cause that came first. */
static void complain(const struct babel *b, const char *what)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *why = "the library does not say why";

	if (error && bt_error_get_cause_count(error))
		why = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));
	etch_complaint("%s %s: %s", b->source.path, what, why);
	if (error)
		bt_error_release(error);
}

/* ---- The trace ---- */

static void take_clock(struct babel *b, const bt_clock_class *class)
{
	struct etch_clock *clock = &b->source.clock;
	const char *name = bt_clock_class_get_name(class);
	int64_t seconds;
	uint64_t ticks;

	bt_clock_class_get_offset(class, &seconds, &ticks);
	snprintf(clock->name, sizeof(clock->name), "%s", name ? name : "");
	clock->freq = bt_clock_class_get_frequency(class) ?: 1000000000;
	clock->offset_ns = seconds * 1000000000 + (int64_t)etch_clock_ns(clock, ticks);
	clock->absolute = bt_clock_class_origin_is_unix_epoch(class);
}

static const char *env_text(const bt_trace *trace, const char *name)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : NULL;
}

/* The environment as Etch's metadata has it; see etch_env(). */
static char *take_env(const bt_trace *trace)
{
	static const char * const names[] = {
		"hostname", "domain", "sysname", "kernel_release", "kernel_version",
		"architecture", "tracer_name", "instance",
	};
	size_t size;
	char *text = NULL;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	fputs("\nenv {\n", to);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = env_text(trace, names[i]);

		if (!value)
			continue;
		fprintf(to, "\t%s = \"", names[i]);
		for (; *value; value++)
			putc(*value == '"' || *value == '\\' || (unsigned char)*value < ' ' ?
			     '?' : *value, to);
		fputs("\";\n", to);
	}
	fputs("};\n", to);
	return fclose(to) ? NULL : text;
}

/* The first stream begins: what all records have in common. */
static bool describe_trace(struct babel *b, const bt_stream *stream)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(stream);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(
		bt_stream_borrow_class_const(stream));
	const char *tracer = env_text(trace, "tracer_name");

	if (!clock) {
		etch_complaint("%s has no times: its streams have no clock", b->source.path);
		return false;
	}
	b->described = true;
	take_clock(b, clock);
	b->source.metadata = take_env(trace);
	b->events.tracer = !tracer ? BABEL_ANY : !strcmp(tracer, "etch") ? BABEL_ETCH :
			   !strncmp(tracer, "lttng", 5) ? BABEL_LTTNG : BABEL_ANY;
	return b->source.metadata &&
	       babel_events_add(&b->events, &b->source, bt_trace_borrow_class_const(trace));
}

/* ---- Messages ---- */

static void packet_begins(struct babel *b, struct port *port, const bt_message *message)
{
	const bt_packet *packet = bt_message_packet_beginning_borrow_packet_const(message);
	const bt_field *context = bt_packet_borrow_context_field_const(packet), *cpu;

	port->packets++;
	cpu = context ? bt_field_structure_borrow_member_field_by_name_const(context, "cpu_id") :
			NULL;
	/* Without a number, each stream counts as a CPU. */
	if (cpu && bt_field_class_type_is(bt_field_get_class_type(cpu), BT_FIELD_CLASS_TYPE_INTEGER))
		port->cpu = (int)babel_number(cpu);
	else
		port->cpu = (int)(port - b->ports);
	if (bt_stream_class_packets_have_beginning_default_clock_snapshot(
		    bt_stream_borrow_class_const(bt_packet_borrow_stream_const(packet))))
		port->time = bt_clock_snapshot_get_value(
			bt_message_packet_beginning_borrow_default_clock_snapshot_const(message));
}

static void packet_ends(struct port *port, const bt_message *message)
{
	const bt_packet *packet = bt_message_packet_end_borrow_packet_const(message);

	if (bt_stream_class_packets_have_end_default_clock_snapshot(
		    bt_stream_borrow_class_const(bt_packet_borrow_stream_const(packet))))
		port->time = bt_clock_snapshot_get_value(
			bt_message_packet_end_borrow_default_clock_snapshot_const(message));
}

static void loss_begins(struct port *port)
{
	if (port->losing)
		return;
	port->losing = true;
	port->loss = (struct etch_loss){ .since = port->time };
}

static void events_discarded(struct port *port, const bt_message *message)
{
	uint64_t count = 0;
	bool counted = bt_message_discarded_events_get_count(message, &count) ==
		       BT_PROPERTY_AVAILABILITY_AVAILABLE;

	/* In front of the first packet: that is what was lost before the trace begins. */
	if (!counted && port->cpu < 0)
		return;
	loss_begins(port);
	/* If nobody has counted them, there was at least one. */
	count = counted ? count : 1;
	port->loss.total += count;
	port->loss.unknown += count;
}

static void packets_discarded(struct port *port, const bt_message *message)
{
	uint64_t count = 0;

	loss_begins(port);
	if (!bt_message_discarded_packets_get_count(message, &count))
		count = 1;
	port->loss.packets += count;
}

static void take_event(struct babel *b, struct port *port, const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);

	port->known = babel_event(&b->events, bt_event_borrow_class_const(event));
	if (!port->known)
		return;
	port->time = bt_clock_snapshot_get_value(
		bt_message_event_borrow_default_clock_snapshot_const(message));
	if (babel_lay_out(port->known, event, port->buf, &port->rec) && !port->cut) {
		port->cut = true;
		etch_complaint("%s: a record of %s is too long, and is shown in part",
			       b->source.path, port->known->event->full);
	}
	port->rec.time = port->time;
	port->waits = port->rec.event;
}

static void take_loss(struct port *port)
{
	/* If nobody has counted the records of these packets, each had one at least. */
	if (!port->loss.total)
		port->loss.total = port->loss.unknown = port->loss.packets;
	port->rec = (struct etch_record){ .loss = &port->loss, .time = port->time };
	port->waits = true;
}

static void take_message(struct babel *b, struct port *port, const bt_message *message)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		b->failed |= !b->described &&
			     !describe_trace(b, bt_message_stream_beginning_borrow_stream_const(message));
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		events_discarded(port, message);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		packets_discarded(port, message);
		break;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		packet_begins(b, port, message);
		if (port->losing)
			take_loss(port);
		break;
	case BT_MESSAGE_TYPE_STREAM_END:
		if (port->losing)
			take_loss(port);
		break;
	case BT_MESSAGE_TYPE_PACKET_END:
		packet_ends(port, message);
		break;
	case BT_MESSAGE_TYPE_EVENT:
		take_event(b, port, message);
		break;
	default:
		break;
	}
}

/* ---- Streams ---- */

static void port_close(struct port *port)
{
	while (port->at < port->nr)
		bt_message_put_ref(port->batch[port->at++]);
	if (port->messages)
		bt_message_iterator_put_ref(port->messages);
	port->messages = NULL;
}

/* More messages. False: there are none. */
static bool port_read(struct babel *b, struct port *port)
{
	bt_message_iterator_next_status status;

	if (!port->messages)
		return false;
	do
		status = bt_message_iterator_next(port->messages, &port->batch, &port->nr);
	while (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN);
	port->at = 0;
	if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_OK)
		return true;
	port->nr = 0;
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
		complain(b, "cannot be read to its end");
		port->broken = true;
	}
	port_close(port);
	return false;
}

/* Reads on until there is a record or a loss, or nothing more. */
static void port_fill(struct babel *b, struct port *port)
{
	const bt_message *message;

	while (!port->waits && !b->failed) {
		if (port->at == port->nr && !port_read(b, port))
			return;
		message = port->batch[port->at++];
		take_message(b, port, message);
		bt_message_put_ref(message);
	}
}

/* ---- The sink ---- */

static bt_component_class_initialize_method_status
sink_begin(bt_self_component_sink *self, bt_self_component_sink_configuration *configuration,
	   const bt_value *params, void *data)
{
	struct babel *b = data;
	char name[24];

	(void)configuration;
	(void)params;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), b);
	for (uint64_t i = 0; i < b->nr_ports; i++) {
		snprintf(name, sizeof(name), "in%llu", (unsigned long long)i);
		if (bt_self_component_sink_add_input_port(self, name, NULL, NULL) !=
		    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
			return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_sink_graph_is_configured_method_status
sink_connected(bt_self_component_sink *self)
{
	struct babel *b = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	for (uint64_t i = 0; i < b->nr_ports; i++)
		if (bt_message_iterator_create_from_sink_component(
			    self, bt_self_component_sink_borrow_input_port_by_index(self, i),
			    &b->ports[i].messages) !=
		    BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK)
			return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static bt_component_class_sink_consume_method_status sink_consume(bt_self_component_sink *self)
{
	struct babel *b = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

	if (b->last) {
		port_fill(b, b->last);
	} else {
		for (uint64_t i = 0; i < b->nr_ports && !b->failed; i++)
			port_fill(b, &b->ports[i]);
	}
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

/* ---- Records ---- */

static unsigned int cpu_index(const struct babel *b, int cpu)
{
	unsigned int i = 0;

	while (i + 1 < b->source.nr_cpus && b->source.cpus[i].cpu != cpu)
		i++;
	return i;
}

/* Records of a CPU are missing while one of its streams has lost some, or has broken off. */
static void note_gap(struct babel *b, int number)
{
	struct etch_cpu *cpu = &b->source.cpus[cpu_index(b, number)];
	bool gap = false;

	for (uint64_t i = 0; i < b->nr_ports; i++) {
		struct port *port = &b->ports[i];
		uint64_t since = port->losing ? port->loss.since : port->time;

		if (port->cpu != number || !(port->losing || port->broken))
			continue;
		/* Nobody knows how many; one at least. */
		cpu->unreadable += port->broken && !port->told;
		port->told = port->broken;
		if (!gap || since < cpu->gap_since)
			cpu->gap_since = since;
		gap = true;
	}
	b->source.gaps += gap - cpu->gap;
	cpu->gap = gap;
}

static void count(struct etch_cpu *cpu, struct port *port)
{
	struct etch_loss *sum = &cpu->lost;

	cpu->packets += port->packets;
	port->packets = 0;
	if (port->rec.loss) {
		sum->total += port->loss.total;
		sum->unknown += port->loss.unknown;
		sum->packets += port->loss.packets;
		return;
	}
	if (!cpu->records++)
		cpu->first = port->rec.time;
	cpu->last = port->rec.time;
}

/* The thread, as far as the record or the CPU's last switch tells of it. */
static void know_thread(struct babel *b, struct port *port, unsigned int cpu)
{
	struct etch_record *rec = &port->rec;
	uint64_t word;

	if (port->known->prev && rec->pid < 0)
		rec->pid = (int)etch_number(rec, port->known->prev);
	else if (rec->pid < 0)
		rec->pid = b->running[cpu];
	if (port->known->next)
		b->running[cpu] = (int)etch_number(rec, port->known->next);
	word = (rec->time & ((1ULL << 48) - 1)) | (uint64_t)rec->event->id << 48 |
	       (uint64_t)rec->context << 62;
	memcpy(port->buf, &word, sizeof(word));
	memcpy(port->buf + sizeof(word), &rec->pid, sizeof(rec->pid));
}

/* The stream with the earliest record; of several at one time, that of the lower CPU. */
static struct port *earliest(const struct babel *b)
{
	struct port *best = NULL;

	for (uint64_t i = 0; i < b->nr_ports; i++) {
		struct port *port = &b->ports[i];

		if (port->waits && (!best || port->rec.time < best->rec.time ||
				    (port->rec.time == best->rec.time && port->cpu < best->cpu)))
			best = port;
	}
	return best;
}

static bool run_once(struct babel *b)
{
	if (bt_graph_run_once(b->graph) == BT_GRAPH_RUN_ONCE_STATUS_OK)
		return !b->failed;
	complain(b, "cannot be read");
	return false;
}

static int babel_next(struct etch_source *source, struct etch_record *rec)
{
	struct babel *b = (struct babel *)source;
	struct port *port = b->last;
	unsigned int cpu;

	if (port) {
		port->waits = false;
		if (port->rec.loss)
			port->losing = false;
		if (!run_once(b))
			return 0;
		note_gap(b, port->cpu);
	}
	port = earliest(b);
	b->last = port;
	if (!port)
		return 0;
	cpu = cpu_index(b, port->cpu);
	port->rec.where = &source->cpus[cpu];
	port->rec.cpu = source->cpus[cpu].cpu;
	port->rec.ns = etch_clock_ns(&source->clock, port->rec.time);
	count(&source->cpus[cpu], port);
	if (port->rec.loss)
		b->running[cpu] = -1;
	else
		know_thread(b, port, cpu);
	*rec = port->rec;
	return 1;
}

/* ---- Opening ---- */

static void babel_close(struct etch_source *source)
{
	struct babel *b = (struct babel *)source;

	for (uint64_t i = 0; b->ports && i < b->nr_ports; i++) {
		port_close(&b->ports[i]);
		free(b->ports[i].buf);
	}
	if (b->graph)
		bt_graph_put_ref(b->graph);
	free(b->ports);
	free(b->running);
	free(b->events.list);
}

static int cpu_order(const void *a, const void *b)
{
	return ((const struct etch_cpu *)a)->cpu - ((const struct etch_cpu *)b)->cpu;
}

/* All streams have begun: their CPUs. */
static bool find_cpus(struct babel *b)
{
	struct etch_source *source = &b->source;

	source->cpus = calloc(b->nr_ports + 1, sizeof(*source->cpus));
	b->running = calloc(b->nr_ports + 1, sizeof(*b->running));
	if (!source->cpus || !b->running)
		return false;
	for (uint64_t i = 0; i < b->nr_ports; i++) {
		int cpu = b->ports[i].cpu;
		unsigned int n = 0;

		b->running[i] = -1;
		while (n < source->nr_cpus && source->cpus[n].cpu != cpu)
			n++;
		if (cpu >= 0 && n == source->nr_cpus)
			source->cpus[source->nr_cpus++].cpu = cpu;
	}
	qsort(source->cpus, source->nr_cpus, sizeof(*source->cpus), cpu_order);
	for (unsigned int i = 0; i < source->nr_cpus; i++)
		note_gap(b, source->cpus[i].cpu);
	return true;
}

/* The library's reader of CTF, for our folder. */
static bool add_reader(struct babel *b)
{
	const bt_component_class_source *class = NULL;
	bt_value *params = bt_value_map_create(), *inputs = NULL;
	const bt_plugin *plugin = NULL;
	bool fine;

	if (bt_plugin_find("ctf", BT_TRUE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) ==
	    BT_PLUGIN_FIND_STATUS_OK)
		class = bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
	fine = class && params &&
	       bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) ==
	       BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK &&
	       bt_value_array_append_string_element(inputs, b->source.path) ==
	       BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK &&
	       bt_graph_add_source_component(b->graph, class, "reader", params,
					     BT_LOGGING_LEVEL_NONE, &b->reader) ==
	       BT_GRAPH_ADD_COMPONENT_STATUS_OK;
	if (params)
		bt_value_put_ref(params);
	if (plugin)
		bt_plugin_put_ref(plugin);
	return fine;
}

static bool add_sink(struct babel *b, const bt_component_sink **sink)
{
	bt_component_class_sink *class = bt_component_class_sink_create("etch", sink_consume);
	bool fine;

	if (!class)
		return false;
	bt_component_class_sink_set_initialize_method(class, sink_begin);
	bt_component_class_sink_set_graph_is_configured_method(class, sink_connected);
	fine = bt_graph_add_sink_component_with_initialize_method_data(
		       b->graph, class, "etch", NULL, b, BT_LOGGING_LEVEL_NONE, sink) ==
	       BT_GRAPH_ADD_COMPONENT_STATUS_OK;
	bt_component_class_sink_put_ref(class);
	return fine;
}

static bool open_ports(struct babel *b)
{
	b->nr_ports = bt_component_source_get_output_port_count(b->reader);
	b->ports = calloc(b->nr_ports + 1, sizeof(*b->ports));
	for (uint64_t i = 0; b->ports && i < b->nr_ports; i++) {
		b->ports[i].cpu = -1;
		b->ports[i].buf = malloc(BABEL_RECORD);
		if (!b->ports[i].buf)
			return false;
	}
	return b->ports;
}

static bool build_graph(struct babel *b)
{
	const bt_component_sink *sink = NULL;

	b->graph = bt_graph_create(0);
	if (!b->graph || !add_reader(b) || !open_ports(b) || !add_sink(b, &sink))
		return false;
	for (uint64_t i = 0; i < b->nr_ports; i++)
		if (bt_graph_connect_ports(
			    b->graph,
			    bt_component_source_borrow_output_port_by_index_const(b->reader, i),
			    bt_component_sink_borrow_input_port_by_index_const(sink, i),
			    NULL) != BT_GRAPH_CONNECT_PORTS_STATUS_OK)
			return false;
	return true;
}

struct etch_source *etch_babel_open(const char *path)
{
	struct babel *b = calloc(1, sizeof(*b));
	struct etch_source *source = &b->source;

	if (b)
		source->path = strdup(path);
	if (!b || !source->path) {
		free(b);
		etch_complaint("There is no memory to open %s", path);
		return NULL;
	}
	source->foreign = true;
	source->next = babel_next;
	source->close = babel_close;
	source->clock.freq = 1000000000;
	if (!build_graph(b)) {
		complain(b, "is no trace that libbabeltrace2 reads");
		goto fail;
	}
	if (b->nr_ports && !run_once(b))
		goto fail;
	if (!b->described) {
		etch_complaint("%s has no records", path);
		goto fail;
	}
	if (find_cpus(b))
		return source;
	etch_complaint("There is no memory to open %s", path);
fail:
	etch_close(source);
	return NULL;
}
#endif /* HAVE_BABELTRACE2 */
