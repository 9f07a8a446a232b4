// SPDX-License-Identifier: GPL-2.0
// view.mjs CHROMIUM PAGE LOSSY SHOTS: what Chromium makes of two pages of etch view, as JSON.
// view.py runs it, with playwright-core in NODE_PATH's place, and judges.
import { createRequire } from "node:module";
import path from "node:path";

const { chromium } = createRequire(process.env.PLAYWRIGHT + "/")("playwright-core");
const [,, program, whole, lossy, shots] = process.argv;
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });
const facts = { requests: [], errors: [] };

const ready = page => page.waitForFunction(() => document.documentElement.dataset.ready && !later,
					   null, { timeout: 60000 });
const range = page => page.evaluate(() => [view.from, view.to]);
const settled = async page => {
	await page.waitForTimeout(200);
	await ready(page);
	return range(page);
};

async function open(file, hash = "", colorScheme = "light") {
	const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme });

	page.on("request", request => facts.requests.push(request.url().slice(0, 200)));
	page.on("pageerror", error => facts.errors.push(error.message));
	// It warns of what this test itself does to see colours.
	page.on("console", message => /getImageData/.test(message.text()) ||
		facts.errors.push(message.text()));
	await page.goto("file://" + path.resolve(file) + hash);
	await ready(page);
	return page;
}

// {id: [[cell, ...], ...]} of the tables.
const tables = page => page.evaluate(() => Object.fromEntries(
	[...document.querySelectorAll("table")].map(table => [table.id,
		[...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent))])));

async function zooming(page) {
	const steps = { whole: await range(page) };
	const box = await page.locator("#canvas").boundingBox();

	await page.mouse.move(box.x + box.width * .6, box.y + 60);
	await page.mouse.wheel(0, -600);
	steps.wheel = await settled(page);
	await page.keyboard.press("+");
	steps.plus = await settled(page);
	await page.keyboard.press("ArrowRight");
	steps.right = await settled(page);
	await page.keyboard.press("-");
	steps.minus = await settled(page);
	steps.hash = await page.evaluate(() => location.hash);
	await page.mouse.move(box.x + box.width * .5, box.y + 60);
	await page.mouse.down();
	await page.mouse.move(box.x + box.width * .3, box.y + 60, { steps: 4 });
	await page.mouse.up();
	steps.drag = await settled(page);
	await page.keyboard.press("Home");
	steps.home = await settled(page);
	return steps;
}

async function choosing(page) {
	const steps = {};

	await page.focus("#canvas");
	await page.keyboard.press("ArrowDown");
	steps.row = await page.textContent("#selected");
	await page.keyboard.press("n");
	steps.slice = await page.textContent("#selected");
	await page.keyboard.press("Enter");
	await settled(page);
	steps.zoomed = await page.evaluate(() => [view.from, view.to, spans.start[view.slice],
						  spans.end[view.slice]]);
	await page.keyboard.press("Home");
	await settled(page);
	return steps;
}

async function searching(page, text) {
	const steps = {};

	await page.keyboard.press("/");
	await page.keyboard.type(text);
	steps.found = await page.textContent("#found");
	await page.keyboard.press("Enter");
	steps.range = await settled(page);
	steps.first = await page.textContent("#found");
	steps.at = await page.evaluate(() => view.found[view.at].slice(0, 2));
	await page.keyboard.press("Enter");
	await settled(page);
	steps.second = await page.textContent("#found");
	await page.screenshot({ path: shots + "/search.png" });
	await page.keyboard.press("Escape");
	steps.cleared = await page.textContent("#found");
	return steps;
}

// Colours of the topmost points of each CPU's row.
const reds = page => page.evaluate(() => {
	const wanted = colour.lost, point = document.createElement("canvas").getContext("2d");
	let count = 0;

	point.fillStyle = wanted;
	point.fillRect(0, 0, 1, 1);
	const [r, g, b] = point.getImageData(0, 0, 1, 1).data;

	for (const row of rows.filter(each => each.type === "cpu")) {
		const data = pen.getImageData(labels * devicePixelRatio, (row.y + 1) * devicePixelRatio,
					      (width - labels) * devicePixelRatio, 1).data;

		for (let i = 0; i < data.length; i += 4)
			count += data[i] === r && data[i + 1] === g && data[i + 2] === b;
	}
	return count;
});

const begun = Date.now();
let page = await open(whole);

facts.opened = Date.now() - begun;
facts.title = await page.title();
facts.range = await page.textContent("#range");
facts.tables = await tables(page);
facts.headings = await page.$$eval("h1, h2", all => all.map(each => each.textContent));
facts.red = await reds(page);
await page.screenshot({ path: shots + "/whole.png" });
facts.zoom = await zooming(page);
facts.choose = await choosing(page);
facts.search = await searching(page, process.env.SEARCH);
facts.third = await page.evaluate(() => [records.nr / 3 | 0, records.nr * 2 / 3 | 0]
	.map(i => timeText(records.time[i])));
await page.close();

page = await open(whole, `#${facts.third[0]}-${facts.third[1]}`);
facts.linked = await page.textContent("#range");
facts.part = await tables(page);
await page.close();

page = await open(lossy, "", "dark");
facts.lost = await page.textContent("#lost");
facts.losses = (await tables(page)).losses;
facts.lossyTables = await tables(page);
facts.reds = await reds(page);
await page.screenshot({ path: shots + "/lossy-dark.png" });
await page.keyboard.press("l");
await settled(page);
facts.atLoss = (await tables(page)).losses.length;
await browser.close();
console.log(JSON.stringify(facts));
