// Calls every method of Harn's TypeScript SDK against a server, by the table `methods.json`.
//
//   node check_typescript.mjs CHECKOUT URL KEY
//
// CHECKOUT is a checkout of burin-labs/harn-sdk-typescript that was built (`tsc -p tsconfig.json`). Prints a row for each method,
// and exits with 1 if one fails or is not in the table.

import { readFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const TABLE = JSON.parse(readFileSync(new URL("methods.json", import.meta.url), "utf8"));
const [checkout, url, key] = process.argv.slice(2);
console.warn = () => {};
const harn = await import(pathToFileURL(resolve(checkout, "dist/index.js")));

const known = { run: randomUUID().slice(0, 8) };
/** What the SDK asked last. */
let asked = "";
const client = new harn.HarnClient({
  baseUrl: url,
  accessToken: key,
  fetch: (target, init) => {
    asked = `${init.method} ${new URL(target).pathname}`;
    return fetch(target, init);
  },
});

function filled(value) {
  if (typeof value === "string") {
    const names = Object.keys(known).sort((one, other) => other.length - one.length);
    return names.reduce((text, name) => text.replaceAll(`$${name}`, known[name]), value);
  }
  if (Array.isArray(value)) return value.map(filled);
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each)]));
  }
  return value;
}

const camel = (name) => name.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase());
const at = (answer, pointer) => pointer.split("/").slice(1).reduce((found, word) => found[word], answer);

async function check(step, answer) {
  if (step.answers !== undefined) {
    const text = await answer.text();
    if (text !== step.answers) throw new Error(`${text} and not ${step.answers}`);
    return;
  }
  for (const [name, value] of Object.entries(filled(step.has ?? {}))) {
    if (JSON.stringify(answer[name]) !== JSON.stringify(value)) {
      throw new Error(`${name}: ${JSON.stringify(answer[name])} and not ${JSON.stringify(value)}`);
    }
  }
  for (const [name, pointer] of Object.entries(step.save ?? {})) known[name] = at(answer, pointer);
}

async function raw(method, path, body) {
  const headers = { Authorization: `Bearer ${key}`, "Harn-Agents-Protocol-Version": harn.HARN_PROTOCOL_VERSION };
  const response = await fetch(new URL(filled(path), url), { method, headers, body });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function wait(step) {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
    const found = await raw("GET", step.wait);
    if (Object.entries(step.until).every(([name, value]) => found[name] === value)) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`${step.wait} is never ${JSON.stringify(step.until)}`);
}

async function call(step) {
  const query = Object.entries(filled(step.query ?? {})).map(([name, value]) => [camel(name), value]);
  const options = Object.fromEntries(query);
  if (step.method === "POST") options.idempotencyKey = randomUUID();
  const body = step.body === undefined ? [] : [filled(step.body)];
  const answer = client[step.typescript](...filled(step.args ?? []), ...body, options);
  if (!step.stream) return answer;
  const abort = new AbortController();
  for await (const event of client[step.typescript](...filled(step.args ?? []), { ...options, signal: abort.signal })) {
    abort.abort();
    return event;
  }
}

const results = new Map();
const routes = new Map();
for (const step of TABLE) {
  const name = step.typescript;
  try {
    if (step.wait) await wait(step);
    else if (!name) await check(step, await raw(step.method, step.path, step.text ?? (step.body && JSON.stringify(filled(step.body)))));
    else {
      routes.set(name, `${step.method} ${step.path}`);
      await check(step, await call(step));
      const route = new RegExp(`^${step.method} ${step.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
      if (!route.test(asked)) throw new Error(`it asks ${asked}`);
      if (!results.has(name)) results.set(name, "works");
    }
  } catch (error) {
    results.set(name ?? step.path ?? step.wait, `FAILS: ${error.message}`);
  }
}

// The helpers that talk to the server.
async function helper(name, route, work) {
  routes.set(name, route);
  try {
    await work();
    results.set(name, "works");
  } catch (error) {
    results.set(name, `FAILS: ${error.message}`);
  }
}
await helper("waitForTask", "GET /v1/tasks/{task_id}", async () => {
  const task = await harn.waitForTask(client, known.task, { timeoutMs: 5000 });
  if (!harn.isTerminalTaskStatus(task.status)) throw new Error(task.status);
});
await helper("pollForApproval", "GET /v1/tasks/{task_id}", async () => {
  await harn.pollForApproval(client, known.task, { timeoutMs: 5000, throwOnTerminal: false });
});
await helper("connectTaskEventsWebSocket", "GET /v1/tasks/{task_id}/stream (WebSocket)", async () => {
  const protocols = [`bearer.${key}`, harn.HARN_PROTOCOL_VERSION];
  const socket = harn.connectTaskEventsWebSocket(url, known.task, { protocols, WebSocket: globalThis.WebSocket });
  await new Promise((done, failed) => {
    socket.onmessage = ({ data }) => (JSON.parse(data).type === "event" ? done() : undefined);
    socket.onerror = () => failed(new Error("no connection"));
    setTimeout(() => failed(new Error("nothing came")), 5000);
  });
  socket.close();
});

const inner = new Set(["constructor", "streamEventsPath", "request", "rawRequest", "buildUrl"]);
for (const name of Object.getOwnPropertyNames(harn.HarnClient.prototype)) {
  if (!inner.has(name) && !results.has(name)) results.set(name, "FAILS: not in the table");
}
console.log("| method | route | result |\n|---|---|---|");
for (const [name, route] of routes) console.log(`| \`${name}\` | \`${route}\` | ${results.get(name)} |`);
const failed = [...results].filter(([, said]) => said !== "works");
for (const [name, said] of failed) console.error(`${name}: ${said}`);
process.exit(failed.length > 0 ? 1 : 0);
