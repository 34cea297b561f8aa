// Differences of two texts, and the layout of timelines: what must hold whatever the input.

import assert from "node:assert/strict";
import { test } from "node:test";
import { diff, words } from "../static/diff.js";
import { arcs, causes, layout } from "../static/lanes.js";

/** Numbers that look random and are the same each time. @param {number} seed */
function numbers(seed) {
  let state = seed;
  return (/** @type {number} */ below) => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

const whole = (/** @type {{ text: string }[]} */ pieces) => pieces.map((piece) => piece.text).join("");
const marked = (/** @type {{ text: string, same: boolean }[]} */ pieces) =>
  pieces.filter((piece) => !piece.same).map((piece) => piece.text.trim());

test("only the words that differ are marked", () => {
  const found = diff("The market grows by 23% a year.", "The market grows by 14% a year.");
  assert.deepEqual([marked(found.left), marked(found.right)], [["23%"], ["14%"]]);
  const added = diff("It is supported.", "It is not supported.");
  assert.deepEqual([marked(added.left), marked(added.right)], [[], ["not"]]);
});

test("the pieces of a text give the text again, and what is the same is the same", () => {
  const draw = numbers(7);
  const parts = ["a", "b ", " c", "23%", "é", "😀", "\n", "  ", "‮", "<b>", "."];
  for (let round = 0; round < 300; round += 1) {
    const text = () => Array.from({ length: draw(12) }, () => parts[draw(parts.length)]).join("");
    const [left, right] = [text(), text()];
    assert.equal(words(left).join(""), left);
    const found = diff(left, right);
    assert.equal(whole(found.left), left);
    assert.equal(whole(found.right), right);
    const kept = (/** @type {any[]} */ pieces) => pieces.filter((piece) => piece.same).flatMap((piece) => words(piece.text)).map((word) => word.trim()).filter(Boolean);
    assert.deepEqual(kept(found.left), kept(found.right), JSON.stringify([left, right]));
  }
});

test("two long texts are compared in time", () => {
  const left = "alpha beta ".repeat(100_000);
  const found = diff(left, `x ${left.slice(0, -5)} y`);
  assert.equal(whole(found.left), left);
});

/** @param {string} agent @param {number} epoch @param {string[]} about @param {string[]} [rests_on] @param {string[]} [shown] */
const entry = (agent, epoch, about, rests_on = [], shown = []) => ({
  epoch, event_type: "RECORD", agent_id: agent, description: "", memory_unit_id: null, task_id: null,
  links: { about, rests_on, shown: shown.map((memory_unit_id) => ({ memory_unit_id, relevance_score: 0.5 })) },
});

test("each agent has a lane, the Field the last one, and time goes one way", () => {
  const timeline = [entry("ana", 1, ["m1"]), entry("system", 1, ["c1"]), entry("bo", 2, ["m2"]), entry("bo", 2, ["m3"]), entry("ana", 3, [])];
  const { lanes, spots, rows } = layout(timeline);
  assert.deepEqual(lanes, ["ana", "bo", "system"]);
  assert.deepEqual(spots.map((spot) => [spot.lane, spot.row]), [[0, 0], [2, 0], [1, 1], [1, 2], [0, 3]]);
  assert.equal(rows, 4);
});

test("links lead back to the entry that made what they name", () => {
  const timeline = [
    entry("ana", 1, ["m1"]), entry("bo", 2, ["m2"], ["m1"]), entry("system", 2, ["c1", "m1", "m2"], ["m1", "m2"]),
    entry("sam", 3, ["t1"], [], ["m2", "m9"]), entry("sam", 4, ["m3"], ["t1", "m1", "gone"]),
  ];
  const found = arcs(timeline).map(({ from, to, kind }) => `${from}>${to} ${kind}`);
  assert.deepEqual(found, ["0>1 rests on", "0>2 rests on", "1>2 rests on", "1>3 shown", "3>4 rests on", "0>4 rests on"]);
  assert.deepEqual([...causes(arcs(timeline), 2)].sort(), [0, 1, 2]);
  assert.deepEqual([...causes(arcs(timeline), 0)], [0]);
});
