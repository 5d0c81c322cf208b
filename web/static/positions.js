// Positions: at once from the module of the board, where the server has one and the browser runs it, and from the server.

import { Client } from "../engine/client.js";
import { info, post } from "./api.js";

let worker = null;

/** Starts the worker, and lists its boards by their game strings. */
async function start() {
  if (!(await info()).modules) return null;
  const client = new Client();
  const games = await client.ask("games");
  return { client, boards: new Map(games.flatMap(({ name, boards }) => boards.map(({ game, board }) => [game, { game: name, board }]))) };
}

/** Returns the answer of a board's module, or null without one, and where it refuses. */
async function ask(kind, game, given) {
  worker ??= start().catch(() => null);
  const { client, boards } = (await worker) ?? {};
  return boards?.has(game) ? client.ask(kind, { ...boards.get(game), ...given }).catch(() => null) : null;
}

/** Returns a position as its module has it, without a score, and with a picture without the ways of picked pieces and cuts; or null. */
export function foretold(game, actions) {
  return ask("position", game, { actions });
}

/**
 * Calls `show` with a position, at once as its module has it and then as the server does, or only with the latter; whichever comes
 * first ends the wait.
 */
export async function showPosition(game, actions, signal, show) {
  let isAnswered = false;
  const answer = post("position", { game, actions }, signal).then((found) => {
    isAnswered = true;
    show(found);
  });
  const early = foretold(game, actions).then((found) => {
    signal.throwIfAborted();
    if (found && !isAnswered) show(found);
    return found ?? answer;
  });
  await Promise.race([early, answer.catch(() => early)]);
}

/** Returns whether two answers describe the same position. */
export function isSame(one, other) {
  return one.game === other.game && String(one.actions) === String(other.actions);
}

/** Returns the picture of a position, or null where it cannot be reached. */
export async function picture(game, actions, signal) {
  const found = (await foretold(game, actions)) ?? (await post("position", { game, actions }, signal).catch(() => null));
  return found?.svg ?? null;
}

/** Returns why a click on a position is illegal: the rulings that it breaks. */
export async function why(game, actions, click, signal) {
  return (await ask("why", game, { actions, click })) ?? (await post("why", { game, actions, ...click }, signal)).reasons;
}
