// Canonical JSON (RFC 8785): one text for one value, so that it can be hashed. JavaScript's own numbers and its own
// order of texts are what the RFC asks for.

/**
 * @typedef {null | boolean | number | string | JsonList | JsonObject} Json
 * @typedef {{ [name: string]: Json }} JsonObject
 * @typedef {Array<null | boolean | number | string | JsonObject | Array<any>>} JsonList
 */

/** A value that has no canonical form. */
export class NotCanonical extends Error {}

/** @param {Json} value @returns {string} */
export function canonical(value) {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return number(value);
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const names = Object.keys(value).sort();
  const members = names.map((name) => `${text(name)}:${canonical(/** @type {Json} */ (value[name]))}`);
  return `{${members.join(",")}}`;
}

/** @param {number} value */
function number(value) {
  if (!Number.isFinite(value)) throw new NotCanonical(`${value} is no number of JSON`);
  if (Number.isInteger(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER && Math.abs(value) < 1e21) {
    throw new NotCanonical(`${value} is an integer beyond 2^53 - 1`);
  }
  return JSON.stringify(value);
}

/** @param {string} value */
function text(value) {
  if (!value.isWellFormed()) throw new NotCanonical("a text has half of a surrogate pair");
  return JSON.stringify(value);
}
