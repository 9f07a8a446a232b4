// SPDX-License-Identifier: GPL-2.0
// served.mjs CHROMIUM ADDRESS: opens the address that etch view --perfetto prints, and says as JSON
// what a page got there. The network is not asked: the page is a stand-in of the same origin and
// with the same policy as ui.perfetto.dev, and does what that page does with such an address. Before
// it, a page of another origin tries. served.py runs this, with playwright-core in PLAYWRIGHT.
import { createRequire } from "node:module";

const { chromium } = createRequire(process.env.PLAYWRIGHT + "/")("playwright-core");
const [,, program, address] = process.argv;
const browser = await chromium.launch({ executablePath: program, args: ["--no-sandbox"] });

// Of index.html there: what a page may connect to.
const POLICY = "default-src 'self' 'unsafe-inline'; connect-src 'self' http://127.0.0.1:9001 " +
	"ws://127.0.0.1:9001 ws://127.0.0.1:8037 https://*.googleapis.com blob: data:;";

// As the page does: it asks for a trace_processor first, then streams the file.
const SCRIPT = `
async function ask(work) {
	try {
		return await work();
	} catch (error) {
		return { error: error.name };
	}
}
async function status() {
	const answer = await fetch("http://127.0.0.1:9001/status",
				   { method: "post", cache: "no-cache" });

	return { status: answer.status };
}
async function stream(url) {
	const answer = await fetch(url), reader = answer.body.getReader(), parts = [];

	for (;;) {
		const { done, value } = await reader.read();

		if (done)
			break;
		parts.push(value);
	}
	const all = new Uint8Array(await new Blob(parts).arrayBuffer());
	const hash = await crypto.subtle.digest("SHA-256", all);

	return { status: answer.status, bytes: all.length,
		 hash: [...new Uint8Array(hash)].map(n => n.toString(16).padStart(2, "0")).join("") };
}
window.job = (async () => {
	const url = new URLSearchParams(location.hash.split("?")[1]).get("url");

	return { origin: location.origin, status: await ask(status),
			 other: await ask(() => stream(url.replace(/[^/]*\\/[^/]*$/, "guess/trace.pftrace"))),
			 trace: await ask(() => stream(url)) };
})();
`;

// Chromium asks users whether a page may connect to their own machine; they say yes. It has had several
// names for that.
async function allow(context, page, origin) {
	const session = await context.newCDPSession(page);
	const { browserContextId } = (await session.send("Target.getTargetInfo")).targetInfo;

	for (const name of ["localNetworkAccess", "loopbackNetwork"])
		await session.send("Browser.grantPermissions", { origin, browserContextId,
			permissions: [name] }).catch(() => {});
}

async function visit(where) {
	const context = await browser.newContext(), page = await context.newPage();
	const origin = new URL(where).origin, complaints = [];

	page.on("console", message => complaints.push(message.text()));
	await allow(context, page, origin);
	await page.route(origin + "/**", route => route.fulfill({
		contentType: "text/html", headers: { "Content-Security-Policy": POLICY },
		body: "<!doctype html><title>A stand-in</title><script>" + SCRIPT + "</script>" }));
	await page.goto(where);
	return { ...await page.evaluate(() => window.job), complaints };
}

const foreign = await visit(address.replace("https://ui.perfetto.dev", "https://example.org"));
const right = await visit(address);

await browser.close();
console.log(JSON.stringify({ foreign, right }));
