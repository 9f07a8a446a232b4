// SPDX-License-Identifier: GPL-2.0
// What users do: select, search, zoom.

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
			mark.start <= ns + 3 * near && (mark.depth === undefined ||
			mark.depth === Math.floor((y - row.y) / LANE))) };
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

// Where a query is found: [begin, end, slice] of slices whose name has it, and
// [time, time, -1, CPU] of records whose event, or marks whose text, has it.
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
			found.push([records.time[i], records.time[i], -1, records.cpu[i]]);
	for (const [time, cpu, , text] of trace.marks)
		if (has(text))
			found.push([time, time, -1, cpu]);
	found.sort((a, b) => a[0] - b[0]);
	view.wants = labelSet.size ? labelSet : null;
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
	"PageUp": () => $("scroll").scrollBy(0, -height),
	"PageDown": () => $("scroll").scrollBy(0, height),
	"Home": () => show(trace.first, trace.end),
	"n": () => chooseSlice(1), "p": () => chooseSlice(-1), "Enter": zoomToSlice,
	"l": nextLoss, "/": () => $("query").focus(), "?": () => $("help").showModal(),
	"Escape": () => find(""),
};

function onKey(event) {
	const typing = event.target.matches("input, button, dialog *");
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
	$("lost").textContent = trace.lost ? `${trace.lost} records lost` : "records are missing";
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
