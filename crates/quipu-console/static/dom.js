// Builds elements. Text is only ever put in as text, so nothing that an agent wrote can become markup.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, unknown>} Props */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element. `class`, `dataset`, `style` (an object) and `on…` listeners are understood; a property of the
 * element (`value`, `checked`, `disabled`) is set as one; everything else is an attribute.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  fill(element, props ?? {});
  element.append(...nodes(children));
  return element;
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Props | null} [props]
 * @param {...(Child | Child[])} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function s(tag, props, ...children) {
  const element = document.createElementNS(SVG, tag);
  fill(element, props ?? {});
  element.append(...nodes(children));
  return element;
}

/**
 * Puts these in place of what an element holds.
 * @template {Element} E
 * @param {E} element
 * @param {...(Child | Child[])} children
 * @returns {E}
 */
export function replace(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

/**
 * Text of somebody else: its direction is its own and does not reach the text around it.
 * @param {string} text
 * @param {Props} [props]
 */
export function said(text, props) {
  return h("bdi", { dir: "auto", ...props }, text);
}

/** @param {(Child | Child[])[]} children @returns {(Node | string)[]} */
function nodes(children) {
  /** @type {(Node | string)[]} */
  const found = [];
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    found.push(typeof child === "number" ? String(child) : child);
  }
  return found;
}

const PROPERTIES = new Set(["value", "checked", "disabled", "open", "indeterminate", "hidden"]);

/** @param {Element} element @param {Props} props */
function fill(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2).toLowerCase(), /** @type {EventListener} */ (value));
    } else if (name === "style" && typeof value === "object") {
      // Through the object model: a style attribute would be refused by the policy.
      for (const [key, entry] of Object.entries(value)) {
        /** @type {HTMLElement} */ (element).style.setProperty(key, String(entry));
      }
    } else if (name === "dataset" && typeof value === "object") {
      Object.assign(/** @type {HTMLElement} */ (element).dataset, value);
    } else if (PROPERTIES.has(name)) {
      Reflect.set(element, name, value);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}
