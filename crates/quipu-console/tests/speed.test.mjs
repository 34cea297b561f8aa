// How fast it is, printed. Only what would be broken, not what is slow, fails here: machines differ.

import assert from "node:assert/strict";
import { test } from "node:test";

import { launch, visitor } from "./browser.mjs";
import { Server } from "./server.mjs";

const UNITS = Number(process.env.CONSOLE_UNITS ?? 20_000);
const AT_ONCE = 64;

/** @param {Server} server */
async function fill(server) {
  await server.register("ana", "researcher");
  let next = 0;
  const work = async () => {
    while (next < UNITS) {
      const number = next++;
      await server.record("ana", `Measurement ${number}: the cord has ${number % 97} knots.`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

test("first paint, transfer, frames while scrolling, and a live update", async (context) => {
  const server = await Server.start();
  context.after(() => server.end());
  await fill(server);
  const browser = await launch();
  context.after(() => browser.close());
  const { page } = await visitor(browser);

  await page.goto(server.url);
  await page.locator(".figures .figure").first().waitFor();
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
  const sent = await page.evaluate(() => performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation")).reduce((all, entry) => all + /** @type {PerformanceResourceTiming} */ (entry).transferSize, 0));
  console.log(`first paint ${paint.toFixed(0)} ms, transferred ${(sent / 1024).toFixed(1)} KiB`);
  assert.ok(sent < 300 * 1024, "the console stays small");

  await page.goto(`${server.url}/#/memory`);
  await page.getByRole("row").filter({ hasText: "Measurement" }).first().waitFor();
  const frames = await page.evaluate(() => new Promise((resolve) => {
    const list = /** @type {HTMLElement} */ (document.querySelector(".virtual"));
    const [begin, end] = [performance.now(), performance.now() + 3000];
    let [drawn, longest, last] = [0, 0, begin];
    const step = (/** @type {number} */ now) => {
      drawn += 1;
      longest = Math.max(longest, now - last);
      last = now;
      // From the top to the bottom in three seconds, as nobody could drag it.
      list.scrollTop = ((now - begin) / 3000) * list.scrollHeight;
      if (now < end) requestAnimationFrame(step);
      else resolve({ rate: (drawn / (now - begin)) * 1000, longest, rows: document.querySelectorAll(".virtual .row").length });
    };
    requestAnimationFrame(step);
  }));
  console.log(`scrolling ${UNITS} units: ${frames.rate.toFixed(1)} frames/s, longest ${frames.longest.toFixed(0)} ms, ${frames.rows} rows in the page`);
  assert.ok(frames.rows < 100, "only what is in view is drawn");
  await page.getByRole("row").filter({ hasText: "Measurement" }).first().waitFor();

  await page.locator(".virtual").evaluate((/** @type {HTMLElement} */ list) => (list.scrollTop = 0));
  await page.getByText(`Measurement ${UNITS - 1}`).first().waitFor().catch(() => undefined);
  const waits = [];
  for (let round = 0; round < 5; round += 1) {
    const words = `Live update number ${round}.`;
    const seen = page.evaluate((/** @type {string} */ text) => new Promise((resolve) => {
      const look = () => (document.querySelector("#row-0")?.textContent?.includes(text) ? resolve(performance.timeOrigin + performance.now()) : requestAnimationFrame(look));
      look();
    }), words);
    await server.record("ana", words);
    const committed = performance.timeOrigin + performance.now();
    waits.push(/** @type {number} */ (await seen) - committed);
  }
  console.log(`a live update shows ${waits.map((ms) => ms.toFixed(0)).join(", ")} ms after its answer`);
});
