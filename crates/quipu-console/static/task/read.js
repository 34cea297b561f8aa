// Tasks as the console has them: their events, and what was recorded in them under keys and at checkpoints.

import { get, list, may } from "../api.js";

/** @typedef {{ key: string, kind: string, event_id: string, sha256?: string, value?: unknown, artifact_id?: string, known: boolean }} Answer */
/** @typedef {{ id: string, label: string, event_id: string }} Checkpoint */
/** @typedef {{ answers: Answer[], checkpoints: Checkpoint[] }} Recording */

export const ENDED = ["COMPLETED", "FAILED", "CANCELED"];
export const WORK = 4;
const EXPORT = 8;
const EVENTS_MOST = 5000;
const TASKS_MOST = 10_000;

/** @param {string} id */
export const path = (id) => `/v1/tasks/${encodeURIComponent(id)}`;

/** @param {string} id @returns {Promise<any>} */
export const readTask = (id) => get(path(id));

/** @param {any} task */
export const hasEnded = (task) => ENDED.includes(task.status);

/** All events of a Task, or those behind one. @param {string} id @param {string} [after] @returns {Promise<any[]>} */
export async function readEvents(id, after) {
  /** @type {any[]} */
  const found = [];
  let last = after;
  for (;;) {
    const page = await get(`${path(id)}/events`, { query: { limit: 200, after_event_id: last } });
    found.push(...page.data);
    if (!page.has_more || page.data.length === 0 || found.length >= EVENTS_MOST) return found;
    last = page.data.at(-1).id;
  }
}

/** @param {string} id @returns {Promise<any | null>} the Task as one document, where the key may have it */
export const exported = (id) => (may(EXPORT) ? get(`${path(id)}/export`).catch(() => null) : Promise.resolve(null));

/** What was recorded. Values are there for keys that may have them. @param {any} task @param {any[]} events @returns {Promise<Recording>} */
export async function recording(task, events) {
  const whole = hasEnded(task) ? await exported(task.id) : null;
  /** @type {Map<string, any>} */
  const values = new Map();
  for (const event of whole?.events ?? []) if (event.dependency) values.set(event.dependency.key, event.dependency);
  const answers = events.filter((event) => event.event === "vendor.dependency.recorded").map((event) => {
    const { key, kind, sha256 } = event.payload;
    const full = values.get(key);
    return { key, kind, sha256: full?.sha256 ?? sha256, event_id: event.id, value: full?.value, artifact_id: full?.artifact_id, known: full?.value !== undefined };
  });
  const checkpoints = events.filter((event) => event.event === "vendor.checkpoint.created")
    .map((event) => ({ id: event.payload.checkpoint_id, label: event.payload.label, event_id: event.id }));
  return { answers, checkpoints };
}

/** Tasks, the newest first; lists of the protocol have the oldest first. @param {string | null} [session] @returns {Promise<any[]>} */
export const newestTasks = async (session) => (await list("/v1/tasks", { query: { session_id: session } }, TASKS_MOST)).reverse();

/** The replays of a Task. @param {any} task @returns {Promise<any[]>} */
export async function replaysOf(task) {
  const all = await newestTasks(task.session_id).catch(() => []);
  return all.filter((one) => one.parent_task_id === task.id);
}

/** What was recorded under each key, from a Task as one document. @param {any} whole @returns {Map<string, unknown>} */
export function valuesByKey(whole) {
  /** @type {Map<string, unknown>} */
  const values = new Map();
  for (const { dependency } of whole?.events ?? []) if (dependency?.value !== undefined) values.set(dependency.key, dependency.value);
  return values;
}

/** @param {string} id @returns {Promise<any | null>} */
export async function outcomeOf(id) {
  const { data } = await get("/v1/outcomes", { query: { task_id: id } }).catch(() => ({ data: [] }));
  return data.at(-1) ?? null;
}

/** Waits until a Task has ended. @param {string} id @param {AbortSignal} signal @returns {Promise<any>} */
export async function ended(id, signal) {
  for (;;) {
    const task = await readTask(id);
    if (hasEnded(task) || signal.aborted) return task;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** A value as people read it. @param {unknown} value */
export const pretty = (value) => (value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 1));
