// What the tests find in the server before they look: recorded work, conflicting findings, a decision. Over the public
// API alone.

/** @typedef {import("./server.mjs").Server} Server */

/** A Task that waits for a worker. @param {Server} server @returns {Promise<string>} its id */
export async function waitingTask(server) {
  const { data } = await server.call("/v1/personas");
  const persona = data.find((/** @type {any} */ one) => one.name === "pricer") ?? (await server.call("/v1/personas", {
    name: "pricer", version: "1", entry_workflow: "agent.py", description: "prices deals", autonomy_tier: "act_auto", receipt_policy: "required",
  }));
  return (await server.call("/v1/tasks", { session_id: "session_default", persona_id: persona.id, input: "Price the deal with Acme" })).id;
}

/** A Task that asked a model, a database and the model again, and is done. @param {Server} server @returns {Promise<string>} its id */
export async function finishedTask(server) {
  const id = await waitingTask(server);
  await server.call(`/v1/tasks/${id}/claim`, { agent_id: "pricer" });
  const answers = [
    ["llm:main:1", "llm_provider_response", { customer: "Acme", list_price: 50 }],
    ["mcp:crm:lookup-1", "mcp_tool_return", { tier: "gold" }],
    ["llm:main:2", "llm_provider_response", { text: "Offer it." }],
  ];
  for (const [key, kind, value] of answers) {
    await server.call(`/v1/tasks/${id}/dependencies`, { key, kind, request: { for: key }, value, visibility: "public" });
    if (key === "mcp:crm:lookup-1") await server.call(`/v1/tasks/${id}/checkpoints`, { label: "priced", state: { tier: "gold" } });
  }
  await server.call(`/v1/tasks/${id}/complete`, { summary: "priced at 40", output: { price: 40, tier: "gold" } });
  return id;
}

/** The same again with another answer of the database. @param {Server} server @param {string} task @param {unknown} value @returns {Promise<any>} the replay, done */
export async function replayed(server, task, value) {
  const { id } = await server.call(`/v1/tasks/${task}/replay`, {
    mode: "with_overrides", override: { "mcp:crm:lookup-1": { kind: "mcp_tool_return", value, reason: "what if" } },
  });
  for (;;) {
    const found = await server.call(`/v1/tasks/${id}`);
    if (["COMPLETED", "FAILED", "CANCELED"].includes(found.status)) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Three agents decide whether to enter a market, in a session: two findings that disagree, a rule, and a decision by
 * somebody who had been shown them.
 * @param {Server} server
 */
export async function market(server) {
  const session = "nordic";
  const task = "task-nordic";
  const within = (/** @type {string} */ path, /** @type {unknown} */ body, /** @type {string} */ agent) => server.call(path, body, agent, { session });
  for (const [id, role, interest] of [["ana", "market_researcher", "market size"], ["bo", "pricing_analyst", "prices"], ["sam", "strategist", "market entry"]]) {
    await server.call("/v1/register", { id, role, interests: [interest] });
  }
  const goal = { goal: "Decide whether to enter the Nordic market", policy: { trace_attunes: true } };
  await server.call("/v1/session", { action: "create", session_id: session, session: goal }, "sam");
  for (const agent of ["ana", "bo"]) await server.call("/v1/session", { action: "join", session_id: session }, agent);
  const intent = { purpose: "Plan the year", question: "Do we enter?" };
  await within("/v1/coordinate", { action: "create", assignee: "sam", task: { id: task, title: "Decide on the Nordic market", intent } }, "sam");
  await within("/v1/coordinate", { action: "start", task_id: task }, "sam");
  const record = async (/** @type {string} */ agent, /** @type {any} */ unit) => (await within("/v1/record", {
    confidence: { score: 0.8, reasoning: "Reports" }, ...unit, intent: { purpose: "Size the market", task_id: task },
  }, agent)).memory_unit_id;
  const high = await record("ana", {
    type: "finding", content: "The Nordic market grows by 23% a year and reaches 4.1 billion euro in 2028.",
    confidence: { score: 0.82, reasoning: "Three reports agree", evidence: ["Report A", "Report B", "Report C"] },
  });
  const low = await record("bo", {
    type: "finding", content: "The Nordic market grows by 14% a year and reaches 3.2 billion euro in 2028.", confidence: { score: 0.75, reasoning: "One report" },
    relations: [{ type: "contradicts", target_id: high, description: "23% against 14% growth a year" }],
  });
  const rule = await record("bo", { type: "constraint", content: "Never price below 40 euro a seat." });
  for (const language of ["Swedish", "Danish", "Finnish", "Norwegian"]) {
    await record("ana", { type: "observation", content: `A customer asked for onboarding in ${language}.` });
  }
  const hint = "entering the Nordic market: growth and price";
  const { epoch } = await within("/v1/attune", { scope: { role: "strategist", max_units: 4 }, context_hint: hint }, "sam");
  const decision = await record("sam", {
    type: "decision", content: "We enter the Nordic market with 42 euro a seat.", relations: [{ type: "depends_on", target_id: high }],
  });
  const { conflicts } = await within("/v1/detect", { mode: "list" }, "sam");
  return { session, task, high, low, rule, decision, conflict: conflicts[0].id, epoch };
}
