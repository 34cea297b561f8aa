// Two texts that were compared, as elements: what differs is marked, without the space before it.

import { h } from "./dom.js";

/** @param {import("./diff.js").Piece[]} pieces @returns {(Node | string)[]} */
export function marked(pieces) {
  return pieces.flatMap((piece) => {
    if (piece.same) return [piece.text];
    const words = piece.text.trimStart();
    return [piece.text.slice(0, piece.text.length - words.length), h("mark", null, words)];
  });
}
