// SPDX-License-Identifier: GPL-2.0
// The page of etch view. tools/tracing/etch/view/view.h says what the data are.
"use strict";

const RUN = 0, READY = 1, SLEEP = 2, BLOCKED = 3, IRQ = 4, SOFTIRQ = 5, CALL = 6, IO = 7;
const WHOLE = 0, OPEN = 1, LOST = 2;
const KINDS = ["runs", "waits for a CPU", "sleeps", "sleeps, uninterruptible", "interrupt",
	       "softirq", "system call", "request"];
const COLOURS = ["run", "ready", "sleep", "blocked", "irq", "softirq", "call", "io"];
const CAUSES = ["overwritten", "buffer full", "throttled", "nested", "too big"];
const AXIS = 26, LIST = 300, LINES = 200, SHORTEST = 100;

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
	trace.idle = trace.labels.indexOf("<idle>");
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

			listIn(slices, tid).push({ start, end: time, name });
		} else {
			plain.push({ start: time, end: time, name: text, cpu, tid });
		}
	}
	for (const list of slices.values())
		list.sort((a, b) => a.start - b.start);
	return { slices, plain };
}

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
		row("io", "disk " + trace.labels[label], 14, list, {});
	if (marks.plain.length)
		row("marks", "marks", 18, [], { marks: marks.plain });
	for (const tid of new Set([...states.keys(), ...calls.keys(), ...marks.slices.keys()]))
		busy.set(tid, busy.get(tid) || 0);
	for (const [tid] of [...busy].sort((a, b) => b[1] - a[1])) {
		row("thread", taskText(tid), 20, states.get(tid), { tid });
		if (calls.has(tid))
			row("calls", "calls", 13, calls.get(tid), { tid });
		if (marks.slices.has(tid))
			row("marks", "marks", 13, [], { tid, marks: marks.slices.get(tid) });
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

// ---- Drawing ----

let width = 0, height = 0, labels = 170, colour = {}, drawn = false;
const hues = new Map();

const xOf = ns => labels + (ns - view.from) * (width - labels) / (view.to - view.from);
const nsOf = x => view.from + (x - labels) * (view.to - view.from) / (width - labels);

function readColours() {
	const style = getComputedStyle(document.documentElement);

	for (const name of ["paper", "ink", "faint", "line", "grid", "stripe", "chosen", "accent",
			    "lost", "lost-back", "light", "on", "mark", ...COLOURS])
		colour[name] = style.getPropertyValue("--" + name).trim();
	hues.clear();
}

// A task's own colour, the same in each trace. Red is for losses.
function taskColour(label) {
	let found = hues.get(label);

	if (!found) {
		let hash = 0;

		for (const c of trace.labels[label])
			hash = (hash * 31 + c.charCodeAt(0)) % 65521;
		found = `hsl(${25 + hash * 137.508 % 310} 52% ${colour.light})`;
		hues.set(label, found);
	}
	return found;
}

function sliceColour(row, i) {
	if (row.type === "cpu")
		return taskColour(spans.label[i]);
	return colour[COLOURS[spans.kind[i]]];
}

// Thin for what waits; the lower edge of a row stays free.
function sliceBox(row, kind) {
	if (row.type !== "thread" || kind === RUN)
		return [2, row.h - 4];
	return kind === READY ? [4, row.h - 8] : [row.h / 2 - 2, 4];
}

const fits = i => !view.wants || view.wants.tasks.has(spans.task[i]) ||
		  view.wants.labels.has(spans.label[i]);

function drawSlice(row, y, i, x, w) {
	const [dy, h] = sliceBox(row, spans.kind[i]);

	pen.globalAlpha = fits(i) ? 1 : .18;
	pen.fillStyle = sliceColour(row, i);
	pen.fillRect(x, y + dy, w, h);
	if (spans.fate[i] === LOST) {
		pen.fillStyle = colour.lost;
		pen.fillRect(x + w - 2, y + dy, 2, h);
	}
	if (w > 34 && row.h > 12 && (row.type !== "thread" || spans.kind[i] === RUN)) {
		const text = row.type === "cpu" ? taskText(spans.tid[i]) :
			     row.type === "thread" ? cpuText(spans.cpu[i]) :
			     trace.labels[spans.label[i]];

		pen.fillStyle = colour.on;
		clipped(text, x + 3, y + dy + h / 2, w - 6);
	}
	pen.globalAlpha = 1;
	if (i === view.slice) {
		pen.strokeStyle = colour.ink;
		pen.lineWidth = 2;
		pen.strokeRect(x, y + dy, w, h);
	}
}

function clipped(text, x, y, room) {
	if (pen.measureText(text).width > room) {
		const each = pen.measureText("n").width;

		text = text.slice(0, Math.max(0, Math.floor(room / each) - 1)) + "\u2026";
		if (room < 3 * each)
			return;
	}
	pen.fillText(text, x, y);
}

// No more than one slice for each pixel: which is next is looked up.
function drawSlices(row, y) {
	const { list } = row;

	for (let k = firstOf(row, view.from); k < list.length;) {
		const i = list[k], x = Math.max(labels, xOf(spans.start[i]));

		if (spans.start[i] > view.to)
			break;
		const end = Math.min(width, xOf(spans.end[i]));
		const w = Math.max(1, end - x);

		if (end >= labels)
			drawSlice(row, y, i, x, w);
		k = w > 1 ? k + 1 : Math.max(k + 1, firstOf(row, nsOf(Math.floor(x) + 1)));
	}
}

function drawMarks(row, y) {
	let free = 0;

	for (const mark of row.marks) {
		if (mark.end < view.from || mark.start > view.to)
			continue;
		const x = Math.max(labels, xOf(mark.start)), end = Math.min(width, xOf(mark.end));

		pen.fillStyle = colour.mark;
		pen.fillRect(x, y + 2, Math.max(2, end - x), row.h - 4);
		if (mark.end > mark.start && end - x > 30) {
			pen.fillStyle = colour.paper;
			clipped(mark.name, x + 3, y + row.h / 2, end - x - 6);
		} else if (mark.end === mark.start && x > free) {
			pen.fillStyle = colour.ink;
			clipped(mark.name, x + 5, y + row.h / 2, 160);
			free = x + 5 + Math.min(160, pen.measureText(mark.name).width) + 6;
		}
	}
}

// Where records of a CPU are missing.
function drawLosses(row, y) {
	for (const [cpu, since, until] of trace.losses) {
		if (cpu !== row.cpu || until < view.from || since > view.to)
			continue;
		const x = Math.max(labels, xOf(since)), end = Math.min(width, xOf(until));
		const w = Math.max(3, end - x);

		pen.fillStyle = colour["lost-back"];
		pen.fillRect(x, y, w, row.h);
		pen.fillStyle = colour.lost;
		pen.fillRect(x, y, w, 3);
		pen.fillRect(x, 0, w, 4);
	}
}

function drawAxis() {
	const span = view.to - view.from;
	const rough = span / Math.max(2, (width - labels) / 130);
	const ten = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map(n => n * ten).find(n => n >= rough);
	const digits = Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(step) + 1e-9)));
	const zero = trace.base[1] % step;

	pen.fillStyle = colour.paper;
	pen.fillRect(0, 0, width, AXIS);
	for (let t = Math.ceil((view.from + zero) / step) * step - zero; t <= view.to; t += step) {
		const x = Math.round(xOf(t));

		if (x < labels)
			continue;
		pen.fillStyle = colour.line;
		pen.fillRect(x, AXIS - 6, 1, 6);
		pen.fillStyle = colour.grid;
		pen.fillRect(x, AXIS, 1, height);
		pen.fillStyle = colour.faint;
		pen.fillText(timeText(t, digits) + " s", x + 4, AXIS / 2);
	}
	pen.fillStyle = colour.line;
	pen.fillRect(0, AXIS - 1, width, 1);
}

function drawName(row, y) {
	const inner = row.type === "irq" || row.type === "calls" || (row.type === "marks" && row.tid);

	pen.fillStyle = row === view.row ? colour.chosen : colour.paper;
	pen.fillRect(0, y, labels - 1, row.h);
	pen.fillStyle = inner ? colour.faint : colour.ink;
	pen.font = (inner ? "10px" : row.type === "cpu" ? "600 12px" : "12px") +
		   " system-ui, sans-serif";
	clipped(row.name, inner ? 24 : 12, y + row.h / 2, labels - (inner ? 30 : 18));
	pen.font = "11px system-ui, sans-serif";
}

function drawRows() {
	let y = AXIS - $("scroll").scrollTop;

	for (const row of rows) {
		row.y = y;
		if (y + row.h > AXIS && y < height) {
			if (row === view.row) {
				pen.fillStyle = colour.chosen;
				pen.fillRect(labels, y, width, row.h);
			}
			pen.fillStyle = colour.grid;
			pen.fillRect(0, y + row.h - 1, width, 1);
			if (row.marks)
				drawMarks(row, y);
			else
				drawSlices(row, y);
			if (row.type === "cpu")
				drawLosses(row, y);
			drawName(row, y);
		}
		y += row.h;
	}
}

function draw() {
	drawn = false;
	pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
	pen.textBaseline = "middle";
	pen.font = "11px system-ui, sans-serif";
	pen.fillStyle = colour.paper;
	pen.fillRect(0, 0, width, height);
	drawAxis();
	pen.save();
	pen.beginPath();
	pen.rect(0, AXIS, width, height);
	pen.clip();
	drawRows();
	pen.restore();
	pen.fillStyle = colour.line;
	pen.fillRect(labels - 1, 0, 1, height);
	if (drag?.zoom) {
		pen.fillStyle = colour.accent + "33";
		pen.fillRect(drag.x, AXIS, drag.now - drag.x, height);
	}
}

function redraw() {
	if (!drawn)
		requestAnimationFrame(draw);
	drawn = true;
}

function resize() {
	const box = $("scroll");

	width = box.clientWidth;
	height = box.clientHeight;
	labels = Math.min(180, Math.max(90, width / 6));
	canvas.width = width * devicePixelRatio;
	canvas.height = height * devicePixelRatio;
	canvas.style.width = width + "px";
	canvas.style.height = height + "px";
	$("tall").style.height = AXIS + rows.reduce((sum, row) => sum + row.h, 0) + "px";
	redraw();
}

// ---- The range ----

let later = 0;

function show(from, to) {
	const whole = trace.end - trace.first;
	const span = Math.min(Math.max(to - from, Math.min(SHORTEST, whole)), whole || 1);

	from = Math.max(trace.first, Math.min(from, trace.first + whole - span));
	view.from = from;
	view.to = from + span;
	redraw();
	clearTimeout(later);
	later = setTimeout(settle, 120);
}

// When the range has stayed for a while: tables, and the address.
function settle() {
	const whole = view.from === trace.first && view.to >= trace.end;
	const hash = `#${timeText(view.from)}-${timeText(view.to)}`;

	clearTimeout(later);
	later = 0;
	history.replaceState(null, "", whole ? location.pathname + location.search : hash);
	fillTables();
	document.documentElement.dataset.ready = `${view.from}-${view.to}`;
}

function zoom(factor, at = (view.from + view.to) / 2) {
	show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

function pan(part) {
	const by = (view.to - view.from) * part;
	const whole = view.to - view.from;
	const from = Math.max(trace.first, Math.min(view.from + by, trace.end - whole));

	show(from, from + whole);
}

// Makes sure that something can be seen, and its row.
function showSlice(start, end, row) {
	const span = view.to - view.from;

	if (end - start > span)
		show(start - (end - start) * .1, end + (end - start) * .1);
	else if (start < view.from || end > view.to)
		show((start + end - span) / 2, (start + end + span) / 2);
	if (row)
		scrollTo(row);
}

function scrollTo(row) {
	const box = $("scroll");
	let top = 0;

	for (const other of rows) {
		if (other === row)
			break;
		top += other.h;
	}
	if (top < box.scrollTop)
		box.scrollTop = top;
	else if (top + row.h > box.scrollTop + height - AXIS)
		box.scrollTop = top + row.h - height + AXIS;
}

function fromHash() {
	const match = /^#([\d.]+)-([\d.]+)$/.exec(location.hash);
	const from = match ? timeOf(match[1]) : NaN, to = match ? timeOf(match[2]) : NaN;

	if (to > from)
		show(from, to);
	else if (!location.hash)
		show(trace.first, trace.end);
	settle();
}

// ---- Tables: the same figures as those of etch top, latency, syscalls, irqs and block ----

function lengthsOf(map, label) {
	return map.get(label) || map.set(label, { list: [], sum: 0 }).get(label);
}

function sumUp() {
	const { from, to } = view;
	const sums = { tasks: new Map(), calls: new Map(), irqs: new Map(), io: new Map(),
		       waits: [], unknown: 0, open: 0 };
	const task = label => sums.tasks.get(label) ||
		sums.tasks.set(label, { run: 0, switches: 0, worst: -1 }).get(label);

	for (let i = 0; i < spans.nr; i++) {
		const kind = spans.kind[i], start = spans.start[i], end = spans.end[i];

		if (end < from || start > to)
			continue;
		if (kind === RUN) {
			const row = task(spans.label[i]);

			row.run += Math.min(end, to) - Math.max(start, from);
			row.switches += spans.fate[i] === WHOLE && end <= to;
			continue;
		}
		sums.unknown += spans.fate[i] === LOST;
		if (spans.fate[i] !== WHOLE || end > to)
			continue;
		if (kind === READY) {
			const row = task(spans.task[i]);

			row.worst = Math.max(row.worst, end - start);
			if (spans.woken[i])
				sums.waits.push(end - start);
		} else if (kind >= IRQ) {
			const map = kind === CALL ? sums.calls : kind === IO ? sums.io : sums.irqs;
			const row = lengthsOf(map, spans.label[i]);

			row.list.push(end - start);
			row.sum += end - start;
		}
	}
	return sums;
}

const percentile = (list, percent) => list[Math.floor(list.length * percent / 100)];

// A table of texts; cells of the first column are buttons if there is an action for them.
function fillTable(id, heads, lines, action) {
	const table = $(id), head = document.createElement("thead");
	const body = document.createElement("tbody"), top = head.insertRow();

	table.parentElement.hidden = !lines.length;
	for (const text of heads)
		top.append(Object.assign(document.createElement("th"), { textContent: text,
									 scope: "col" }));
	for (const [at, line] of lines.slice(0, LINES).entries()) {
		const row = body.insertRow();

		line.forEach((text, column) => {
			const cell = row.insertCell();

			if (column || !action) {
				cell.textContent = text;
				return;
			}
			const button = Object.assign(document.createElement("button"),
						     { type: "button", textContent: text });

			button.onclick = () => action(at, text);
			cell.append(button);
		});
		if (id === "losses")
			row.className = "lost";
	}
	if (lines.length > LINES)
		body.insertRow().insertCell().textContent = `and ${lines.length - LINES} more`;
	table.replaceChildren(head, body);
}

function fillLengths(id, head, map) {
	const lines = [...map].sort((a, b) => b[1].sum - a[1].sum).map(([label, row]) => {
		const list = Float64Array.from(row.list).sort();

		return [trace.labels[label], list.length, lengthText(row.sum),
			lengthText(percentile(list, 50)), lengthText(percentile(list, 99)),
			lengthText(list[list.length - 1])];
	});

	fillTable(id, [head, "N", "Sum", "p50", "p99", "Worst"], lines, (at, text) => find(text));
}

function fillTasks(tasks) {
	const span = view.to - view.from;
	const lines = [...tasks].sort((a, b) => b[1].run - a[1].run).map(([label, row]) =>
		[trace.labels[label], lengthText(row.run), (100 * row.run / span).toFixed(1) + "%",
		 row.switches, row.worst < 0 ? "-" : lengthText(row.worst)]);

	fillTable("tasks", ["Task", "Run", "CPU", "Switches", "Worst wait"], lines,
		  (at, text) => find(text));
}

// How many records of each event there are, and the records if these are few.
function fillRecords() {
	const first = firstRecord(view.from), counts = new Map(), lines = [];
	let i;

	for (i = first; i < records.nr && records.time[i] <= view.to; i++)
		counts.set(records.event[i], (counts.get(records.event[i]) || 0) + 1);
	fillTable("events", ["Event", "N"], [...counts].sort((a, b) => b[1] - a[1])
		.map(([event, n]) => [trace.events[event], n]), (at, text) => find(text));
	if (i - first <= LIST)
		for (let k = first; k < i; k++)
			lines.push([timeText(records.time[k]), trace.cpus[records.cpu[k]],
				    taskText(records.tid[k]), trace.events[records.event[k]]]);
	fillTable("records", ["Time", "CPU", "Task", "Event"], lines);
	return i - first;
}

function causesOf(loss) {
	return CAUSES.map((cause, k) => loss[4 + k] ? `${loss[4 + k]} ${cause}` : "")
		.filter(text => text).join(", ");
}

function fillTables() {
	const sums = sumUp(), waits = Float64Array.from(sums.waits).sort();
	const losses = trace.losses.filter(loss => loss[2] >= view.from && loss[1] <= view.to);
	const lost = losses.reduce((sum, loss) => sum + loss[3], 0), nr = fillRecords();

	fillTasks(sums.tasks);
	fillLengths("calls", "Call", sums.calls);
	fillLengths("irqs", "Interrupt", sums.irqs);
	fillLengths("io", "Device, request", sums.io);
	fillTable("losses", ["Between", "And", "CPU", "Lost", "Why"], losses.map(loss =>
		[timeText(loss[1], 6), timeText(loss[2], 6), trace.cpus[loss[0]], loss[3],
		 causesOf(loss)]), at => showSlice(losses[at][1], losses[at][2], null));
	$("range").textContent = `${timeText(view.from)} to ${timeText(view.to)} s: ` +
		`${lengthText(view.to - view.from)}, ${nr} records, ${lost} lost` +
		(nr > LIST ? `. Zoom in to ${LIST} to list them.` : ".");
	$("waits").textContent = (waits.length ? `From woken to running: ${waits.length}, ` +
		`p50 ${lengthText(percentile(waits, 50))}, p99 ${lengthText(percentile(waits, 99))},` +
		` worst ${lengthText(waits[waits.length - 1])}. ` : "") +
		(sums.unknown ? `Not counted: ${sums.unknown} whose ends are unknown, ` +
		 "because records were lost." : "");
}

// ---- Selecting ----

function sliceAt(x, y) {
	const row = y < AXIS ? undefined : rows.find(each => y >= each.y && y < each.y + each.h);
	const ns = nsOf(x), near = (view.to - view.from) / (width - labels);
	let found = -1;

	for (let k = row?.list.length ? firstOf(row, ns - near) : Infinity;
	     k < row?.list.length; k++) {
		const i = row.list[k];

		if (spans.start[i] > ns + near)
			break;
		// Of those within each other, the innermost.
		if (spans.end[i] >= ns - near)
			found = i;
	}
	return { row, found, ns, mark: row?.marks?.find(mark => mark.end >= ns - 3 * near &&
						       mark.start <= ns + 3 * near) };
}

function linesOf(i) {
	const lost = spans.fate[i] === LOST;
	const lines = [["What", sliceText(i)],
		       ["Task", spans.tid[i] ? `${trace.labels[spans.task[i]]}-${spans.tid[i]}` : "<idle>"],
		       ["From", timeText(spans.start[i])],
		       ["To", lost ? `unknown: records were lost from ${timeText(spans.end[i])} on` :
			spans.fate[i] === OPEN ? "it had not ended" : timeText(spans.end[i])],
		       ["Length", (spans.fate[i] ? "at least " : "") +
			lengthText(spans.end[i] - spans.start[i])]];

	if (spans.cpu[i] >= 0)
		lines.push(["CPU", String(trace.cpus[spans.cpu[i]])]);
	if (spans.bytes.has(i))
		lines.push(["Bytes", String(spans.bytes.get(i))]);
	return lines;
}

function select(row, i) {
	const list = document.createElement("dl");

	view.row = row;
	view.slice = i;
	for (const [name, text] of i < 0 ? [["Row", row?.name || "none"]] : linesOf(i)) {
		list.append(Object.assign(document.createElement("dt"), { textContent: name }),
			    Object.assign(document.createElement("dd"), { textContent: text }));
	}
	$("selected").replaceChildren(list);
	redraw();
}

function chooseRow(by) {
	const at = rows.indexOf(view.row);
	const row = rows[Math.max(0, Math.min(rows.length - 1, at + by))];

	if (row) {
		select(row, -1);
		scrollTo(row);
	}
}

function chooseSlice(by) {
	const row = view.row || rows.find(each => each.list.length);

	if (!row?.list.length)
		return;
	let at = row.list.indexOf(view.slice);

	at = at < 0 ? firstOf(row, view.from) : at + by;
	at = Math.max(0, Math.min(row.list.length - 1, at));
	select(row, row.list[at]);
	showSlice(spans.start[view.slice], spans.end[view.slice], row);
}

function zoomToSlice() {
	if (view.slice < 0)
		return;
	const start = spans.start[view.slice], length = spans.end[view.slice] - start;

	show(start - length * .1 - 50, start + length * 1.1 + 50);
}

function nextLoss() {
	const sorted = [...trace.losses].sort((a, b) => a[1] - b[1]);
	const middle = (view.from + view.to) / 2;
	const loss = sorted.find(each => (each[1] + each[2]) / 2 > middle + 1) || sorted[0];

	if (!loss)
		return;
	const at = (loss[1] + loss[2]) / 2, span = Math.max(view.to - view.from, loss[2] - loss[1]);

	scrollTo(rows.find(row => row.cpu === loss[0]) || rows[0]);
	show(at - span / 2, at + span / 2);
}

// ---- Searching ----

// Where a query is found: records whose event or thread has it, slices whose label has it.
function search(query) {
	const lower = query.toLowerCase(), has = text => text.toLowerCase().includes(lower);
	const labelSet = new Set(), events = new Set(), found = [];

	trace.labels.forEach((text, i) => has(text) && labelSet.add(i));
	trace.events.forEach((text, i) => has(text) && events.add(i));
	for (let i = 0; i < spans.nr; i++)
		if (spans.kind[i] === RUN || spans.kind[i] >= IRQ)
			if (labelSet.has(spans.label[i]))
				found.push([spans.start[i], spans.end[i], i]);
	for (let i = 0; events.size && i < records.nr; i++)
		if (events.has(records.event[i]))
			found.push([records.time[i], records.time[i], -1]);
	for (const [time, , , text] of trace.marks)
		if (has(text))
			found.push([time, time, -1]);
	found.sort((a, b) => a[0] - b[0]);
	view.wants = { tasks: labelSet, labels: labelSet };
	rows = allRows.filter(row => row.tid === undefined || has(taskText(row.tid)));
	if (rows.every(row => row.tid === undefined))
		rows = allRows;
	return found;
}

function find(query) {
	$("query").value = view.query = query;
	view.at = -1;
	if (query) {
		view.found = search(query);
	} else {
		view.found = [];
		view.wants = null;
		rows = allRows;
	}
	sayFound();
	resize();
}

function sayFound() {
	const nr = view.found.length;

	$("found").textContent = !view.query ? "" : view.at < 0 ? `${nr} found` :
				 `${view.at + 1} of ${nr}`;
	$("next").disabled = $("previous").disabled = !nr;
}

function nextFound(by) {
	const nr = view.found.length;

	if (!nr)
		return;
	if (view.at < 0) {
		const first = view.found.findIndex(each => each[0] >= view.from);

		view.at = by > 0 ? Math.max(0, first) : (first < 0 ? nr : first) - 1;
	} else {
		view.at += by;
	}
	view.at = (view.at + nr) % nr;
	const [start, end, i] = view.found[view.at];
	const row = i < 0 ? null : rows.find(each => each.list.includes(i));

	if (row)
		select(row, i);
	if (view.to - view.from > 1e9)
		show(start - 1e7, Math.max(end, start + 1e7) + 1e7);
	showSlice(start, end, row);
	sayFound();
}

// ---- Mouse and keys ----

let drag = null;

const KEYS = {
	"+": () => zoom(.6), "=": () => zoom(.6), "w": () => zoom(.6),
	"-": () => zoom(1 / .6), "s": () => zoom(1 / .6),
	"ArrowLeft": () => pan(-.2), "a": () => pan(-.2),
	"ArrowRight": () => pan(.2), "d": () => pan(.2),
	"ArrowUp": () => chooseRow(-1), "ArrowDown": () => chooseRow(1),
	"PageUp": () => $("scroll").scrollBy(0, -height), "PageDown": () => $("scroll").scrollBy(0, height),
	"Home": () => show(trace.first, trace.end),
	"n": () => chooseSlice(1), "p": () => chooseSlice(-1), "Enter": zoomToSlice,
	"l": nextLoss, "/": () => $("query").focus(), "?": () => $("help").showModal(),
	"Escape": () => find(""),
};

function onKey(event) {
	const typing = event.target.matches("input, button, summary, dialog *");
	const key = KEYS[event.key];

	if (event.ctrlKey || event.metaKey || event.altKey || $("help").open)
		return;
	if (event.target === $("query") && event.key === "Escape") {
		find("");
		canvas.focus();
	} else if (key && (!typing || (event.target.matches("button") && event.key !== "Enter"))) {
		event.preventDefault();
		key();
	}
}

function onWheel(event) {
	const box = canvas.getBoundingClientRect(), x = event.clientX - box.left;
	const lines = event.deltaMode ? 30 : 1;

	if (x < labels)
		return;
	event.preventDefault();
	if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
		pan((event.deltaX || event.deltaY) * lines / (width - labels));
	else
		zoom(1.0016 ** (event.deltaY * lines), nsOf(x));
}

function onDown(event) {
	if (event.button || event.offsetX < labels)
		return select(sliceAt(labels, event.offsetY).row || null, -1);
	drag = { x: event.offsetX, y: event.offsetY, now: event.offsetX, from: view.from,
		 to: view.to, top: $("scroll").scrollTop, zoom: event.shiftKey, moved: false };
	canvas.setPointerCapture(event.pointerId);
}

function onMove(event) {
	const x = event.offsetX, y = event.offsetY;

	if (!drag)
		return showTip(event);
	drag.now = x;
	drag.moved ||= Math.abs(x - drag.x) + Math.abs(y - drag.y) > 4;
	if (drag.zoom)
		return redraw();
	if (!drag.moved)
		return;
	const by = (drag.x - x) * (drag.to - drag.from) / (width - labels);
	const from = Math.max(trace.first, Math.min(drag.from + by, trace.end - drag.to + drag.from));

	$("scroll").scrollTop = drag.top + drag.y - y;
	show(from, from + drag.to - drag.from);
}

function onUp(event) {
	const done = drag;

	drag = null;
	if (!done)
		return;
	if (done.zoom && Math.abs(done.now - done.x) > 4)
		return show(nsOf(Math.min(done.x, done.now)), nsOf(Math.max(done.x, done.now)));
	if (!done.moved) {
		const { row, found } = sliceAt(event.offsetX, event.offsetY);

		select(row || null, found);
	}
	redraw();
}

function showTip(event) {
	const { row, found, ns, mark } = sliceAt(event.offsetX, event.offsetY);
	const loss = row?.type === "cpu" && trace.losses.find(each => each[0] === row.cpu &&
		each[1] <= ns && each[2] >= ns);
	const tip = $("tip"), on = event.offsetX >= labels && (found >= 0 || mark || loss);

	tip.hidden = !on;
	if (!on)
		return;
	if (loss)
		tip.textContent = `${loss[3]} records lost: ${causesOf(loss)}\n` +
			`from ${timeText(loss[1], 6)} to ${timeText(loss[2], 6)}`;
	else if (mark)
		tip.textContent = mark.name + "\nat " + timeText(mark.start);
	else
		tip.textContent = linesOf(found).map(([name, text]) => `${name.padEnd(7)} ${text}`)
			.join("\n");
	tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 6) + "px";
	tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 6) + "px";
}

// ---- The beginning ----

function about() {
	const wall = trace.wall === undefined ? "" : new Date(trace.wall).toISOString().slice(0, 19)
		.replace("T", " ") + " UTC";
	const parts = [trace.hostname, `${trace.sysname} ${trace.kernel_release}`,
		       trace.architecture, wall, `${trace.cpus.length} CPU` +
		       (trace.cpus.length === 1 ? "" : "s"), `${records.nr} records`,
		       lengthText(trace.end - trace.first)];

	$("about").textContent = parts.filter(text => text.trim() && text !== "(none)").join(" \u00b7 ");
	$("lost").textContent = `${trace.lost} records lost`;
	$("lost").hidden = !trace.losses.length;
	document.title = `Etch: ${records.nr} records` +
		(trace.hostname && trace.hostname !== "(none)" ? " of " + trace.hostname : "");
}

function legend() {
	const lines = [...KINDS.map((text, i) => [COLOURS[i], text]), ["mark", "mark"],
		       ["lost", "records lost"]];

	$("legend").replaceChildren(...lines.map(([name, text]) => {
		const item = document.createElement("li"), box = document.createElement("i");

		box.style.background = `var(--${name})`;
		item.append(box, text);
		return item;
	}));
}

function listen() {
	canvas.addEventListener("wheel", onWheel, { passive: false });
	canvas.addEventListener("pointerdown", onDown);
	canvas.addEventListener("pointermove", onMove);
	canvas.addEventListener("pointerup", onUp);
	canvas.addEventListener("pointerleave", () => $("tip").hidden = true);
	canvas.addEventListener("dblclick", zoomToSlice);
	canvas.addEventListener("focus", redraw);
	$("scroll").addEventListener("scroll", redraw);
	document.addEventListener("keydown", onKey);
	$("query").addEventListener("input", event => find(event.target.value));
	$("query").addEventListener("keydown", event => {
		if (event.key === "Enter" && event.shiftKey) {
			event.preventDefault();
			nextFound(-1);
		}
	});
	$("find").addEventListener("submit", event => {
		event.preventDefault();
		nextFound(1);
	});
	$("previous").addEventListener("click", () => nextFound(-1));
	for (const button of document.querySelectorAll("[data-key]"))
		button.addEventListener("click", () => KEYS[button.dataset.key]());
	addEventListener("hashchange", fromHash);
	new ResizeObserver(resize).observe($("scroll"));
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
		readColours();
		redraw();
	});
}

async function begin() {
	try {
		trace = await readTrace();
	} catch (error) {
		$("about").textContent = `This page's data cannot be read: ${error.message}. ` +
			"Was the file cut off, or is the browser older than 2023?";
		return;
	}
	({ records, spans } = trace);
	makeRows();
	readColours();
	about();
	legend();
	sayFound();
	listen();
	resize();
	view.to = trace.end;
	if (location.hash)
		fromHash();
	else
		show(trace.first, trace.end);
	settle();
	canvas.focus({ preventScroll: true });
}

begin();
