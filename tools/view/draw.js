// SPDX-License-Identifier: GPL-2.0
// The picture: rows of slices along one line of time.

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

const fits = i => !view.wants || view.wants.has(spans.task[i]) || view.wants.has(spans.label[i]);

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
		pen.font = (row.h > 16 ? "11px" : "10px") + " system-ui, sans-serif";
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
		if (mark.depth !== undefined) {
			const top = y + mark.depth * LANE;

			pen.fillRect(x, top + 1, Math.max(1, end - x), LANE - 2);
			pen.fillStyle = colour.paper;
			if (end - x > 24)
				clipped(mark.name, x + 3, top + LANE / 2, end - x - 6);
			continue;
		}
		pen.fillRect(x, y + 2, 2, row.h - 4);
		if (x > free) {
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

// Records that were searched for, as arrows below their CPU's row.
function drawFound(row, y) {
	let drawnAt = -1;

	for (const [k, [time, , slice, cpu]] of view.found.entries()) {
		const x = Math.round(xOf(time));

		if (slice >= 0 || cpu !== row.cpu || time < view.from || time > view.to ||
		    (x === drawnAt && k !== view.at))
			continue;
		drawnAt = x;
		pen.fillStyle = k === view.at ? colour.accent : colour.ink;
		if (k === view.at)
			pen.fillRect(x, AXIS, 1, height);
		pen.beginPath();
		pen.moveTo(x, y + row.h - 8);
		pen.lineTo(x - 4, y + row.h);
		pen.lineTo(x + 4, y + row.h);
		pen.fill();
	}
}

function drawAxis() {
	const span = view.to - view.from;
	const rough = span / Math.max(2, (width - labels) / 130);
	const ten = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map(n => n * ten).find(n => n >= rough);
	const digits = Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(step) + 1e-9)));
	const whole = step < 1e9 ? 0 : trace.base[0] % Math.round(step / 1e9);
	const zero = (whole * 1e9 + trace.base[1]) % step;

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
			if (row.type === "cpu") {
				drawLosses(row, y);
				drawFound(row, y);
			}
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
