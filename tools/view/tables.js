// SPDX-License-Identifier: GPL-2.0
// The part that is shown: its tables, and its address.

// ---- The range ----

let later = 0;

function show(from, to) {
	const whole = trace.end - trace.first;
	const span = Math.min(Math.max(to - from, Math.min(SHORTEST, whole)), whole || 1);

	from = Math.max(trace.first, Math.min(from, trace.first + whole - span));
	view.from = from;
	view.to = from + span;
	$("tip").hidden = true;
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
	if (!loss[3])
		return "the file is cut off";
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
		 "because records are missing." : "");
}
