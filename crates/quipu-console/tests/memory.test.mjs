// Memory: looking through the units, and at one of them.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, shot, violations, visitor } from "./browser.mjs";
import { Server } from "./server.mjs";

/** @type {any} */
let browser;
/** @type {Server} */
let server;
/** @type {Record<string, string>} */
let ids;

before(async () => {
  server = await Server.start();
  ids = await server.team();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.end();
});

/** @param {any} page */
const rows = (page) => page.getByRole("row");

test("units are found by words and filters, and the URL shows somebody else the same", async () => {
  const { page, context, complaints } = await visitor(browser);
  await page.goto(`${server.url}/#/memory`);
  await rows(page).filter({ hasText: "Utrecht" }).waitFor();
  assert.equal(await rows(page).count(), 6);
  await shot(page, "memory");
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press("/");
  await page.keyboard.type("growing markets");
  await page.getByText("1 unit match").waitFor();
  await page.getByLabel("Search all texts").fill("");
  await page.getByText("6 units").waitFor();
  await page.getByLabel("Type").selectOption("finding");
  await page.getByLabel("Status").selectOption("contested");
  await page.getByText("2 units match").waitFor();
  await page.getByLabel("Agent").fill("ana");
  await page.getByText("1 unit match").waitFor();
  const url = page.url();
  assert.match(url, /type=finding/);
  const other = await context.newPage();
  await other.goto(url);
  await other.getByText("1 unit match").waitFor();
  assert.equal(await other.getByLabel("Agent").inputValue(), "ana");
  await other.getByLabel("Agent").fill("nobody");
  await other.getByRole("heading", { name: "No unit matches" }).waitFor();
  await other.getByRole("button", { name: "Show all units" }).click();
  await other.getByText("6 units").waitFor();
  assert.deepEqual(complaints, []);
});

test("a unit is opened with the keyboard and tells its whole story", async () => {
  const { page, complaints } = await visitor(browser);
  await page.goto(`${server.url}/#/memory`);
  await rows(page).filter({ hasText: "grows by 23 percent" }).waitFor();
  await page.getByRole("grid").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.getByText("Cycling Industries Europe 2025").waitFor();
  for (const words of ["How fast does the market grow?", "Two trade reports agree", "Subsidies stay in place", "task-eu"]) {
    await page.getByText(words).first().waitFor();
  }
  const graph = page.locator("svg.graph");
  await graph.getByText("contradicts this").waitFor();
  await graph.getByText("depends on this").waitFor();
  await page.locator(".history li").filter({ hasText: "ben" }).first().waitFor();
  await page.getByRole("button", { name: "Check the proof" }).click();
  await page.locator(".steps .good").nth(3).waitFor();
  assert.equal(await page.locator(".steps li").count(), 4);
  await shot(page, "unit");
  assert.deepEqual(await violations(page), []);
  await graph.getByText("depends on this").click();
  await page.locator(".unit-text").getByText("Utrecht").waitFor();
  assert.ok(page.url().includes(ids.decision ?? "?"));
  await page.getByRole("button", { name: "Back" }).click();
  await page.locator(".unit-text").getByText("23 percent").waitFor();
  await page.getByRole("button", { name: "How it came about" }).click();
  await page.getByRole("heading", { name: "Replay", level: 1 }).waitFor();
  await page.getByText(/ of \w+ at epoch \d+: "The European market/).first().waitFor();
  assert.deepEqual(complaints, []);
});

test("a proof of something else is not believed", async () => {
  const { page } = await visitor(browser);
  await page.route("**/v1/log/inclusion?*", async (/** @type {any} */ route) => {
    const answer = await route.fetch({ url: `${server.url}/v1/log/inclusion?position=5` });
    await route.fulfill({ response: answer });
  });
  await page.goto(`${server.url}/#/memory/${ids.growth}`);
  await page.getByRole("button", { name: "Check the proof" }).click();
  await page.locator(".steps .bad").first().waitFor();
  assert.match(await page.locator(".steps .bad").first().innerText(), /The header is the one that is meant/);
});

test("what is recorded now is on top at once, and what is being read stays", async () => {
  const { page } = await visitor(browser);
  await page.goto(`${server.url}/#/memory`);
  await page.getByText("6 units").waitFor();
  await server.record("ana", "Fresh from the field.");
  await rows(page).filter({ hasText: "Fresh from the field" }).waitFor();
  await page.getByText("7 units").waitFor();
  assert.match(await page.locator("#row-0").innerText(), /Fresh from the field/);
});

test("an id that nobody has is said in words", async () => {
  const { page } = await visitor(browser);
  await page.goto(`${server.url}/#/memory/mem-nothing`);
  await page.getByRole("alert").getByText("no unit mem-nothing").waitFor();
});
