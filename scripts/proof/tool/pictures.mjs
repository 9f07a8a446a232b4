// SPDX-License-Identifier: GPL-2.0
// pictures.mjs CHROMIUM SHOTS: pictures by Chromium, as pictures.py wants them. SHOTS is a list in JSON;
// what was on each is printed as another one. playwright-core is in PLAYWRIGHT.
//
//   { kind: "page", file, part: "FROM-TO", tid, at, picture }   a page of etch view, with the slice
//                                                   selected that the thread has at that time
//   { kind: "svg", file, left, width, height, picture }   so many points of an SVG from there on
import { createRequire } from "node:module";
import path from "node:path";

const { chromium } = createRequire(process.env.PLAYWRIGHT + "/")("playwright-core");
const [,, program, shots] = process.argv;
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });

const kinds = {
	async page(page, shot) {
		await page.waitForFunction(() => document.documentElement.dataset.ready && !later,
					   null, { timeout: 60000 });
		await page.evaluate(({ tid, at }) => {
			const row = rows.find(each => each.name.endsWith("-" + tid));
			const ns = view.from + (view.to - view.from) * at;

			select(row, row.list.find(i => spans.start[i] <= ns && spans.end[i] >= ns));
			scrollTo(row);
		}, shot);
		await page.waitForTimeout(200);
		return { range: await page.textContent("#range"),
			 selected: await page.$$eval("#selected dd", all =>
				all.map(each => each.textContent)) };
	},
	// Texts whose beginning is further to the left come along.
	async svg(page, shot) {
		return page.evaluate(({ left, width, height }) => {
			const svg = document.documentElement;

			svg.setAttribute("viewBox", `${left} 0 ${width} ${height}`);
			svg.setAttribute("width", width);
			svg.setAttribute("height", height);
			for (const each of svg.querySelectorAll("text[x]"))
				if (Number(each.getAttribute("x")) < left)
					each.setAttribute("x", left + 3);
			return { texts: [...svg.querySelectorAll("text")].map(each => each.textContent) };
		}, shot);
	},
};

const found = [];

for (const shot of JSON.parse(shots)) {
	const page = await browser.newPage({
		viewport: { width: shot.width || 1000, height: shot.height || 640 },
		colorScheme: "light" });
	const requests = [];

	page.on("request", request => requests.push(request.url()));
	await page.goto("file://" + path.resolve(shot.file) + (shot.part ? "#" + shot.part : ""));
	const facts = await kinds[shot.kind](page, shot);

	await page.screenshot({ path: shot.picture });
	await page.close();
	found.push({ ...facts, requests: requests.length });
}
await browser.close();
console.log(JSON.stringify(found));
