// The preparation of bots: their kernels are compiled, once on a machine, before a game begins.

import { isAbort, post } from "./api.js";

let current = null;

/** Prepares bots for a game, one after the other, and gives an earlier preparation up. Resolves to whether all are ready. */
export function prepare(game, bots) {
  const key = JSON.stringify([game, bots]);
  if (current?.key === key) return current.done;
  current?.controller.abort();
  const controller = new AbortController();
  const run = async () => {
    let areReady = true;
    for (const bot of bots) {
      try {
        await post("prepare", { game, bot }, controller.signal);
      } catch (error) {
        areReady = false;
        if (current?.controller === controller && !isAbort(error)) current = null; // the turn says what is wrong
      }
    }
    return areReady;
  };
  current = { key, controller, done: run() };
  return current.done;
}

/** Calls `show` with the seconds since now, each second until the signal is aborted. */
export function countSeconds(show, signal) {
  const begin = performance.now();
  const timer = setInterval(() => show(Math.round((performance.now() - begin) / 1000)), 1000);
  signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  if (signal.aborted) clearInterval(timer);
}
