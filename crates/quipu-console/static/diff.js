// Which words of two texts differ: the longest common sequence of words, bounded so that a megabyte does not stop the
// page.

/** @typedef {{ text: string, same: boolean }} Piece */

/** Pairs of words that are compared at most; beyond it the middle of both counts as different. */
const PAIRS_MAX = 4_000_000;

/** Words with the space before them, numbers and signs apart. @param {string} text */
export const words = (text) => text.match(/\s*(?:[\p{L}\p{M}_]+|\d+(?:[.,]\d+)*%?|.)|\s+$/gsu) ?? [];

/**
 * Both texts in pieces that are the same or not. The pieces of each give the text again.
 * @param {string} left
 * @param {string} right
 * @returns {{ left: Piece[], right: Piece[] }}
 */
export function diff(left, right) {
  const [a, b] = [words(left), words(right)];
  const equal = (/** @type {number} */ i, /** @type {number} */ j) => a[i]?.trim() === b[j]?.trim();
  let first = 0;
  while (first < a.length && first < b.length && equal(first, first)) first += 1;
  let last = 0;
  while (last < a.length - first && last < b.length - first && equal(a.length - 1 - last, b.length - 1 - last)) last += 1;
  const [m, n] = [a.length - first - last, b.length - first - last];
  const kept = m * n > PAIRS_MAX ? { a: new Set(), b: new Set() } : common(m, n, (i, j) => equal(first + i, first + j));
  const pieces = (/** @type {string[]} */ all, /** @type {number} */ middle, /** @type {Set<unknown>} */ same) =>
    joined(all.map((text, index) => ({ text, same: index < first || index >= first + middle || same.has(index - first) })));
  return { left: pieces(a, m, kept.a), right: pieces(b, n, kept.b) };
}

/** @param {number} m @param {number} n @param {(i: number, j: number) => boolean} equal */
function common(m, n, equal) {
  const lengths = new Uint32Array((m + 1) * (n + 1));
  const at = (/** @type {number} */ i, /** @type {number} */ j) => lengths[i * (n + 1) + j] ?? 0;
  for (let i = m - 1; i >= 0; i -= 1) {
    for (let j = n - 1; j >= 0; j -= 1) {
      lengths[i * (n + 1) + j] = equal(i, j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const [a, b] = [new Set(), new Set()];
  for (let i = 0, j = 0; i < m && j < n; ) {
    if (equal(i, j)) {
      a.add(i);
      b.add(j);
      i += 1;
      j += 1;
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return { a, b };
}

/** @param {Piece[]} pieces @returns {Piece[]} */
function joined(pieces) {
  /** @type {Piece[]} */
  const found = [];
  for (const piece of pieces) {
    const before = found.at(-1);
    if (before && before.same === piece.same) before.text += piece.text;
    else found.push({ ...piece });
  }
  return found;
}
