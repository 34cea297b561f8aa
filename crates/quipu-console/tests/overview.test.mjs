// The Overview as somebody meets it who has just started a server.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, shot, violations, visitor } from "./browser.mjs";
import { Server } from "./server.mjs";

/** @type {any} */
let browser;
/** @type {Server} */
let server;

before(async () => {
  server = await Server.start();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.end();
});

test("an empty Field teaches the first lines, and fills while somebody looks", async () => {
  const { page, complaints } = await visitor(browser);
  await page.goto(server.url);
  await page.getByRole("heading", { name: "Nothing has happened here yet" }).waitFor();
  assert.match(await page.locator(".first-steps pre").innerText(), /curl -s http.*\/v1\/register/);
  await shot(page, "overview-empty");
  assert.deepEqual(await violations(page), []);
  await server.team();
  await page.locator(".first-steps").waitFor({ state: "detached" });
  const figures = page.locator(".figures");
  await figures.getByText("4 active, 2 contested").waitFor();
  await page.getByRole("cell", { name: "market_researcher" }).waitFor();
  await page.locator(".feed li").filter({ hasText: "sam recorded a decision" }).waitFor();
  assert.match(await figures.innerText(), /Open conflicts\n1/);
  await page.getByText("signed", { exact: true }).waitFor();
  await shot(page, "overview");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(complaints, []);
});

test("numbers and figures lead to their pages, by mouse and by keyboard", async () => {
  const { page, complaints } = await visitor(browser);
  await page.goto(server.url);
  await page.getByRole("link", { name: /Memory units/ }).click();
  await page.getByRole("heading", { name: "Memory", level: 1 }).waitFor();
  await page.keyboard.press("7");
  await page.getByRole("heading", { name: "Log & operations" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Memory", level: 1 }).waitFor();
  await page.keyboard.press("1");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("another Field is another world, and its name is in the URL", async () => {
  const { page, complaints } = await visitor(browser);
  await page.goto(`${server.url}/#/memory`);
  await page.getByText("6 units").waitFor();
  const made = await fetch(`${server.url}/v1/register`, { method: "POST", headers: { "Content-Type": "application/json", "Quipu-Field": "harbour" }, body: JSON.stringify({ id: "zoe", role: "pilot" }) });
  assert.equal(made.status, 200);
  await page.locator(".field-choice select").selectOption("");
  await page.getByLabel("Its name").fill("harbour");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Nothing has been recorded yet" }).waitFor();
  assert.match(page.url(), /\?field=harbour#\/memory$/);
  await page.keyboard.press("1");
  await page.getByRole("cell", { name: "pilot" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("it is readable in the dark and on a narrow screen", async () => {
  const dark = await visitor(browser, { dark: true });
  await dark.page.goto(server.url);
  await dark.page.getByRole("cell", { name: "market_researcher" }).waitFor();
  await shot(dark.page, "overview-dark");
  assert.deepEqual(await violations(dark.page), []);
  await dark.page.getByRole("button", { name: "Light / dark" }).click();
  assert.equal(await dark.page.evaluate(() => document.documentElement.dataset.theme), "light");
  const narrow = await visitor(browser, { width: 420, height: 800 });
  await narrow.page.goto(server.url);
  await narrow.page.getByRole("cell", { name: "market_researcher" }).waitFor();
  await shot(narrow.page, "overview-narrow");
  assert.ok(await narrow.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing sticks out");
});
