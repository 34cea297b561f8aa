// Small drawings of numbers: a line over time, and a bar in parts.

import { h, s } from "./dom.js";

/**
 * A line over time with its last value at the right.
 * @param {number[]} values
 * @param {{ label: string, width?: number, height?: number }} options
 */
export function sparkline(values, { label, width = 240, height = 48 }) {
  const most = Math.max(1e-9, ...values);
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const y = (/** @type {number} */ value) => height - 2 - (value / most) * (height - 6);
  const points = values.map((value, index) => `${(index * step).toFixed(1)},${y(value).toFixed(1)}`);
  const line = points.join(" ");
  return s("svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    points.length > 1 ? s("polygon", { class: "spark-area", points: `0,${height} ${line} ${width},${height}` }) : null,
    points.length > 1 ? s("polyline", { class: "spark-line", points: line, "vector-effect": "non-scaling-stroke" }) : null);
}

/**
 * @typedef {object} Part
 * @property {string} label
 * @property {number} value
 * @property {string} [class]
 */

/**
 * A bar whose parts are as long as their values; `whole` is what the full width stands for.
 * @param {Part[]} parts
 * @param {{ label: string, whole?: number }} options
 */
export function stack(parts, { label, whole }) {
  const sum = parts.reduce((all, part) => all + Math.max(0, part.value), 0);
  const full = Math.max(whole ?? sum, 1e-9);
  const drawn = parts.filter((part) => part.value > 0).map((part, index) => {
    const width = `${((part.value / full) * 100).toFixed(2)}%`;
    return h("span", { class: `part ${part.class ?? `part-${index}`}`, style: { width }, title: `${part.label}: ${part.value.toFixed(3)}` });
  });
  return h("div", { class: "stack", role: "img", "aria-label": label }, drawn);
}
