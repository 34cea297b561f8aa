// What the tests find in the server before they look: recorded work, conflicting findings, a decision. Over the public
// API alone.

const VERSION = "agents-protocol-2026-04-25";

/** @returns {string} the server under test */
export const url = () => {
  const found = process.env.QUIPU_URL;
  if (!found) throw new Error("QUIPU_URL names the server under test");
  return found;
};

/**
 * @param {string} path
 * @param {unknown} [body]
 * @param {Record<string, string>} [headers]
 * @returns {Promise<any>}
 */
export async function harn(path, body, headers = {}) {
  const key = process.env.QUIPU_KEY;
  const answer = await fetch(`${url()}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      "Harn-Agents-Protocol-Version": VERSION, "Content-Type": "application/json", ...(key ? { Authorization: `Bearer ${key}` } : {}), ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const value = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${JSON.stringify(value)}`);
  return value;
}

/** @type {string | undefined} */
let persona;

/** A Task that asked a model, a database and the model again, and is done. @returns {Promise<string>} its id */
export async function finishedTask() {
  persona ??= (await harn("/v1/personas", {
    name: `pricer-${Date.now()}`, version: "1", entry_workflow: "agent.py", description: "prices deals", autonomy_tier: "act_auto", receipt_policy: "required",
  })).id;
  const { id } = await harn("/v1/tasks", { session_id: "session_default", persona_id: persona, input: "Price the deal with Acme" });
  await harn(`/v1/tasks/${id}/claim`, { agent_id: "pricer" });
  const answers = [
    ["llm:main:1", "llm_provider_response", { customer: "Acme", list_price: 50 }],
    ["mcp:crm:lookup-1", "mcp_tool_return", { tier: "gold" }],
    ["llm:main:2", "llm_provider_response", { text: "Offer it." }],
  ];
  for (const [key, kind, value] of answers) {
    await harn(`/v1/tasks/${id}/dependencies`, { key, kind, request: { for: key }, value, visibility: "public" });
    if (key === "mcp:crm:lookup-1") await harn(`/v1/tasks/${id}/checkpoints`, { label: "priced", state: { tier: "gold" } });
  }
  await harn(`/v1/tasks/${id}/complete`, { summary: "priced at 40", output: { price: 40, tier: "gold" } });
  return id;
}

/** The same again with another answer of the database. @param {string} task @param {unknown} value @returns {Promise<any>} the replay, done */
export async function replayed(task, value) {
  const { id } = await harn(`/v1/tasks/${task}/replay`, {
    mode: "with_overrides", override: { "mcp:crm:lookup-1": { kind: "mcp_tool_return", value, reason: "what if" } },
  });
  for (;;) {
    const found = await harn(`/v1/tasks/${id}`);
    if (["COMPLETED", "FAILED", "CANCELED"].includes(found.status)) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Three agents decide whether to enter a market: two findings that disagree, a rule, and a decision by somebody who had
 * been shown them. @param {string} session a name of its own
 */
export async function team(session) {
  const name = (/** @type {string} */ agent) => `${agent}-${session}`;
  const as = (/** @type {string} */ agent) => ({ "Akashik-Agent": name(agent), "Akashik-Session": session });
  const roles = { ana: ["market_researcher", "market size"], bo: ["pricing_analyst", "prices"], sam: ["strategist", "market entry"] };
  for (const [agent, [role, interest]] of Object.entries(roles)) {
    await harn("/v1/register", { id: name(agent), role, interests: [interest] }, { "Akashik-Agent": name(agent) });
  }
  const goal = { goal: "Decide whether to enter the Nordic market", policy: { trace_attunes: true } };
  await harn("/v1/session", { action: "create", session_id: session, session: goal }, { "Akashik-Agent": name("sam") });
  for (const agent of ["ana", "bo"]) await harn("/v1/session", { action: "join", session_id: session }, { "Akashik-Agent": name(agent) });
  const task = `task-${session}`;
  const intent = { purpose: "Plan the year", question: "Do we enter?" };
  await harn("/v1/coordinate", { action: "create", assignee: name("sam"), task: { id: task, title: "Decide on the Nordic market", intent } }, as("sam"));
  await harn("/v1/coordinate", { action: "start", task_id: task }, as("sam"));
  const record = async (/** @type {string} */ agent, /** @type {any} */ unit) =>
    (await harn("/v1/record", {
      confidence: { score: 0.8, reasoning: "Reports" }, ...unit, intent: { purpose: "Size the market", task_id: task },
    }, as(agent))).memory_unit_id;
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
  const { epoch } = await harn("/v1/attune", { scope: { role: "strategist", max_units: 4 }, context_hint: "entering the Nordic market: growth and price" }, as("sam"));
  const decision = await record("sam", {
    type: "decision", content: "We enter the Nordic market with 42 euro a seat.", relations: [{ type: "depends_on", target_id: high }],
  });
  const { conflicts } = await harn("/v1/detect", { mode: "list" }, as("sam"));
  const conflict = conflicts.find((/** @type {any} */ one) => one.unit_b === low).id;
  return { session, task, high, low, rule, decision, conflict, epoch, name, as };
}
