// The log as it grows, over one WebSocket for the whole console. It resumes behind the last commit it was told of, so
// nothing is missed while the server is gone.

import { bus, field, get, key } from "./api.js";

/** @typedef {{ position: number, epoch: number, hash: string }} Head */
/** @typedef {{ position: number, hash: string, header: any }} Commit */
/** @typedef {{ commits: Commit[], head: Head, behind: boolean }} News what was added; commits only for keys that may read the log */
/** @typedef {"connecting" | "live" | "gone"} State */

const PAUSE_MS = [250, 500, 1000, 2000, 3000];

/** @type {Set<(news: News) => void>} */
const listeners = new Set();
/** @type {Set<(state: State) => void>} */
const watchers = new Set();
/** @type {WebSocket | null} */
let socket = null;
/** @type {Head | null} */
let head = null;
/** @type {State} */
let state = "connecting";
let attempt = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * Calls back with what is new, until the signal aborts.
 * @param {(news: News) => void} listener
 * @param {AbortSignal} [signal]
 */
export function onNews(listener, signal) {
  listeners.add(listener);
  signal?.addEventListener("abort", () => listeners.delete(listener));
}

/**
 * Calls back with the state of the connection, at once and at each change.
 * @param {(state: State) => void} watcher
 * @param {AbortSignal} [signal]
 */
export function onState(watcher, signal) {
  watchers.add(watcher);
  signal?.addEventListener("abort", () => watchers.delete(watcher));
  watcher(state);
}

export const lastHead = () => head;

/** Begins, or begins anew for another key or Field. */
export function connect() {
  close();
  head = null;
  attempt = 0;
  open();
}

/** @param {State} next */
function become(next) {
  if (state === next) return;
  state = next;
  for (const watcher of watchers) watcher(state);
}

function close() {
  clearTimeout(timer);
  const old = socket;
  socket = null;
  old?.close();
}

function open() {
  const query = new URLSearchParams();
  if (head) query.set("after", String(head.position));
  if (field()) query.set("field", field());
  const protocols = ["quipu-log"];
  const bearer = key();
  if (bearer) protocols.push(`bearer.${bearer}`);
  const address = new URL(`/v1/log/follow?${query}`, location.href.replace(/^http/, "ws"));
  address.hash = "";
  const opened = new WebSocket(address, protocols);
  socket = opened;
  opened.onmessage = (message) => {
    if (socket === opened) hear(JSON.parse(message.data));
  };
  opened.onclose = () => {
    if (socket === opened) lose();
  };
}

/** @param {{ commits: Commit[], head: Head, next_from: number | null }} page */
function hear(page) {
  attempt = 0;
  const last = page.commits.at(-1);
  head = last && page.next_from ? { position: last.position, epoch: last.header.epoch, hash: last.hash } : page.head;
  become("live");
  // The first page is news too: something may have landed after a view read the log and before we listened.
  for (const listener of listeners) listener({ commits: page.commits, head: page.head, behind: page.next_from !== null });
}

function lose() {
  become("gone");
  const pause = PAUSE_MS[Math.min(attempt, PAUSE_MS.length - 1)];
  attempt += 1;
  timer = setTimeout(retry, pause);
}

/** A socket that fails does not say why, so the server is asked: a key that ended leads to signing in. */
async function retry() {
  try {
    await get("/v1/whoami");
  } catch {
    lose();
    return;
  }
  open();
}

bus.addEventListener("me", connect);
