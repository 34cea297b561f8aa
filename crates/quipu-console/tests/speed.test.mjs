// How fast it is, printed. Only what would be broken, not what is slow, fails here: machines differ.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, visitor } from "./browser.mjs";
import { Server } from "./server.mjs";

/** Recorded in truth; a build for development takes its time. */
const RECORDED = Number(process.env.CONSOLE_UNITS ?? 400);
/** Listed by an answer that the test makes up, where fewer are recorded: what the browser has to do is the same. */
const LISTED = 100_000;
const AT_ONCE = 16;

/** @type {any} */
let browser;
/** @type {Server} */
let server;

before(async () => {
  server = await Server.start();
  await server.register("ana", "researcher");
  let next = 0;
  const work = async () => {
    while (next < RECORDED) {
      next += 1;
      await server.record("ana", `Measurement ${next}: the cord has ${next % 97} knots.`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.end();
});

test("first paint and transfer", async () => {
  // The first visit also warms the machine.
  for (const visit of ["first", "second"]) {
    const { page, context } = await visitor(browser);
    await page.goto(server.url);
    await page.locator(".figures .figure").first().waitFor();
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
    const sent = await page.evaluate(() => performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation")).reduce((all, entry) => all + /** @type {PerformanceResourceTiming} */ (entry).transferSize, 0));
    console.log(`${visit} visitor: first paint ${paint.toFixed(0)} ms, transferred ${(sent / 1024).toFixed(1)} KiB`);
    assert.ok(sent < 300 * 1024, "the console stays small");
    await context.close();
  }
});

/** Lets the page believe in many units. @param {any} page */
async function pretend(page) {
  await page.addInitScript((/** @type {number} */ total) => {
    const real = globalThis.fetch;
    const unit = (/** @type {number} */ number) => ({
      id: `mem-${number}`, mode: "committed", type: ["finding", "decision", "assumption"][number % 3], content: `Measurement ${number}: the cord has ${number % 97} knots and ends in a loop.`,
      intent: { purpose: "Count the knots" }, confidence: { score: (number % 100) / 100 }, relations: [], status: number % 5 ? "active" : "contested", epoch: number,
      source: { agent_id: "ana", agent_role: "researcher", session_id: null, timestamp: new Date(1.79e12 + number * 1000).toISOString() },
    });
    globalThis.fetch = async (input, options) => {
      const url = new URL(String(input), location.href);
      if (url.pathname !== "/v1/units") return real(input, options);
      const [skip, limit] = [Number(url.searchParams.get("skip")), Number(url.searchParams.get("limit"))];
      await new Promise((resolve) => setTimeout(resolve, 5));
      const units = Array.from({ length: Math.max(0, Math.min(limit, total - skip)) }, (_, index) => unit(skip + index));
      return new Response(JSON.stringify({ units, total }), { headers: { "Content-Type": "application/json" } });
    };
  }, LISTED);
}

test("frames while scrolling through a hundred thousand units", async () => {
  const { page } = await visitor(browser);
  if (RECORDED < LISTED) await pretend(page);
  await page.goto(`${server.url}/#/memory`);
  await page.getByRole("row").filter({ hasText: "Measurement" }).first().waitFor();
  for (const [how, pixels] of [["by the wheel, 4,000 pixels/s", 4000], ["dragged from the top to the bottom in 3 s", null]]) {
    const frames = await page.evaluate((/** @type {number | null} */ speed) => new Promise((resolve) => {
      const list = /** @type {HTMLElement} */ (document.querySelector(".virtual"));
      const begin = performance.now();
      let [drawn, longest, last] = [0, 0, begin];
      const step = (/** @type {number} */ now) => {
        drawn += 1;
        longest = Math.max(longest, now - last);
        last = now;
        list.scrollTop = ((now - begin) / 1000) * (speed ?? list.scrollHeight / 3);
        if (now < begin + 3000) requestAnimationFrame(step);
        else resolve({ rate: (drawn / (now - begin)) * 1000, longest, rows: document.querySelectorAll(".virtual .row").length });
      };
      requestAnimationFrame(step);
    }), pixels);
    console.log(`${LISTED} units ${how}: ${frames.rate.toFixed(1)} frames/s, longest ${frames.longest.toFixed(0)} ms, ${frames.rows} rows in the page`);
    assert.ok(frames.rows < 100, "only what is in view is drawn");
  }
  await page.getByRole("row").filter({ hasText: "Measurement" }).first().waitFor();
});

test("a live update", async () => {
  const { page } = await visitor(browser);
  await page.goto(`${server.url}/#/memory`);
  await page.locator("#row-0").filter({ hasText: "Measurement" }).waitFor();
  const waits = [];
  for (let round = 0; round < 6; round += 1) {
    const words = `Live update number ${round}.`;
    const seen = page.evaluate((/** @type {string} */ text) => new Promise((resolve) => {
      const look = () => (document.querySelector("#row-0")?.textContent?.includes(text) ? resolve(performance.timeOrigin + performance.now()) : requestAnimationFrame(look));
      look();
    }), words);
    await server.record("ana", words);
    const committed = performance.timeOrigin + performance.now();
    waits.push(/** @type {number} */ (await seen) - committed);
  }
  console.log(`a live update shows ${waits.map((ms) => ms.toFixed(0)).join(", ")} ms after the answer to its RECORD`);
});
