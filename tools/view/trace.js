// SPDX-License-Identifier: GPL-2.0
// The page of etch view: the data and the rows. view.h says what the data are.
// The page has trace.js, draw.js, tables.js and keys.js as one script.
"use strict";

const RUN = 0, READY = 1, SLEEP = 2, BLOCKED = 3, IRQ = 4, SOFTIRQ = 5, CALL = 6, IO = 7;
const WHOLE = 0, OPEN = 1, LOST = 2;
const KINDS = ["runs", "waits for a CPU", "sleeps", "sleeps, uninterruptible", "interrupt",
	       "softirq", "system call", "request"];
const COLOURS = ["run", "ready", "sleep", "blocked", "irq", "softirq", "call", "io"];
const CAUSES = ["overwritten", "buffer full", "throttled", "nested", "too big",
		"or more, why is unknown"];
const AXIS = 26, LANE = 15, LIST = 300, LINES = 200, SHORTEST = 100;

const $ = id => document.getElementById(id);
const canvas = $("canvas"), pen = canvas.getContext("2d");

// ---- The data ----

async function unpack() {
	const text = atob($("data").textContent);
	const packed = new Uint8Array(text.length);

	for (let i = 0; i < text.length; i++)
		packed[i] = text.charCodeAt(i);
	$("data").textContent = "";
	if ($("format").textContent.trim() === "plain")
		return packed;
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Numbers one after the other, 7 bits in a byte.
class Numbers {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}
	next() {
		let byte = this.bytes[this.at++];

		if (byte < 128)
			return byte;
		let value = byte & 127, scale = 128;
		do {
			byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte > 127);
		return value;
	}
	signed() {
		const value = this.next();

		return value % 2 ? -(value + 1) / 2 : value / 2;
	}
}

function readRecords(nr, bytes) {
	const from = new Numbers(bytes);
	const r = { nr, time: new Float64Array(nr), cpu: new Uint16Array(nr),
		    event: new Uint16Array(nr), tid: new Int32Array(nr) };

	for (let i = 0, time = 0; i < nr; i++) {
		r.time[i] = time += from.next();
		r.cpu[i] = from.next();
		r.event[i] = from.next();
		r.tid[i] = from.signed();
	}
	return r;
}

function readSpans(nr, bytes) {
	const from = new Numbers(bytes);
	const s = { nr, kind: new Uint8Array(nr), fate: new Uint8Array(nr),
		    woken: new Uint8Array(nr), start: new Float64Array(nr),
		    end: new Float64Array(nr), cpu: new Int16Array(nr), tid: new Int32Array(nr),
		    task: new Uint32Array(nr), label: new Uint32Array(nr), bytes: new Map() };

	for (let i = 0, end = 0; i < nr; i++) {
		const what = from.next();

		s.kind[i] = what >> 3;
		s.woken[i] = what >> 2 & 1;
		s.fate[i] = what & 3;
		s.end[i] = end += from.signed();
		s.start[i] = end - from.next();
		s.cpu[i] = from.next() - 1;
		s.tid[i] = from.signed();
		s.task[i] = from.next();
		s.label[i] = from.next();
		if (s.kind[i] === IO)
			s.bytes.set(i, from.next());
	}
	return s;
}

async function readTrace() {
	const bytes = await unpack();
	const len = new DataView(bytes.buffer).getUint32(0, true);
	const trace = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + len)));
	const records = 4 + len, spans = records + trace.bytes[0];

	trace.records = readRecords(trace.nr[0], bytes.subarray(records, spans));
	trace.spans = readSpans(trace.nr[1], bytes.subarray(spans));
	// A loss in front of the first record is a part of the trace.
	if (trace.losses.some(loss => loss[2] < trace.first))
		trace.first = 0;
	return trace;
}

let trace, spans, records;
// What is shown, in ns from the first record or loss on, and what is selected.
const view = { from: 0, to: 1, row: null, slice: -1, found: [], at: -1, query: "", wants: null };
let names, rows = [], allRows = [];

// ---- Texts ----

// A time as etch show has it: seconds, with so many digits.
function timeText(ns, digits = 9) {
	const whole = trace.base[1] + Math.round(ns);
	const seconds = Math.floor(whole / 1e9);
	const rest = String(whole - seconds * 1e9).padStart(9, "0").slice(0, digits);

	return trace.base[0] + seconds + (digits ? "." + rest : "");
}

// And back; NaN if it is none.
function timeOf(text) {
	const match = /^(\d+)(?:\.(\d{1,9}))?\d*$/.exec(text.trim());

	if (!match)
		return NaN;
	return (match[1] - trace.base[0]) * 1e9 + +(match[2] || "").padEnd(9, "0") - trace.base[1];
}

// A length as etch top has it.
function lengthText(ns) {
	if (ns < 1e6)
		return (ns / 1e3).toFixed(1) + " us";
	return ns < 1e9 ? (ns / 1e6).toFixed(2) + " ms" : (ns / 1e9).toFixed(3) + " s";
}

const taskText = tid => tid ? (names.get(tid) || "?") + "-" + tid : "<idle>";
const cpuText = cpu => cpu < 0 ? "" : "CPU " + trace.cpus[cpu];

function sliceText(i) {
	const label = trace.labels[spans.label[i]];

	switch (spans.kind[i]) {
	case RUN:
		return spans.tid[i] ? `${label}-${spans.tid[i]} runs` : "idle";
	case CALL:
		return `${label}()`;
	case IRQ:
	case SOFTIRQ:
		return label;
	case IO:
		return `request ${label}`;
	default:
		return KINDS[spans.kind[i]] + (spans.woken[i] ? ", woken" : "");
	}
}

// ---- Rows ----

// Spans of a row in the order of their begins, and the latest end up to each.
function makeRow(row, list) {
	const sorted = Uint32Array.from(list);

	for (let i = 1; i < sorted.length; i++)
		if (spans.start[sorted[i]] < spans.start[sorted[i - 1]]) {
			sorted.sort((a, b) => spans.start[a] - spans.start[b]);
			break;
		}
	row.list = sorted;
	row.latest = new Float64Array(sorted.length);
	for (let i = 0, end = -Infinity; i < sorted.length; i++)
		row.latest[i] = end = Math.max(end, spans.end[sorted[i]]);
	return row;
}

function listIn(map, key) {
	let list = map.get(key);

	if (!list)
		map.set(key, list = []);
	return list;
}

// Marks "B|PID|NAME" and "E|PID" are slices of their thread; the others stand alone.
function readMarks() {
	const open = new Map(), slices = new Map(), plain = [];

	for (const [time, cpu, tid, text] of trace.marks) {
		if (/^B\|/.test(text)) {
			listIn(open, tid).push([time, text.split("|").slice(2).join("|")]);
		} else if (/^E(\||$)/.test(text) && open.get(tid)?.length) {
			const [start, name] = open.get(tid).pop();

			listIn(slices, tid).push({ start, end: time, name,
						   depth: open.get(tid).length });
		} else {
			plain.push({ start: time, end: time, name: text, cpu, tid });
		}
	}
	for (const list of slices.values())
		list.sort((a, b) => a.start - b.start);
	return { slices, plain };
}

const depthOf = slices => slices.reduce((most, slice) => Math.max(most, slice.depth), 0);

function makeRows() {
	const run = new Map(), irqs = new Map(), io = new Map(), states = new Map();
	const calls = new Map(), busy = new Map(), marks = readMarks();
	const row = (type, name, h, list, more) => allRows.push(makeRow({ type, name, h, ...more },
									  list || []));

	names = new Map();
	for (let i = 0; i < spans.nr; i++) {
		const kind = spans.kind[i], tid = spans.tid[i];

		if (tid && kind !== IO && kind !== IRQ && kind !== SOFTIRQ && spans.task[i])
			names.set(tid, trace.labels[spans.task[i]]);
		if (kind === RUN && (spans.tid[i] || spans.fate[i] === LOST))
			listIn(run, spans.cpu[i]).push(i);
		if (kind === IRQ || kind === SOFTIRQ)
			listIn(irqs, spans.cpu[i]).push(i);
		else if (kind === IO)
			listIn(io, spans.label[i]).push(i);
		else if (kind === CALL)
			listIn(calls, tid).push(i);
		else if (tid)
			listIn(states, tid).push(i);
		if (kind === RUN && tid)
			busy.set(tid, (busy.get(tid) || 0) + spans.end[i] - spans.start[i]);
	}
	trace.cpus.forEach((cpu, i) => {
		row("cpu", "CPU " + cpu, 24, run.get(i), { cpu: i });
		if (irqs.has(i))
			row("irq", "interrupts", 14, irqs.get(i), { cpu: i });
	});
	for (const [label, list] of io)
		row("io", "disk " + trace.labels[label], 17, list, {});
	if (marks.plain.length)
		row("marks", "marks", 18, [], { marks: marks.plain });
	for (const tid of new Set([...states.keys(), ...calls.keys(), ...marks.slices.keys()]))
		busy.set(tid, busy.get(tid) || 0);
	for (const [tid] of [...busy].sort((a, b) => b[1] - a[1])) {
		row("thread", taskText(tid), 20, states.get(tid), { tid });
		if (calls.has(tid))
			row("calls", "calls", 15, calls.get(tid), { tid });
		if (marks.slices.has(tid))
			row("marks", "marks", LANE * (1 + depthOf(marks.slices.get(tid))), [],
			    { tid, marks: marks.slices.get(tid) });
	}
	rows = allRows;
}

// The first of a row's slices that ends at @ns or later.
function firstOf(row, ns) {
	let low = 0, high = row.latest.length;

	while (low < high) {
		const middle = low + high >> 1;

		if (row.latest[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

function firstRecord(ns) {
	let low = 0, high = records.nr;

	while (low < high) {
		const middle = low + high >> 1;

		if (records.time[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
