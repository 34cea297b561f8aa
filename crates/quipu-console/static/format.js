// Numbers, times and names as people read them.

const number = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

/** @param {number} value */
export const count = (value) => number.format(value);

/** @param {number | string} time milliseconds, or RFC 3339 @returns {string} */
export function when(time) {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}

/** @param {number | string} time */
export function ago(time) {
  const seconds = Math.max(0, (Date.now() - new Date(time).getTime()) / 1000);
  if (seconds < 5) return "now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} d ago`;
}

/** The beginning of a hash or an id. @param {string} text @param {number} [length] */
export const short = (text, length = 12) => (text.length > length ? `${text.slice(0, length)}…` : text);

/** @param {string} word such as `human_directive` */
export const plain = (word) => word.replaceAll("_", " ");

/** @param {string} text */
export const begin = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** One thing or several. @param {number} n @param {string} one @param {string} [more] */
export const things = (n, one, more = `${one}s`) => `${count(n)} ${n === 1 ? one : more}`;

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
