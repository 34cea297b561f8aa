// Conflicts as the console has them: which there are, the two units of one, and who wrote them.

import { get, list, post } from "../api.js";
import { agents, reader, registered, within } from "../speaker.js";

/**
 * @typedef {object} Conflict
 * @property {string} id
 * @property {string} type
 * @property {string} status
 * @property {string} unit_a the older unit
 * @property {string} unit_b the newer unit
 * @property {string} description
 * @property {string} detected_by
 * @property {{ strategy: string, winner_id?: string | null, rationale: string, resolved_by: string, epoch_resolved: number }} [resolution]
 */
/** @typedef {{ conflict: Conflict, a: any, b: any, authors: Map<string, number> }} Case the units, and the authority of agents */
/** @typedef {{ agent: string, choice: string, why: string, epoch: number }} Ballot */

/** @returns {Promise<Conflict[]>} what is not settled, the newest first */
export async function openConflicts() {
  const { conflicts } = await get("/v1/conflicts");
  return conflicts.filter((/** @type {Conflict} */ one) => one.status !== "resolved").reverse();
}

/** What was settled in every session, and in none, the last first. @returns {Promise<Conflict[]>} */
export async function settledConflicts() {
  const sessions = await list("/v1/sessions").catch(() => []);
  const names = [undefined, ...sessions.map((session) => within(session.id)).filter(Boolean)];
  const found = await Promise.all(names.map((name) => settledIn(name).catch(() => [])));
  return [...new Map(found.flat().map((conflict) => [conflict.id, conflict])).values()]
    .sort((x, y) => (y.resolution?.epoch_resolved ?? 0) - (x.resolution?.epoch_resolved ?? 0));
}

/** @param {string | undefined} session @returns {Promise<Conflict[]>} */
async function settledIn(session) {
  const agent = await reader();
  const asked = { mode: "list", filter: { status: ["resolved"] } };
  const { conflicts } = await post("/v1/detect", asked, { agent, ...(session ? { session } : {}) });
  return conflicts;
}

/** @param {string} id @returns {Promise<Conflict | undefined>} */
export async function findConflict(id) {
  const is = (/** @type {Conflict} */ one) => one.id === id;
  return (await openConflicts()).find(is) ?? (await settledConflicts()).find(is);
}

/** @param {Conflict} conflict @returns {Promise<Case>} */
export async function open(conflict) {
  const [a, b, known] = await Promise.all([unit(conflict.unit_a), unit(conflict.unit_b), agents()]);
  return { conflict, a, b, authors: new Map(known.map((agent) => [agent.id, agent.authority_level])) };
}

/** @param {string} id */
const unit = (id) => get(`/v1/units/${encodeURIComponent(id)}`);

/** The session to speak in about a conflict. @param {Case} found */
export const sessionOf = ({ a, b }) => within(b.source.session_id ?? a.source.session_id);

/** Who voted for what so far; the last ballot of an agent counts. @param {Case} found @returns {Promise<Ballot[]>} */
export async function ballots(found) {
  if (found.conflict.status !== "resolving") return [];
  const session = sessionOf(found);
  const asked = { target_type: "conflict", target_id: found.conflict.id, depth: "full_trace" };
  const { timeline } = await post("/v1/replay", asked, { agent: await reader(), ...(session ? { session } : {}) });
  /** @type {Map<string, Ballot>} */
  const last = new Map();
  for (const event of timeline) {
    if (event.event_type !== "MERGE" || !event.description.startsWith("Voted for") || !event.memory_unit_id) continue;
    const why = event.description.slice(event.description.indexOf(event.memory_unit_id) + event.memory_unit_id.length).replace(/^: /, "");
    last.set(event.agent_id, { agent: event.agent_id, choice: event.memory_unit_id, why, epoch: event.epoch });
  }
  return [...last.values()];
}

/**
 * MERGE, or what would come of it.
 * @param {Case} found
 * @param {{ strategy: string, rationale: string, winner?: string, synthesis?: string, dryRun?: boolean }} how
 */
export async function merge(found, { strategy, rationale, winner, synthesis, dryRun }) {
  const session = sessionOf(found);
  const resolution = { rationale, ...(winner ? { winner_id: winner } : {}), ...(synthesis ? { synthesis } : {}) };
  const asked = { conflict_id: found.conflict.id, strategy, resolution, ...(dryRun ? { dry_run: true } : {}) };
  return post("/v1/merge", asked, { agent: await (dryRun ? reader() : registered()), ...(session ? { session } : {}) });
}
