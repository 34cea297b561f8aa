// Attune, Conflicts, Replay and Tasks: the main path of each, as a person drives it, with the keyboard too.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launch, shot, violations, visitor } from "./browser.mjs";
import { finishedTask, market, replayed, waitingTask } from "./scenes.mjs";
import { Server, until } from "./server.mjs";

/** @type {any} */
let browser;
/** @type {Server} */
let server;
/** @type {Awaited<ReturnType<typeof market>>} */
let scene;

before(async () => {
  server = await Server.start();
  scene = await market(server);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.end();
});

const ranked = (/** @type {any} */ page) => page.locator(".answer > .ranked > .ranked-row");
const head = async () => (await server.call("/v1/field/status")).position;

test("Attune shows what an agent would be given, why, and what the budget cut, and leaves no trace", async () => {
  const { page, complaints } = await visitor(browser, { height: 1000 });
  const before = await head();
  await page.goto(`${server.url}/#/attune`);
  await page.getByLabel("Agent").selectOption("sam");
  await page.getByLabel("Session").selectOption("nordic");
  await page.getByLabel("What it is about to do").fill("entering the Nordic market");
  await page.keyboard.press("Enter");
  // The unit is there before the hint is, ranked without it.
  const first = ranked(page).first();
  await first.getByRole("img", { name: /^Score 0\.\d\d: lexical 0\.\d\d, semantic/ }).waitFor();
  await ranked(page).filter({ hasText: "grows by 23%" }).waitFor();
  const all = await ranked(page).count();
  assert.ok(all >= 5, `${all}`);
  await first.locator("summary").click();
  await first.getByRole("row", { name: /^lexical/ }).waitFor();
  await shot(page, "attune");
  await page.getByLabel("Most tokens").fill("400");
  await page.keyboard.press("Enter");
  await page.getByText("did not fit into the tokens").first().waitFor();
  assert.ok((await ranked(page).count()) < all);
  assert.match(page.url(), /tokens=400/);
  assert.deepEqual(await violations(page), []);
  assert.equal(await head(), before, "looking writes nothing, even where ATTUNEs are traced");
  assert.deepEqual(complaints, []);
});

test("Attune compares two moments side by side, and the URL shows somebody else the same", async () => {
  const { page, context, complaints } = await visitor(browser, { width: 1440, height: 1000 });
  await page.goto(`${server.url}/#/attune?agent=sam&session=nordic&hint=growth&units=5`);
  await page.getByRole("button", { name: "Compare with another" }).click();
  const other = page.getByRole("region", { name: "The other setting" });
  await other.getByLabel("As of epoch", { exact: true }).fill("9");
  await page.keyboard.press("Enter");
  await other.getByText(/as of epoch 9/).waitFor();
  assert.equal(await other.locator(".ranked-row").count(), 1, "there was one unit then");
  await page.locator(".moved.new").first().waitFor();
  await shot(page, "attune-compared");
  assert.deepEqual(await violations(page), []);
  const second = await context.newPage();
  await second.goto(page.url());
  await second.getByText(/as of epoch 9/).waitFor();
  assert.deepEqual(complaints, []);
});

test("Conflicts foresees what each strategy would do, and a vote is shown as it goes", async () => {
  const { page, complaints } = await visitor(browser, { height: 1100 });
  await page.goto(`${server.url}/#/conflicts`);
  await page.getByText("A would prevail.").waitFor();
  assert.deepEqual(await page.locator("article").first().locator("mark").allTextContents(), ["23%", "4.1"]);
  await page.getByLabel("The later word").check();
  await page.getByText("B would prevail.").waitFor();
  await page.getByLabel("A synthesis").check();
  await page.getByLabel("What is true instead").fill("Between 14% and 23%.");
  await page.getByLabel("Why").click();
  await page.getByText("A and B would be superseded").waitFor();
  await shot(page, "conflicts");
  assert.deepEqual(await violations(page), []);
  await page.getByLabel("A vote").check();
  await page.getByRole("radio", { name: "B", exact: true }).check();
  await page.getByText("Your ballot would be counted").waitFor();
  await page.getByRole("button", { name: "Settle it" }).click();
  await page.getByText("Say why").waitFor();
  await page.getByLabel("Why").fill("The report is newer");
  await page.getByRole("button", { name: "Settle it" }).click();
  await page.getByText("Your ballot is counted").waitFor();
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByText("A vote is in progress: 1 ballot").waitFor();
  await page.getByText("The report is newer").waitFor();
  assert.deepEqual(complaints, []);
});

test("Replay draws a lane for each agent, and the arrow keys walk through what led to what", async () => {
  const { page, complaints } = await visitor(browser, { width: 1440 });
  await page.goto(`${server.url}/#/replay/task/${scene.task}`);
  await page.getByRole("heading", { name: "The story" }).waitFor();
  assert.deepEqual(await page.locator(".lane-heads span").allTextContents(), ["sam", "ana", "bo", "the Field"]);
  await page.getByRole("group", { name: /Timeline/ }).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const aside = page.getByRole("complementary", { name: "The chosen event" });
  await aside.getByRole("heading", { name: /^RECORD at epoch/ }).waitFor();
  await aside.getByRole("heading", { name: "It rests on" }).waitFor();
  assert.ok((await page.locator(".arc.lit").count()) >= 1);
  assert.match(page.url(), /at=2/);
  await shot(page, "replay");
  assert.deepEqual(await violations(page), []);
  const key = await page.locator(".card").count();
  await page.getByRole("link", { name: "Full trace" }).click();
  await page.getByRole("link", { name: "Key events only" }).waitFor();
  assert.ok((await page.locator(".card").count()) >= key);
  for (const [kind, id] of [["conflict", scene.conflict], ["session", scene.session], ["memory_unit", scene.low]]) {
    await page.goto(`${server.url}/#/replay/${kind}/${id}`);
    await page.getByRole("button", { name: /grows by 14%/ }).first().waitFor();
  }
  assert.deepEqual(complaints, []);
});

test("a Task tells its events as they happen", async () => {
  const { page, complaints } = await visitor(browser);
  const id = await waitingTask(server);
  await page.goto(`${server.url}/#/tasks`);
  await page.getByRole("link", { name: "Price the deal with Acme" }).first().click();
  await page.getByText("nobody yet").waitFor();
  await server.call(`/v1/tasks/${id}/claim`, { agent_id: "pricer" });
  await server.call(`/v1/tasks/${id}/dependencies`, { key: "llm:main:1", kind: "llm_provider_response", request: {}, value: { text: "40" } });
  await page.locator(".events").getByText("llm:main:1").waitFor();
  await server.call(`/v1/tasks/${id}/complete`, { summary: "priced at 40", output: { price: 40 } });
  await page.getByText("priced at 40").waitFor();
  await page.getByRole("link", { name: "Receipt" }).waitFor();
  await shot(page, "task");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(complaints, []);
});

test("a Task is replayed from a checkpoint and exactly, and the exact one is identical", async () => {
  const { page, complaints } = await visitor(browser, { height: 1000 });
  const id = await finishedTask(server);
  await page.goto(`${server.url}/#/tasks/${id}/replay`);
  await page.getByLabel("From a checkpoint").check();
  await page.getByLabel("Begin at").selectOption({ label: "priced" });
  assert.ok(await page.getByRole("checkbox", { name: /llm:main:1/ }).isDisabled(), "it was recorded before the checkpoint");
  assert.ok(await page.getByRole("checkbox", { name: /llm:main:2/ }).isEnabled());
  await page.getByLabel("Exactly").check();
  await page.getByRole("button", { name: "Run the replay" }).click();
  await page.getByRole("heading", { name: "Identical" }).waitFor();
  await shot(page, "replay-identical");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(complaints, []);
});

test("a replay by a worker waits for it and then shows what it made of the other answer", async () => {
  const { page, complaints } = await visitor(browser, { height: 1000 });
  const id = await finishedTask(server);
  await page.goto(`${server.url}/#/tasks/${id}/replay`);
  await page.getByRole("checkbox", { name: /mcp:crm:lookup-1/ }).check();
  await page.getByLabel("What mcp:crm:lookup-1 says instead, as JSON").fill('{"tier": "tin"}');
  await page.getByLabel("A worker").check();
  await page.getByRole("button", { name: "Run the replay" }).click();
  await page.getByText("waits for a worker to claim it").waitFor();
  const replay = /tasks\/([^/]+)\/compare/.exec(page.url())?.[1];
  await server.call(`/v1/tasks/${replay}/claim`, { agent_id: "pricer" });
  const { value } = await server.call(`/v1/tasks/${replay}/dependencies/resolve`, { key: "mcp:crm:lookup-1" });
  await server.call(`/v1/tasks/${replay}/complete`, { summary: "priced at 50", output: { price: 50, tier: value.tier } });
  await page.getByRole("heading", { name: "Diverged" }).waitFor();
  assert.deepEqual(await page.locator(".columns.two mark").allTextContents(), ["40", "gold", "50", "tin"]);
  await shot(page, "replay-by-worker");
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(complaints, []);
});

test("a receipt that was altered is shown red, and one from elsewhere can be pasted", async () => {
  const { page, complaints } = await visitor(browser, { height: 1000 });
  const task = await replayed(server, await finishedTask(server), { tier: "tin" });
  const { data } = await server.call(`/v1/tasks/${task.id}/receipts`);
  const receipt = data[0].wire.payload;
  await page.goto(`${server.url}/#/tasks/receipt`);
  await page.getByLabel("The receipt as JSON").fill(JSON.stringify(receipt));
  await page.getByRole("button", { name: "Check it" }).click();
  await page.getByRole("heading", { name: "This receipt holds" }).waitFor();
  await page.getByLabel("The receipt as JSON").fill(JSON.stringify({ ...receipt, cost: { ...receipt.cost, total: 5 } }));
  await page.getByRole("button", { name: "Check it" }).click();
  await page.getByRole("heading", { name: "This receipt does not hold" }).waitFor();
  assert.equal(await page.locator('[data-step="hash"]').getAttribute("data-state"), "bad");
  await shot(page, "receipt-altered");
  assert.deepEqual(await violations(page), []);
  await page.getByLabel("The receipt as JSON").fill('{"a": 1, "a": 2}');
  await page.getByRole("button", { name: "Check it" }).click();
  await page.getByText('the member "a" stands twice').waitFor();
  assert.deepEqual(complaints, []);
});

test("texts with markup, scripts, other directions and a megabyte are shown as texts", async () => {
  const dire = await Server.start();
  try {
    const hostile = "<img src=x onerror=alert(1)><script>alert(2)</script> \u202eright to left\u202c \u{1f600} ";
    for (const id of ["ana", "bo"]) await dire.register(id, "<b>role</b>");
    const first = await dire.record("ana", hostile + "x".repeat(900_000));
    const relations = [{ type: "contradicts", target_id: first, description: hostile }];
    await dire.record("bo", hostile + "y ".repeat(300_000), { relations });
    const decision = await dire.record("ana", `${hostile}decided`, { type: "decision", relations: [{ type: "depends_on", target_id: first }] });
    const { page, complaints } = await visitor(browser);
    page.on("dialog", () => complaints.push("a script ran"));
    for (const [path, place] of [["conflicts", ".side"], ["attune?agent=bo", ".ranked-row"], [`replay/decision/${decision}`, ".card"]]) {
      await page.goto(`${dire.url}/#/${path}`);
      await page.locator(place ?? "").filter({ hasText: "<img src=x onerror=alert(1)>" }).first().waitFor();
      assert.equal(await page.locator("main img, main script").count(), 0);
      assert.deepEqual(await violations(page), []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.ok(!wide, `${path} is wider than the window`);
    }
    await page.goto(`${dire.url}/#/conflicts`);
    await page.getByText("The first 20,000 of").first().waitFor();
    assert.deepEqual(complaints, []);
  } finally {
    await dire.end();
  }
});

test("a Field with nothing in it teaches the next command on every page", async () => {
  const bare = await Server.start();
  try {
    const { page, complaints } = await visitor(browser);
    for (const [name, title] of [["attune", "No agent takes part yet"], ["conflicts", "Nobody disagrees"], ["replay", "No decision yet"], ["tasks", "No Tasks here"]]) {
      await page.goto(`${bare.url}/#/${name}`);
      await page.getByRole("heading", { name: title }).waitFor();
      await until(async () => (await page.locator("pre").first().textContent()).includes("curl"), `a command on ${name}`);
      assert.deepEqual(await violations(page), []);
    }
    assert.deepEqual(complaints, []);
  } finally {
    await bare.end();
  }
});

test("what a key may not do is not offered", async () => {
  const locked = await Server.start({ dev: false });
  try {
    await locked.call("/v1/register", { id: "ana", role: "researcher" }, "ana");
    const { secret } = await locked.call("/v1/keys", { agent: "ana", authority: 2 });
    const first = await locked.record("ana", "The valve opens at 60 bar.");
    await locked.record("ana", "The valve opens at 90 bar.", { relations: [{ type: "contradicts", target_id: first }] });
    const task = await finishedTask(locked);
    const { page, complaints } = await visitor(browser);
    await page.goto(`${locked.url}/#/conflicts`);
    await page.locator("dialog input").fill(secret);
    await page.keyboard.press("Enter");
    await page.getByText("Settling it takes a key of authority 6").waitFor();
    assert.equal(await page.getByRole("button", { name: "Settle it" }).count(), 0);
    await page.goto(`${locked.url}/#/tasks/${task}`);
    await page.getByRole("link", { name: "Receipt" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "Replay…" }).count(), 0);
    assert.deepEqual(complaints, []);
  } finally {
    await locked.end();
  }
});
