// Keeps something up to date with the log: one piece of work at a time, once more for whatever came meanwhile, so that
// the last news is never missed.

import { onNews } from "./live.js";

/**
 * Runs the work once now, for what may have come before we listened, and then whenever there is news.
 * @param {() => Promise<unknown>} work
 * @param {AbortSignal} signal
 * @param {() => number} [pause] milliseconds between news and work, for work that is not cheap
 */
export function follow(work, signal, pause = () => 0) {
  let [running, wanted] = [false, true];
  const run = async () => {
    if (running) return;
    running = true;
    while (wanted && !signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, pause()));
      wanted = false;
      // What fails now is tried again with the next news; the frame says when the server is gone.
      if (!signal.aborted) await work().catch(() => undefined);
    }
    running = false;
  };
  onNews(() => {
    wanted = true;
    run();
  }, signal);
  run();
}
