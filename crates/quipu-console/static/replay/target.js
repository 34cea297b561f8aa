// What can be replayed, where it belongs, and the question that REPLAY is asked.

import { get, list, post } from "../api.js";
import { findConflict, openConflicts } from "../conflict/list.js";
import { reader, within } from "../speaker.js";
import { newestTasks } from "../task/read.js";

/** @typedef {import("../lanes.js").Entry} Entry */
/** @typedef {{ timeline: Entry[], summary: string, agents_involved: string[], total_events: number, warnings?: string[] }} Story */
/** @typedef {{ id: string, text: string, note: string }} Offer */

/** @type {[string, string][]} kind and name */
export const KINDS = [["decision", "Decision"], ["memory_unit", "Unit"], ["conflict", "Conflict"], ["task", "Task"], ["session", "Session"]];

/** @param {string} kind @param {string} id @returns {Promise<string | undefined>} the session to speak in */
async function sessionOf(kind, id) {
  if (kind === "session") return within(id);
  if (kind === "task") return within((await get(`/v1/tasks/${encodeURIComponent(id)}`).catch(() => null))?.session_id);
  if (kind !== "conflict") return unitSession(id);
  const conflict = await findConflict(id);
  return conflict && (await unitSession(conflict.unit_b));
}

/** @param {string} id */
const unitSession = async (id) => within((await get(`/v1/units/${encodeURIComponent(id)}`)).source.session_id);

/** @param {string} kind @param {string} id @param {string} depth @returns {Promise<Story>} */
export async function tell(kind, id, depth) {
  const [session, agent] = await Promise.all([sessionOf(kind, id), reader()]);
  return post("/v1/replay", { target_type: kind, target_id: id, depth, explain: true }, { agent, ...(session ? { session } : {}) });
}

/** What there is to choose from, the newest first. @param {string} kind @returns {Promise<Offer[]>} */
export async function offers(kind) {
  if (kind === "decision" || kind === "memory_unit") {
    const query = { ...(kind === "decision" ? { type: "decision" } : {}), limit: 12, content_chars: 160 };
    const { units } = await get("/v1/units", { query });
    return units.map((/** @type {any} */ unit) => ({ id: unit.id, text: unit.content, note: `${unit.source.agent_id}, epoch ${unit.epoch}` }));
  }
  if (kind === "conflict") {
    return (await openConflicts()).slice(0, 12).map((one) => ({ id: one.id, text: one.description, note: `${one.type}, ${one.status}` }));
  }
  if (kind === "task") {
    return (await newestTasks()).slice(0, 12).map((/** @type {any} */ task) => ({ id: task.id, text: inputText(task) || task.id, note: task.status.toLowerCase() }));
  }
  const sessions = (await list("/v1/sessions", {}, 200)).filter((session) => within(session.id));
  return sessions.slice(0, 12).map((session) => ({ id: session.id, text: session.summary ?? session.id, note: session.state.toLowerCase() }));
}

/** What a Task was asked, in words. @param {any} task @returns {string} */
export function inputText(task) {
  const parts = task.input?.parts ?? [];
  return parts.map((/** @type {any} */ part) => part.text ?? (part.value === undefined ? "" : JSON.stringify(part.value))).filter(Boolean).join(" · ");
}

/** A unit's text, or why it is not there. @param {string} id @returns {Promise<any>} */
export const unitOf = (id) => get(`/v1/units/${encodeURIComponent(id)}`).catch(() => null);
