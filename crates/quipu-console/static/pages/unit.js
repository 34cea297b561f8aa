// One unit: what it says and why, what it rests on, how it came to stand as it does, and the proof that it was committed.

import { get, may, post, whoIsThis } from "../api.js";
import { h, replace, s, said } from "../dom.js";
import { plain, short, when } from "../format.js";
import { checkProof } from "../proof.js";
import { go, href } from "../router.js";
import { agentLink, confidence, facts, failure, hash, moment, panel, prose, statusTag, typeTag } from "../widgets.js";

/** @param {import("../app.js").Context} context @param {string} id */
export async function showUnit({ root, actions, signal }, id) {
  const unit = await get(`/v1/units/${encodeURIComponent(id)}`, { signal });
  if (signal.aborted) return;
  actions.append(h("button", { type: "button", onclick: () => history.back() }, "Back"),
    h("button", { type: "button", onclick: () => go("replay", [unit.type === "decision" ? "decision" : "memory_unit", id]) }, "How it came about"));
  const { source, intent } = unit;
  const text = h("section", { class: "panel", "aria-label": "What it says" },
    h("div", { class: "panel-head" }, h("span", null, typeTag(unit.type), " ", statusTag(unit.status), unit.archived ? statusTag("archived") : null, unit.mode === "draft" ? statusTag("draft") : null), h("span", { class: "mono muted" }, hash(unit.id, 40))),
    h("div", { class: "unit-text" }, prose(unit.content)));
  const about = panel("Why, by whom, how sure", facts([
    ["Purpose", prose(intent.purpose)],
    ["Question", intent.question && said(intent.question)],
    ["Recorded by", [agentLink(source.agent_id), " as ", said(source.agent_role)]],
    ["When", [when(source.timestamp), " (", moment(source.timestamp), `), epoch ${unit.epoch}`]],
    ["Task", intent.task_id && h("a", { href: href("memory", [], { task: intent.task_id }) }, said(intent.task_id))],
    ["Session", source.session_id && h("a", { href: href("memory", [], { session: source.session_id }) }, said(source.session_id))],
    ["Confidence", unit.confidence ? [confidence(unit.confidence.score), " ", said(unit.confidence.reasoning ?? "")] : null],
    ["Evidence", texts(unit.confidence?.evidence)],
    ["Assumptions", texts(unit.confidence?.assumptions)],
  ]));
  const relations = h("div");
  const told = h("div", null, h("p", { class: "muted" }, "Reading the log…"));
  const proof = h("div");
  root.append(text, h("div", { class: "grid two" }, about, panel("Relations", relations)),
    h("div", { class: "grid two" }, panel("History", told), panel("Proof that it was committed", proof)));
  replace(relations, h("p", { class: "muted" }, "…"));
  offerProof(proof, unit, signal);
  await Promise.all([tellHistory(unit, signal).then((story) => drawHistory(told, story)), drawRelations(relations, unit, signal)]);
}

/** @param {unknown[] | undefined} entries */
function texts(entries) {
  if (!entries?.length) return null;
  return h("ul", null, entries.map((entry) => h("li", null, said(typeof entry === "string" ? entry : JSON.stringify(entry)))));
}

/**
 * The events about a unit. REPLAY is asked by an agent: the key's own, or one that is registered.
 * @param {any} unit @param {AbortSignal} signal @returns {Promise<any | null>}
 */
async function tellHistory(unit, signal) {
  try {
    const me = whoIsThis();
    const { agents } = await get("/v1/agents", { signal });
    const ids = agents.map((/** @type {any} */ agent) => agent.id);
    const agent = me && me.agent !== "*" ? me.agent : ids.includes(unit.source.agent_id) ? unit.source.agent_id : ids[0];
    if (!agent) return null;
    const body = { target_type: "memory_unit", target_id: unit.id, depth: "full_trace", explain: true };
    return await post("/v1/replay", body, { agent, session: unit.source.session_id ?? undefined, signal });
  } catch {
    return null;
  }
}

/** @param {HTMLElement} place @param {any | null} story */
function drawHistory(place, story) {
  if (!story) {
    replace(place, h("p", { class: "muted" }, "No registered agent of this Field can be asked for its history."));
    return;
  }
  const events = story.timeline ?? [];
  replace(place, h("ol", { class: "history" }, events.slice(-40).map((/** @type {any} */ event) =>
    h("li", null, h("div", null, event.agent_id ? agentLink(event.agent_id) : null, " ", said(event.summary ?? event.description ?? event.event_type ?? "")),
      h("div", { class: "muted small" }, `epoch ${event.epoch}${event.timestamp ? `, ${when(event.timestamp)}` : ""}`)))));
}

/**
 * The unit, what it relates to, and what relates to it, as a small drawing.
 * @param {HTMLElement} place @param {any} unit @param {AbortSignal} signal
 */
async function drawRelations(place, unit, signal) {
  const out = unit.relations.map((/** @type {any} */ relation) => ({ kind: relation.type, id: relation.target_id, outward: true }));
  const { units: others } = await get("/v1/units", { query: { relates_to: unit.id, limit: 12, content_chars: 100 }, signal });
  const known = new Map(others.map((/** @type {any} */ other) => [other.id, other]));
  const missing = out.map((/** @type {any} */ edge) => edge.id).filter((/** @type {string} */ id) => !known.has(id)).slice(0, 12);
  await Promise.all(missing.map(async (/** @type {string} */ id) => {
    const other = await get(`/v1/units/${encodeURIComponent(id)}`, { signal }).catch(() => null);
    if (other) known.set(id, other);
  }));
  if (signal.aborted) return;
  const inward = others.flatMap((/** @type {any} */ other) => other.relations
    .filter((/** @type {any} */ relation) => relation.target_id === unit.id)
    .map((/** @type {any} */ relation) => ({ kind: relation.type, id: other.id, outward: false })));
  const edges = [...out, ...inward].slice(0, 12);
  if (edges.length === 0) {
    replace(place, h("p", { class: "muted" }, "It names no other unit, and none names it."));
    return;
  }
  replace(place, graph(edges, known));
}

const [WIDE, LINE, BOX] = [540, 44, 196];

/** @param {{ kind: string, id: string, outward: boolean }[]} edges @param {Map<string, any>} known */
function graph(edges, known) {
  const sides = [edges.filter((edge) => !edge.outward), edges.filter((edge) => edge.outward)];
  const [left, right] = [sides[0]?.length ? 0 : WIDE / 2 - 52, sides[1]?.length ? WIDE : WIDE / 2 + 12];
  const rows = Math.max(1, ...sides.map((side) => side.length));
  const height = rows * LINE + 12;
  const middle = height / 2;
  const label = edges.map((edge) => (edge.outward ? `it ${plain(edge.kind)} ${edge.id}` : `${edge.id} ${plain(edge.kind)} it`)).join("; ");
  const drawn = edges.map((edge) => {
    const side = sides[edge.outward ? 1 : 0] ?? [];
    const y = ((side.indexOf(edge) + 0.5) * (rows * LINE)) / side.length + 6;
    const boxX = edge.outward ? WIDE - BOX : 0;
    const [from, to] = edge.outward ? [WIDE / 2 + 10, boxX] : [BOX, WIDE / 2 - 50];
    const [start, end] = edge.outward ? [middle, y] : [y, middle];
    const other = known.get(edge.id);
    const text = other ? short(other.content.replaceAll(/\s+/g, " "), 24) : short(edge.id, 22);
    return [
      s("path", { class: "graph-edge", "marker-end": "url(#arrow)", d: `M${from} ${start} C${(from + to) / 2} ${start} ${(from + to) / 2} ${end} ${to} ${end}` }),
      s("a", { href: href("memory", [edge.id]) }, s("g", { class: "graph-node" },
        s("rect", { x: boxX, y: y - 18, width: BOX, height: 36, rx: 6 }),
        s("text", { x: boxX + 10, y: y - 3, class: "graph-kind" }, edge.outward ? plain(edge.kind) : `${plain(edge.kind)} this`),
        s("text", { x: boxX + 10, y: y + 12 }, text))),
    ];
  });
  return s("svg", { class: "graph", viewBox: `${left} 0 ${right - left} ${height}`, width: right - left, role: "group", "aria-label": label },
    s("defs", null, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { class: "graph-edge", d: "M1 1L7 4L1 7" }))),
    drawn.flat(),
    s("g", { class: "graph-node self" }, s("rect", { x: WIDE / 2 - 50, y: middle - 14, width: 60, height: 28, rx: 6 }), s("text", { x: WIDE / 2 - 20, y: middle + 4, "text-anchor": "middle" }, "this")));
}

/** @param {HTMLElement} place @param {any} unit @param {AbortSignal} signal */
function offerProof(place, unit, signal) {
  if (!may(8)) {
    replace(place, h("p", { class: "muted" }, "A proof names what was committed in whatever session, so it takes a key of authority 8."));
    return;
  }
  const check = async () => {
    replace(place, h("p", { class: "muted" }, "Fetching the proof and checking it here…"));
    try {
      const position = await findCommit(unit, signal);
      const [text, verifier] = await Promise.all([
        get("/v1/log/inclusion", { query: { position }, as: "text", signal }), get("/v1/log/key", { as: "text", signal })]);
      const steps = await checkProof(text, verifier, { position, unit: unit.id });
      const file = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
      replace(place, h("ol", { class: "steps" }, steps.map((step) => {
        const [name, mark] = step.holds === null ? ["skipped", "–"] : step.holds ? ["good", "✓"] : ["bad", "✗"];
        return h("li", { class: name }, h("span", { class: "mark", "aria-label": name }, mark), h("div", null, step.name, h("div", { class: "muted small mono" }, said(step.detail))));
      })), h("p", { class: "small" }, h("a", { href: file, download: `commit-${position}.proof` }, "Save the proof"), " and check it anywhere with ", h("code", null, "quipu verify --proof"), "."));
    } catch (error) {
      replace(place, failure(error, check));
    }
  };
  replace(place, h("p", { class: "muted" }, "The proof is fetched from the server and checked here, in your browser: the commit's hash, its place in the tree, the signature."),
    h("button", { type: "button", onclick: check }, "Check the proof"));
}

/** The commit that recorded a unit: epochs rise along the log. @param {any} unit @param {AbortSignal} signal */
async function findCommit(unit, signal) {
  const at = async (/** @type {number} */ from) => (await get("/v1/log", { query: { from, limit: 1 }, signal })).commits[0];
  let [low, high] = [1, (await get("/v1/log", { query: { limit: 1 }, signal })).head.position];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const commit = await at(middle);
    if (commit && commit.header.epoch < unit.epoch) low = middle + 1;
    else high = middle;
  }
  return low;
}
