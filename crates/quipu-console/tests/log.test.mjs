// Log and operations: an operator at work, with keys.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, shot, violations, visitor } from "./browser.mjs";
import { Server, until } from "./server.mjs";

/** @type {any} */
let browser;
/** @type {Server} */
let server;

before(async () => {
  server = await Server.start({ dev: false });
  await server.team();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.end();
});

/** @param {any} page @param {string} key */
async function signIn(page, key) {
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.keyboard.press("Enter");
  await page.locator("dialog.sign-in").waitFor({ state: "detached" });
}

test("who has no key is asked for one, and a wrong one is refused in words", async () => {
  const { page, complaints } = await visitor(browser);
  await page.goto(`${server.url}/#/log?tab=commits`);
  await page.getByRole("dialog", { name: "Sign in" }).waitFor();
  await shot(page, "sign-in");
  assert.deepEqual(await violations(page), []);
  await page.getByLabel("Key", { exact: true }).fill("quipu_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("unknown or was revoked").waitFor();
  await signIn(page, server.key);
  await page.getByRole("row").filter({ hasText: "ana joined" }).waitFor();
  assert.ok(!page.url().includes(server.key) && !(await page.context().cookies()).length, "the key is in this tab only");
  assert.deepEqual(complaints, []);
});

test("commits are shown as they land, and each can be looked into", async () => {
  const { page, complaints } = await visitor(browser);
  await page.goto(`${server.url}/#/log`);
  await signIn(page, server.key);
  await page.getByText("9 commits, as they land").waitFor();
  await server.record("ben", "A tenth commit.");
  await page.getByText("10 commits, as they land").waitFor();
  await page.getByRole("row").filter({ hasText: "#10" }).waitFor();
  await shot(page, "log-commits");
  assert.deepEqual(await violations(page), []);
  await page.getByRole("grid").focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByText("the header has this hash").waitFor();
  await page.getByRole("link", { name: "← earlier" }).click();
  await page.getByRole("heading", { name: "Commit 9" }).waitFor();
  await shot(page, "log-commit");
  assert.deepEqual(complaints, []);
});

test("a commit that lands before the console listens is shown all the same", async () => {
  const { page } = await visitor(browser);
  /** @type {() => void} */
  let listen = () => {};
  const allowed = new Promise((resolve) => (listen = () => resolve(undefined)));
  await page.routeWebSocket(/\/v1\/log\/follow/, async (/** @type {any} */ socket) => {
    await allowed;
    socket.connectToServer();
  });
  await page.goto(`${server.url}/#/log`);
  await signIn(page, server.key);
  const summary = page.getByText(/^\d+ commits, as they land$/);
  const shown = Number.parseInt(await summary.innerText(), 10);
  await server.record("ben", "It lands before anybody listens.");
  listen();
  await page.getByText(`${shown + 1} commits, as they land`).waitFor();
});

test("a commit that lands while its page is on the way is shown all the same", async () => {
  const { page } = await visitor(browser);
  await page.goto(`${server.url}/#/log?tab=verify`);
  await signIn(page, server.key);
  const landing = new Promise((landed) => {
    let held = false;
    const isPage = (/** @type {URL} */ url) => url.pathname === "/v1/log" && url.searchParams.get("from") === "1";
    page.route(isPage, async (/** @type {any} */ route) => {
      if (held) return route.continue();
      held = true;
      const answer = await route.fetch();
      const position = (await answer.json()).head.position + 1;
      await server.record("ben", "It lands while the page is on its way.");
      await page.getByText(`${position} commits, as they land`).waitFor();
      // By now nobody may want it any more.
      await route.fulfill({ response: answer }).catch(() => {});
      landed(position);
    });
  });
  await page.locator(".connection.live").waitFor();
  await page.getByRole("link", { name: "Commits", exact: true }).click();
  const position = await landing;
  await page.getByRole("row").filter({ hasText: `#${position}` }).waitFor();
});

test("the chain is verified in the browser, and one that was altered is found out", async () => {
  const { page } = await visitor(browser);
  await page.goto(`${server.url}/#/log?tab=verify`);
  await signIn(page, server.key);
  await page.getByRole("button", { name: "Verify the chain" }).click();
  await page.getByText("whole", { exact: true }).waitFor();
  await shot(page, "log-verify");
  assert.deepEqual(await violations(page), []);
  await page.route("**/v1/log?*", async (/** @type {any} */ route) => {
    const answer = await route.fetch();
    const body = await answer.json();
    const altered = body.commits.find((/** @type {any} */ commit) => commit.position === 4);
    if (altered) altered.header.actor = "mallory";
    await route.fulfill({ response: answer, json: body });
  });
  await page.getByRole("button", { name: "Verify the chain" }).click();
  await page.getByText("Commit 4 does not follow").waitFor();
});

test("a key is made, shown once, and revoked", async () => {
  const { page } = await visitor(browser);
  await page.goto(`${server.url}/#/log?tab=keys`);
  await signIn(page, server.key);
  await page.getByLabel("Agent", { exact: true }).fill("dora");
  await page.locator("select[name=authority]").selectOption("2");
  await page.getByLabel("Label", { exact: true }).fill("for the tests");
  await page.getByRole("button", { name: "Make a key" }).click();
  const secret = (await page.locator(".command pre").first().innerText()).trim();
  assert.equal((await server.call("/v1/whoami", undefined, undefined, { key: secret })).agent, "dora");
  await until(async () => (await page.locator("select[name=authority]").inputValue()) === "4", "the form is as it was at first");
  const row = page.getByRole("row").filter({ hasText: "for the tests" });
  await shot(page, "log-keys");
  assert.deepEqual(await violations(page), []);
  await row.getByRole("button", { name: /Revoke/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await row.getByText("revoked").waitFor();
  await assert.rejects(server.call("/v1/whoami", undefined, undefined, { key: secret }), /401/);
});

test("a key is not offered what it may not do", async () => {
  const { secret } = await server.call("/v1/keys", { agent: "eve", authority: 2 });
  const { page, complaints } = await visitor(browser);
  await page.goto(`${server.url}/#/log`);
  await signIn(page, secret);
  await page.getByRole("link", { name: "Sessions" }).waitFor();
  for (const name of ["Keys", "Commits", "Compaction", "Verify"]) assert.equal(await page.getByRole("link", { name, exact: true }).count(), 0, name);
  await page.keyboard.press("1");
  await page.getByText("Commits are shown to keys of authority 8").waitFor();
  await page.getByText("eve, authority 2").waitFor();
  await page.getByRole("button", { name: "sign out" }).click();
  await page.getByRole("dialog", { name: "Sign in" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("compaction shows what it would touch before it touches anything", async () => {
  const { page } = await visitor(browser);
  await page.goto(`${server.url}/#/log?tab=compaction`);
  await signIn(page, server.key);
  const head = (await server.call("/v1/field/status")).head;
  await page.getByLabel("Older than (epochs)").fill("0");
  await page.getByLabel("Type").selectOption("assumption");
  await page.getByRole("button", { name: "Show what it would touch" }).click();
  await page.getByRole("heading", { name: "It would archive 1 unit" }).waitFor();
  await page.getByText("Cities will go on building bike lanes.").waitFor();
  await shot(page, "log-compaction");
  assert.deepEqual(await violations(page), []);
  assert.equal((await server.call("/v1/field/status")).head, head, "nothing was done yet");
  await page.getByRole("button", { name: "archive them…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Yes, archive" }).click();
  await page.getByText("1 unit touched").waitFor();
  assert.notEqual((await server.call("/v1/field/status")).head, head);
});

test("sessions and subscriptions are listed", async () => {
  await server.call("/v1/subscribe", { action: "subscribe", subscription: { events: ["memory.recorded"] } }, "ana");
  await server.call("/v1/sessions", { workspace_id: "workspace_default" });
  const { page } = await visitor(browser);
  await page.goto(`${server.url}/#/log?tab=subscriptions`);
  await signIn(page, server.key);
  await page.getByRole("row").filter({ hasText: "memory.recorded" }).waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByRole("link", { name: "Sessions", exact: true }).click();
  await page.getByRole("row").filter({ hasText: "session_" }).first().waitFor();
  await shot(page, "log-sessions");
  assert.deepEqual(await violations(page), []);
});
