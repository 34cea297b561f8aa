// A real server of its own for a test: started, stopped, started again on the same data and port.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const HARN = "agents-protocol-2026-04-25";

/** @returns {string} the binary under test */
function binary() {
  const found = process.env.QUIPU_BIN;
  if (!found) throw new Error("QUIPU_BIN names the binary under test");
  return found;
}

/** @param {() => Promise<any> | any} look @param {string} what @param {number} [ms] */
export async function until(look, what, ms = 30_000) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

export class Server {
  /** @param {{ dev?: boolean }} [options] */
  static async start(options = {}) {
    const server = new Server();
    server.dev = options.dev ?? true;
    server.data = await mkdtemp(join(tmpdir(), "quipu-console-"));
    server.listen = "127.0.0.1:0";
    await server.run();
    return server;
  }

  async run() {
    const args = ["serve", "--data", this.data, "--listen", this.listen, ...(this.dev ? ["--dev"] : [])];
    this.process = spawn(binary(), args, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    this.process.stdout.on("data", (text) => (said += text));
    this.process.stderr.on("data", (text) => (said += text));
    const found = await until(() => /listens on (http:\/\/(\S+))/.exec(said), "the server listens");
    this.url = found[1];
    this.listen = found[2];
    this.key ??= /quipu_\w{8}_[\w-]{43}/.exec(said)?.[0] ?? "";
  }

  async stop() {
    const running = this.process;
    if (!running || running.exitCode !== null) return;
    running.kill("SIGTERM");
    await new Promise((resolve) => running.once("exit", resolve));
  }

  async end() {
    await this.stop();
    await rm(this.data, { recursive: true, force: true });
  }

  /**
   * @param {string} path
   * @param {unknown} [body]
   * @param {string} [agent]
   * @param {{ method?: string, key?: string, session?: string }} [options]
   * @returns {Promise<any>}
   */
  async call(path, body, agent, options = {}) {
    const key = options.key ?? this.key;
    const answer = await fetch(this.url + path, {
      method: options.method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        "Harn-Agents-Protocol-Version": HARN,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...(agent ? { "Akashik-Agent": agent } : {}), ...(options.session ? { "Akashik-Session": options.session } : {}), ...(key ? { Authorization: `Bearer ${key}` } : {}),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const value = await answer.json();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${JSON.stringify(value)}`);
    return value;
  }

  /** @param {string} id @param {string} role */
  register(id, role) {
    return this.call("/v1/register", { id, role, interests: [] });
  }

  /** @param {string} agent @param {string} content @param {Record<string, unknown>} [more] @returns {Promise<string>} the unit's id */
  async record(agent, content, more = {}) {
    const unit = { type: "finding", content, intent: { purpose: "Size the market" }, confidence: { score: 0.8, reasoning: "Two reports agree" }, ...more };
    return (await this.call("/v1/record", unit, agent)).memory_unit_id;
  }

  /** Three agents that size a market: findings, a conflict, an assumption, a decision. @returns {Promise<Record<string, string>>} */
  async team() {
    await this.call("/v1/register", { id: "ana", role: "market_researcher", interests: ["cargo bikes", "Europe"] });
    await this.call("/v1/register", { id: "ben", role: "analyst", interests: ["pricing"] });
    await this.call("/v1/register", { id: "sam", role: "strategist", interests: ["launch"] });
    const growth = await this.record("ana", "The European market for cargo bikes grows by 23 percent a year.", { intent: { purpose: "Size the market", task_id: "task-eu", question: "How fast does the market grow?" }, confidence: { score: 0.82, reasoning: "Two trade reports agree", evidence: ["Cycling Industries Europe 2025", "Velo Report Q3"], assumptions: ["Subsidies stay in place"] } });
    const shrink = await this.record("ben", "The European market for cargo bikes shrinks by 4 percent a year.", { intent: { purpose: "Check the growth figure", task_id: "task-eu" }, confidence: { score: 0.55, reasoning: "One dealer survey" }, relations: [{ type: "contradicts", target_id: growth }] });
    await this.record("ben", "A family spends about 4,800 euros on a cargo bike.", { intent: { purpose: "Find the price point", task_id: "task-price" }, confidence: { score: 0.74, reasoning: "Shop prices" } });
    await this.record("ana", "Cities will go on building bike lanes.", { type: "assumption", intent: { purpose: "State what the plan rests on" }, confidence: { score: 0.6, reasoning: "Published plans" } });
    await this.record("sam", "Never promise delivery before the battery is certified.", { type: "constraint", intent: { purpose: "Keep to the law" }, confidence: { score: 0.97, reasoning: "Regulation EN 15194" } });
    const decision = await this.record("sam", "We launch the family model in Utrecht and Copenhagen first.", { type: "decision", intent: { purpose: "Choose the first cities", task_id: "task-launch" }, confidence: { score: 0.7, reasoning: "Growth and price fit" }, relations: [{ type: "depends_on", target_id: growth }] });
    return { growth, shrink, decision };
  }
}
