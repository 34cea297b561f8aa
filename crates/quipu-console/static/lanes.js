// Where the entries of a timeline stand in a drawing of lanes, one for each agent, and which links lead from one to
// another. Numbers only: nothing is drawn here.

/**
 * @typedef {object} Entry an event of a REPLAY answer
 * @property {number} epoch
 * @property {string} event_type
 * @property {string} agent_id
 * @property {string} description
 * @property {string | null} memory_unit_id
 * @property {string | null} task_id
 * @property {string} [timestamp]
 * @property {Links} [links]
 */
/** @typedef {{ about: string[], rests_on: string[], shown?: { memory_unit_id: string, relevance_score: number }[] }} Links */
/** @typedef {{ index: number, lane: number, row: number, entry: Entry }} Spot */
/** @typedef {{ from: number, to: number, kind: "rests on" | "shown", id: string }} Arc from the cause to what rests on it */
/** @typedef {{ lanes: string[], spots: Spot[], arcs: Arc[], rows: number }} Layout */

/** The Field's own lane is the last one. */
const FIELD = "system";

/**
 * One row for each epoch, one lane for each agent in the order of first appearance.
 * @param {Entry[]} timeline in the order of the log
 * @returns {Layout}
 */
export function layout(timeline) {
  const agents = [...new Set(timeline.map((entry) => entry.agent_id))];
  const lanes = [...agents.filter((agent) => agent !== FIELD), ...agents.filter((agent) => agent === FIELD)];
  /** @type {Spot[]} */
  const spots = [];
  let row = -1;
  /** @type {Set<number>} the lanes that the last row has a card in */
  const taken = new Set();
  timeline.forEach((entry, index) => {
    const before = spots[index - 1];
    const lane = lanes.indexOf(entry.agent_id);
    if (before?.entry.epoch !== entry.epoch || taken.has(lane)) {
      row += 1;
      taken.clear();
    }
    taken.add(lane);
    spots.push({ index, lane, row, entry });
  });
  return { lanes, spots, arcs: arcs(timeline), rows: row + 1 };
}

/** Entries that make what they are about; a task is made once and moved often. */
const MAKES = new Set(["RECORD", "CONFLICT_CREATED", "ATTUNE"]);

/**
 * The links between entries: each id leads to the entry that made it, a task to where it last stood, an ATTUNE also to
 * the units that it showed.
 * @param {Entry[]} timeline
 * @returns {Arc[]}
 */
export function arcs(timeline) {
  /** @type {Map<string, number>} the entry that an id leads to */
  const places = new Map();
  /** @type {Set<string>} */
  const made = new Set();
  /** @type {Arc[]} */
  const found = [];
  timeline.forEach((entry, to) => {
    const links = entry.links ?? { about: [], rests_on: [] };
    /** @type {Set<number>} */
    const linked = new Set();
    const link = (/** @type {string} */ id, /** @type {Arc["kind"]} */ kind) => {
      const from = places.get(id);
      if (from === undefined || from === to || linked.has(from)) return;
      linked.add(from);
      found.push({ from, to, kind, id });
    };
    for (const id of links.rests_on) link(id, "rests on");
    for (const shown of links.shown ?? []) link(shown.memory_unit_id, "shown");
    for (const id of links.about) link(id, "rests on");
    for (const id of links.about) {
      if (!made.has(id)) places.set(id, to);
      if (MAKES.has(entry.event_type)) made.add(id);
    }
  });
  return found;
}

/**
 * Everything that an entry rests on, directly and further back.
 * @param {Arc[]} all
 * @param {number} index
 * @returns {Set<number>}
 */
export function causes(all, index) {
  /** @type {Map<number, number[]>} */
  const grounds = new Map();
  for (const arc of all) grounds.set(arc.to, [...(grounds.get(arc.to) ?? []), arc.from]);
  const found = new Set([index]);
  const waiting = [index];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const from of grounds.get(next) ?? []) {
      if (found.has(from)) continue;
      found.add(from);
      waiting.push(from);
    }
  }
  return found;
}
