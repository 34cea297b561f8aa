// Reads JSON strictly. JSON.parse takes the last of two members of the same name without a word, and rounds large
// integers: what was hashed would not be what stands in the file.

/** @typedef {import("./canon.js").Json} Json */

/** A text that is no strict JSON. */
export class NotStrict extends Error {}

const LEVELS_MAX = 64;
const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** @param {string} text @returns {Json} */
export function parse(text) {
  let at = 0;
  const fail = (/** @type {string} */ what) => new NotStrict(`${what} at character ${at + 1}`);

  /** @param {RegExp} pattern @returns {RegExpExecArray | null} */
  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  /** @param {string} letter */
  const eat = (letter) => {
    take(SPACE);
    if (text[at] !== letter) return false;
    at += 1;
    return true;
  };
  const string = () => {
    const found = take(STRING);
    if (!found) throw fail("a text was expected");
    return /** @type {string} */ (JSON.parse(found[0]));
  };
  const number = () => {
    const found = take(NUMBER);
    if (!found) throw fail("a value was expected");
    const value = Number(found[0]);
    if (!found[1] && !found[2] && !Number.isSafeInteger(value)) throw fail("an integer beyond 2^53 - 1");
    if (!Number.isFinite(value)) throw fail("a number that is too large");
    return value;
  };
  /** @param {number} level @returns {Json} */
  const list = (level) => {
    /** @type {Json[]} */
    const items = [];
    if (eat("]")) return items;
    do items.push(value(level + 1));
    while (eat(","));
    if (!eat("]")) throw fail("] was expected");
    return items;
  };
  /** @param {number} level @returns {Json} */
  const object = (level) => {
    /** @type {Map<string, Json>} */
    const members = new Map();
    if (eat("}")) return {};
    do {
      take(SPACE);
      const name = string();
      if (members.has(name)) throw fail(`the member ${JSON.stringify(name)} stands twice, the second time`);
      if (!eat(":")) throw fail(": was expected");
      members.set(name, value(level + 1));
    } while (eat(","));
    if (!eat("}")) throw fail("} was expected");
    return Object.fromEntries(members);
  };
  /** @param {number} level @returns {Json} */
  const value = (level) => {
    if (level > LEVELS_MAX) throw fail(`more than ${LEVELS_MAX} levels`);
    take(SPACE);
    if (eat("{")) return object(level);
    if (eat("[")) return list(level);
    if (text[at] === '"') return string();
    for (const [word, meaning] of /** @type {[string, Json][]} */ ([["true", true], ["false", false], ["null", null]])) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return meaning;
      }
    }
    return number();
  };

  const whole = value(0);
  take(SPACE);
  if (at < text.length) throw fail("something follows the value");
  return whole;
}
