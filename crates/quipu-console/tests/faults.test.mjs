// What can go wrong: the server goes and comes back, a key ends, and units say hostile things.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, shot, violations, visitor } from "./browser.mjs";
import { Server, until } from "./server.mjs";

/** @type {any} */
let browser;

before(async () => {
  browser = await launch();
});
after(async () => browser?.close());

test("the server goes and comes back: the console says so and catches up", async (context) => {
  const server = await Server.start();
  context.after(() => server.end());
  await server.team();
  const { page, complaints } = await visitor(browser);
  await page.goto(`${server.url}/#/memory?agent=ana`);
  await page.getByRole("row").filter({ hasText: "bike lanes" }).waitFor();
  await server.stop();
  await page.getByText("The server does not answer").waitFor();
  await page.getByText("server gone").waitFor();
  await shot(page, "server-gone");
  assert.deepEqual(await violations(page), []);
  assert.equal(await page.getByRole("row").count(), 2, "what was there is still there");
  await server.run();
  // Recorded before the console has noticed that the server is back.
  await server.record("ana", "Recorded while nobody looked.");
  await page.getByText("3 units match").waitFor();
  await page.getByText("The server does not answer").waitFor({ state: "detached" });
  await page.getByRole("row").filter({ hasText: "while nobody looked" }).waitFor();
  assert.match(page.url(), /agent=ana/);
  assert.deepEqual(complaints, []);
});

test("what is asked while the server is gone is shown as soon as it is back", async (context) => {
  const server = await Server.start();
  context.after(() => server.end());
  await server.team();
  const { page } = await visitor(browser);
  await page.goto(`${server.url}/#/memory`);
  await page.getByRole("row").filter({ hasText: "bike lanes" }).waitFor();
  await server.stop();
  await page.getByLabel("Agent").fill("ana");
  await page.getByText("The server cannot be reached").waitFor();
  await server.run();
  await page.getByText("2 units match").waitFor();
  assert.match(page.url(), /agent=ana/);
});

test("a key that was revoked leads to signing in, over the page, which then goes on", async (context) => {
  const server = await Server.start({ dev: false });
  context.after(() => server.end());
  await server.team();
  const made = await server.call("/v1/keys", { authority: 8 });
  const { page, complaints } = await visitor(browser);
  await page.goto(`${server.url}/#/memory`);
  await page.getByLabel("Key", { exact: true }).fill(made.secret);
  await page.keyboard.press("Enter");
  await page.getByText("6 units").waitFor();
  await page.getByLabel("Agent").fill("ben");
  await page.getByText("2 units match").waitFor();
  await page.getByRole("row").filter({ hasText: "A family spends" }).waitFor();
  await server.call(`/v1/keys/${made.key.id}`, undefined, undefined, { method: "DELETE" });
  // The page is told of it and asks for it, with a key that is good no more.
  await server.record("ben", "Recorded after the key had ended.");
  await page.getByRole("dialog", { name: "Sign in" }).getByText("The key is not good any more").waitFor();
  await shot(page, "key-ended");
  assert.ok(await page.getByRole("row", { includeHidden: true }).count() > 0, "the page is still there");
  await page.getByLabel("Key", { exact: true }).fill(server.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("3 units match").waitFor();
  assert.match(page.url(), /agent=ben/);
  assert.deepEqual(complaints, []);
});

const HOSTILE = [
  "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>",
  "</div></main><iframe srcdoc='<script>parent.document.title=1</script>'></iframe>",
  "javascript:alert(1) ${7*7} {{7*7}} \u0000 \u2028 \ufeff",
  "\u202Eevil.exe\u202C and \u2067right to left\u2069 مرحبا שלום",
  "👩‍👩‍👧‍👦 🏳️‍🌈 🇳🇱 Z̸a̷l̶g̷o̵ ﷽",
].map((text) => text.replaceAll("\u0000", ""));

test("whatever a unit says is shown as text", async (context) => {
  const server = await Server.start();
  context.after(() => server.end());
  await server.call("/v1/register", { id: "<b>eve</b>", role: "<i>tester</i>", interests: [] });
  const agent = "<b>eve</b>";
  const ids = [];
  for (const text of HOSTILE) ids.push(await server.record(agent, text, { intent: { purpose: text }, confidence: { score: 0.5, reasoning: text, evidence: [text] } }));
  const { page, complaints } = await visitor(browser);
  await page.goto(`${server.url}/#/memory`);
  await page.getByText(`${HOSTILE.length} units`).waitFor();
  for (const [index, text] of HOSTILE.entries()) {
    await page.goto(`${server.url}/#/memory/${ids[index]}`);
    const shown = page.locator(".unit-text .prose");
    await until(async () => (await shown.count()) === 1 && (await shown.evaluate((/** @type {Element} */ node) => node.textContent)) === text, `unit ${index} is shown as it is`);
  }
  await shot(page, "hostile");
  await page.goto(`${server.url}/#/overview`);
  await page.getByRole("cell", { name: "<i>tester</i>" }).waitFor();
  await page.goto(`${server.url}/#/log`);
  await page.getByRole("row").filter({ hasText: "<b>eve</b>" }).first().waitFor();
  assert.equal(await page.locator("main iframe, main script, main b, main img").count(), 0);
  assert.match(await page.title(), /Quipu$/);
  assert.deepEqual(complaints, []);
});

test("a text of a megabyte is shown in part, and whole when asked", async (context) => {
  const server = await Server.start();
  context.after(() => server.end());
  await server.register("ana", "researcher");
  const text = "knot and cord ".repeat(74_800).trim();
  assert.ok(text.length > 1_000_000 && text.length < 1_048_576);
  const id = await server.record("ana", text);
  const { page, complaints } = await visitor(browser);
  await page.goto(`${server.url}/#/memory`);
  await page.getByRole("row").filter({ hasText: "knot and cord" }).click();
  const rest = page.getByRole("button", { name: /Show all of it/ });
  await rest.waitFor();
  await rest.click();
  const length = await page.locator(".unit-text .prose").evaluate((/** @type {Element} */ node) => node.textContent?.length);
  assert.equal(length, text.length);
  assert.ok(page.url().includes(id));
  assert.deepEqual(complaints, []);
});
