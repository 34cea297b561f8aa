// SHA-256 (FIPS 180-4) by hand: a browser gives its own only to pages that came over TLS or from loopback, and a
// check that works on some machines only is none.

const WORD = 2 ** 32;

/** The first 32 bits of the fractional parts of roots of the first 64 primes. @param {number} power */
function fractions(power) {
  const found = [];
  for (let candidate = 2; found.length < 64; candidate += 1) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) if (candidate % divisor === 0) prime = false;
    if (prime) found.push(Math.floor((candidate ** power % 1) * WORD) | 0);
  }
  return found;
}

const START = Int32Array.from(fractions(1 / 2).slice(0, 8));
const ROUND = Int32Array.from(fractions(1 / 3));

/** @param {number} word @param {number} by */
const turn = (word, by) => (word >>> by) | (word << (32 - by));

/** @param {Uint8Array} bytes the message, a one, zeros, and its length in bits */
function padded(bytes) {
  const blocks = Math.ceil((bytes.length + 9) / 64);
  const whole = new Uint8Array(blocks * 64);
  whole.set(bytes);
  whole[bytes.length] = 0x80;
  const view = new DataView(whole.buffer);
  view.setUint32(whole.length - 8, Math.floor((bytes.length * 8) / WORD));
  view.setUint32(whole.length - 4, (bytes.length * 8) % WORD);
  return view;
}

/** @param {DataView} view @param {number} offset @param {Int32Array} w */
function spread(view, offset, w) {
  const at = (/** @type {number} */ index) => w[index] ?? 0;
  for (let t = 0; t < 16; t += 1) w[t] = view.getInt32(offset + t * 4);
  for (let t = 16; t < 64; t += 1) {
    const [a, b] = [at(t - 15), at(t - 2)];
    const low = turn(a, 7) ^ turn(a, 18) ^ (a >>> 3);
    const high = turn(b, 17) ^ turn(b, 19) ^ (b >>> 10);
    w[t] = (at(t - 16) + low + at(t - 7) + high) | 0;
  }
}

/** @param {Int32Array} state @param {Int32Array} w */
function mix(state, w) {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let t = 0; t < 64; t += 1) {
    const high = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const one = (h + high + ((e & f) ^ (~e & g)) + (ROUND[t] ?? 0) + (w[t] ?? 0)) | 0;
    const low = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    const two = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => (state[index] = ((state[index] ?? 0) + word) | 0));
}

/** @param {Uint8Array} bytes @returns {Uint8Array} 32 bytes */
export function sha256(bytes) {
  const view = padded(bytes);
  const state = Int32Array.from(START);
  const w = new Int32Array(64);
  for (let offset = 0; offset < view.byteLength; offset += 64) {
    spread(view, offset, w);
    mix(state, w);
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, index) => digest.setInt32(index * 4, word));
  return new Uint8Array(digest.buffer);
}

/** @param {Uint8Array} bytes */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The digest as receipts write it. @param {Uint8Array | string} content */
export function digest(content) {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return `sha256:${hex(sha256(bytes))}`;
}
