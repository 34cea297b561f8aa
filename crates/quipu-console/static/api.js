// The public API: the key, the Field, and errors in words. A key that is refused asks for another one and then
// goes on with the same request, so the page is not lost.

/**
 * @typedef {object} Options
 * @property {Record<string, string | number | null | undefined>} [query]
 * @property {unknown} [body] sent as JSON
 * @property {string} [agent] for whom to speak
 * @property {string} [session] in which session
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal} [signal]
 * @property {"json" | "text"} [as]
 * @property {number} [also] a status that is an answer too
 */

/**
 * @typedef {object} Me who the key belongs to
 * @property {string} key_id
 * @property {string} agent `*` for any
 * @property {number} authority
 * @property {string | null} field the only Field it is good for
 * @property {boolean} dev whether the server asks for no keys
 */

const HARN_VERSION = "agents-protocol-2026-04-25";
const KEY = "quipu.key";

/** What the server said no to, or that it could not be asked. */
export class ApiError extends Error {
  /**
   * @param {string} message
   * @param {number} status 0 where there was no answer
   * @param {string} code
   * @param {string | null} action what to do about it
   */
  constructor(message, status, code, action) {
    super(message);
    this.status = status;
    this.code = code;
    this.action = action;
  }
}

/**
 * Events: `signin` (a key is needed; `detail` says why), `reached` and `unreached` (the server answers, or not),
 * `me` (another key or Field).
 */
export const bus = new EventTarget();

/** @type {Me | null} */
let me = null;
/** @type {Promise<void> | null} */
let signingIn = null;
let signedIn = () => {};

export const key = () => sessionStorage.getItem(KEY);
/** The Field that the URL names; the empty name is the key's own, or the default one. */
export const field = () => new URLSearchParams(location.search).get("field") ?? "";
export const whoIsThis = () => me;

/** Whether the key has this authority. @param {number} authority */
export const may = (authority) => (me?.authority ?? -1) >= authority;

/** Goes to the same page of another Field. @param {string} name */
export function chooseField(name) {
  location.search = name && name !== "default" ? `?${new URLSearchParams({ field: name })}` : "";
}

/** Asks who the key belongs to, and waits for a key that is good. @returns {Promise<Me>} */
export async function identify() {
  me = /** @type {Me} */ (await call("GET", "/v1/whoami"));
  bus.dispatchEvent(new CustomEvent("me", { detail: me }));
  return me;
}

/**
 * Tries a key. Answers why it is not good, or nothing.
 * @param {string} candidate
 * @returns {Promise<string | null>}
 */
export async function signIn(candidate) {
  const before = key();
  sessionStorage.setItem(KEY, candidate.trim());
  let response;
  try {
    response = await fetch("/v1/whoami", { headers: headers({}) });
  } catch {
    return "The server cannot be reached.";
  }
  if (!response.ok) {
    if (before) sessionStorage.setItem(KEY, before);
    else sessionStorage.removeItem(KEY);
    return (await refusal(response)).message;
  }
  me = await response.json();
  signingIn = null;
  signedIn();
  bus.dispatchEvent(new CustomEvent("me", { detail: me }));
  return null;
}

export function signOut() {
  sessionStorage.removeItem(KEY);
  me = null;
  needKey("You have signed out.");
}

/** @param {string} why @returns {Promise<void>} */
function needKey(why) {
  if (!signingIn) {
    signingIn = new Promise((resolve) => (signedIn = resolve));
    bus.dispatchEvent(new CustomEvent("signin", { detail: why }));
  }
  return signingIn;
}

/** @param {Options} options @returns {Record<string, string>} */
function headers(options) {
  /** @type {Record<string, string>} */
  const all = { "Harn-Agents-Protocol-Version": HARN_VERSION, ...options.headers };
  // A key that is bound to a Field says by itself which.
  const [bearer, name] = [key(), me?.field ? "" : field()];
  if (bearer) all["Authorization"] = `Bearer ${bearer}`;
  if (name) all["Quipu-Field"] = name;
  if (options.agent) all["Akashik-Agent"] = options.agent;
  if (options.session) all["Akashik-Session"] = options.session;
  if (options.body !== undefined) all["Content-Type"] = "application/json";
  return all;
}

/** @param {string} path @param {Options["query"]} query */
function url(path, query) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

/**
 * Sends a request and reads its answer.
 * @param {string} method
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<any>}
 */
export async function call(method, path, options = {}) {
  for (;;) {
    const response = await send(method, path, options);
    if (response.status === 401) {
      await needKey((await refusal(response)).message);
      continue;
    }
    if (!response.ok && response.status !== options.also) throw await refusal(response);
    if (response.status === 204) return null;
    return options.as === "text" ? response.text() : response.json();
  }
}

/** @param {string} method @param {string} path @param {Options} options */
async function send(method, path, options) {
  try {
    const response = await fetch(url(path, options.query), {
      method,
      headers: headers(options),
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
    });
    bus.dispatchEvent(new Event("reached"));
    return response;
  } catch (error) {
    if (options.signal?.aborted) throw error;
    bus.dispatchEvent(new Event("unreached"));
    throw new ApiError("The server cannot be reached.", 0, "UNREACHABLE", "It is asked again as soon as it is back.");
  }
}

/** @param {Response} response @returns {Promise<ApiError>} */
async function refusal(response) {
  /** @type {any} */
  let body = null;
  try {
    body = await response.json();
  } catch {
    // Not every refusal has a body that we know.
  }
  const told = body?.error ?? body ?? {};
  const message = told.message ?? `The server answered ${response.status}.`;
  return new ApiError(message, response.status, told.code ?? "", told.suggested_action ?? null);
}

/** @param {string} path @param {Options} [options] */
export const get = (path, options) => call("GET", path, options);

/** @param {string} path @param {unknown} body @param {Options} [options] */
export const post = (path, body, options) => call("POST", path, { ...options, body });

/**
 * All items of a list of the Harn protocol, page by page, up to a bound.
 * @param {string} path
 * @param {Options} [options]
 * @param {number} [most]
 * @returns {Promise<any[]>}
 */
export async function list(path, options = {}, most = 1000) {
  const found = [];
  let cursor = null;
  do {
    const query = { limit: 200, ...options.query, cursor };
    const page = await get(path, { ...options, query });
    found.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor && found.length < most);
  return found;
}
