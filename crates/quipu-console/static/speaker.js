// For whom the console speaks where an operation of Akashik needs an agent: the key's own, or for a key of any agent the
// name that it has by the other protocol. It is registered at the first need.

import { get, may, post, whoIsThis } from "./api.js";

/** @typedef {{ id: string, role: string, status: string, interests?: string[], authority_level: number, current_task_id?: string }} Agent */

const ROLE = "human_operator";
const SEES_ALL = 10;

/** @type {Map<string, Promise<string>>} by who speaks: another key may have been given */
const registering = new Map();

/** Who speaks. */
export function speaker() {
  const me = whoIsThis();
  if (!me || (me.agent === "*" && me.authority >= SEES_ALL)) return "operator";
  return me.agent === "*" ? `key-${me.key_id}` : me.agent;
}

/** @param {string} [session] whose agents to list, besides those of none @returns {Promise<Agent[]>} */
export async function agents(session) {
  const { agents: found } = await get("/v1/agents", session ? { session } : {});
  return found;
}

/**
 * Who asks where nothing is written: who speaks if it takes part, else an agent that sees everything, so that looking
 * registers nobody.
 * @returns {Promise<string>}
 */
export async function reader() {
  const id = speaker();
  const known = await agents();
  if (known.some((agent) => agent.id === id)) return id;
  const seesAll = whoIsThis()?.agent === "*" && may(SEES_ALL) && known.find((agent) => agent.authority_level === SEES_ALL);
  return seesAll ? seesAll.id : registered();
}

/** Who speaks, registered. @returns {Promise<string>} */
export function registered() {
  const id = speaker();
  const begun = registering.get(id) ?? register(id);
  registering.set(id, begun);
  begun.catch(() => registering.delete(id));
  return begun;
}

/** @param {string} id */
async function register(id) {
  const known = await agents();
  if (!known.some((agent) => agent.id === id)) await post("/v1/register", { id, role: ROLE }, { agent: id });
  return id;
}

/** The session to speak in about something. @param {string | null | undefined} session */
export const within = (session) => (session && session !== "session_default" ? session : undefined);
