// Somebody who has never seen Quipu, with the console alone: why was this decided, who is right, what if, and is this
// receipt true? Each begins at the front page and uses what is on the screen.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, shot, violations, visitor } from "./browser.mjs";
import { finishedTask, market } from "./scenes.mjs";
import { Server } from "./server.mjs";

/** @type {any} */
let browser;
/** @type {Server} */
let server;
/** @type {Awaited<ReturnType<typeof market>>} */
let scene;

before(async () => {
  server = await Server.start();
  scene = await market(server);
  await finishedTask(server);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.end();
});

/** @param {{ page: any }} who @param {string} name */
async function open({ page }, name) {
  await page.goto(server.url);
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
}

test("a newcomer finds why a decision was made", async () => {
  const who = await visitor(browser, { width: 1440 });
  const { page } = who;
  await open(who, "Replay");
  await page.getByRole("link", { name: "We enter the Nordic market with 42 euro a seat." }).click();
  await page.getByRole("heading", { name: "What sam had been shown before it" }).waitFor();
  const aside = page.getByRole("complementary", { name: "The chosen event" });
  await aside.getByText("entering the Nordic market: growth and price").waitFor();
  await aside.getByText("Never price below 40 euro a seat.").waitFor();
  // The text is fetched behind the row.
  await aside.getByRole("listitem").filter({ hasText: "named" }).getByText("grows by 23% a year").waitFor();
  await shot(page, "newcomer-why");
  assert.deepEqual(await violations(page), []);
  assert.ok(!(await server.call("/v1/agents")).agents.some((/** @type {any} */ agent) => agent.role === "human_operator"), "looking registers nobody");
  await page.getByRole("button", { name: /We enter the Nordic market/ }).click();
  await aside.getByRole("button", { name: /^ATTUNE/ }).click();
  await aside.getByRole("heading", { name: "What was shown, best first" }).waitFor();
  await open(who, "Memory");
  await page.getByRole("row").filter({ hasText: "We enter the Nordic market" }).click();
  await page.getByRole("button", { name: "How it came about" }).click();
  await page.getByRole("heading", { name: "What sam had been shown before it" }).waitFor();
  assert.deepEqual(who.complaints, []);
});

test("a newcomer settles a conflict", async () => {
  const who = await visitor(browser, { height: 1100 });
  const { page } = who;
  await open(who, "Conflicts");
  await page.getByText("23% against 14% growth a year").first().click();
  await page.getByLabel("More evidence").check();
  await page.getByText("A would prevail.").waitFor();
  await page.getByLabel("Why").fill("Three reports against one.");
  await page.getByRole("button", { name: "Settle it" }).click();
  await page.getByText("A prevailed.").waitFor();
  await page.getByText("0 conflicts waiting").waitFor();
  await shot(page, "newcomer-settled");
  assert.deepEqual(await violations(page), []);
  assert.equal((await server.call(`/v1/units/${scene.low}`)).status, "superseded");
  await page.getByRole("link", { name: "Settled" }).click();
  await page.getByText("Three reports against one.").waitFor();
  assert.deepEqual(who.complaints, []);
});

test("a newcomer runs a counterfactual", async () => {
  const who = await visitor(browser, { height: 1000 });
  const { page } = who;
  await open(who, "Tasks");
  await page.getByRole("link", { name: "Price the deal with Acme" }).first().click();
  await page.getByRole("link", { name: "Replay…" }).click();
  await page.getByRole("checkbox", { name: /mcp:crm:lookup-1/ }).check();
  const instead = page.getByLabel("What mcp:crm:lookup-1 says instead, as JSON");
  assert.deepEqual(JSON.parse(await instead.inputValue()), { tier: "gold" });
  await instead.fill('{"tier": "tin"');
  await page.getByRole("button", { name: "Run the replay" }).click();
  await page.getByText("} was expected").first().waitFor();
  await instead.fill('{"tier": "tin"}');
  await page.getByLabel("Why").fill("what if the customer were new");
  await shot(page, "newcomer-editor");
  assert.deepEqual(await violations(page), []);
  await page.getByRole("button", { name: "Run the replay" }).click();
  await page.getByRole("heading", { name: "Diverged" }).waitFor();
  const row = page.getByRole("row").filter({ hasText: "First divergence" });
  assert.match(await row.textContent(), /mcp:crm:lookup-1.*overridden/);
  await page.getByText('"tier": "tin"').waitFor();
  await shot(page, "newcomer-diverged");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(who.complaints, []);
});

test("a newcomer verifies a receipt", async () => {
  const who = await visitor(browser, { height: 1100 });
  const { page } = who;
  await open(who, "Tasks");
  await page.getByRole("link", { name: "Price the deal with Acme" }).last().click();
  await page.getByRole("link", { name: "Receipt" }).click();
  await page.getByRole("heading", { name: "This receipt holds" }).waitFor();
  const states = await page.locator(".checks li").evaluateAll((/** @type {any[]} */ steps) => steps.map((step) => `${step.dataset.step}: ${step.dataset.state}`));
  assert.deepEqual(states.filter((/** @type {string} */ state) => !state.endsWith(": good")), [], "every step is green");
  for (const step of ["schema", "canonical", "hash", "subject", "chain", "signature-0", "material-mcp:crm:lookup-1"]) {
    assert.ok(states.includes(`${step}: good`), `${step} of ${states}`);
  }
  await shot(page, "newcomer-receipt");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(who.complaints, []);
});
