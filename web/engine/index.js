// The games for programs: node, bundlers and pages.

import { Engine } from "./engine.js";

export { analyze } from "./analyze.js";
export { Engine, IllegalActionError, Play } from "./engine.js";

const FOLDER = new URL("games/", import.meta.url);

/** Reads a file of the package. */
async function readFile(name) {
  const url = new URL(name, FOLDER);
  if (url.protocol === "file:") return new Uint8Array(await (await import("node:fs/promises")).readFile(url));
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} cannot be loaded: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

const parse = (bytes) => JSON.parse(new TextDecoder().decode(bytes));

/** Lists the games with their boards. */
export async function games(read = readFile) {
  return parse(await read("games.json"));
}

/** Loads a board of a game, with its agent if `agent` is true. */
export async function load(game, board = "standard", { agent = false, read = readFile } = {}) {
  const found = (await games(read)).find(({ name }) => name === game);
  const file = found?.boards.find((one) => one.board === board)?.file;
  if (!file) throw new Error(`there is no board ${board} of ${game}`);
  const content = parse(await read(file));
  const module = await WebAssembly.compile(await read(content.module));
  return new Engine(module, content, found.agent, agent ? await read(found.agent.weights) : null);
}
