// Answers of the games, in a worker: positions, replies, hints. Files are fetched when they are first needed.

import { Engine, Play } from "./engine.js";

const at = (name) => new URL(`games/${name}`, import.meta.url);
const SIMULATIONS = 3000;

const fetched = new Map();
const engines = new Map();

function fetchOnce(name, read) {
  if (!fetched.has(name)) {
    const answer = fetch(at(name)).then((response) => {
      if (!response.ok) throw new Error(`${name} cannot be loaded: ${response.status}`);
      return read(response);
    });
    answer.catch(() => fetched.delete(name));
    fetched.set(name, answer);
  }
  return fetched.get(name);
}

const json = (response) => response.json();
const bytes = (response) => response.arrayBuffer().then((content) => new Uint8Array(content));

async function engineOf({ game, board }) {
  const key = `${game}-${board}`;
  if (!engines.has(key)) {
    const [games, content] = await Promise.all([fetchOnce("games.json", json), fetchOnce(`${key}.json`, json)]);
    const module = await fetchOnce(content.module, async (response) => WebAssembly.compile(await response.arrayBuffer()));
    engines.set(key, new Engine(module, content, games.find(({ name }) => name === game).agent));
  }
  return engines.get(key);
}

const players = {
  greedy: (engine, play) => engine.greedy(play.record),
  uct: (engine, play) => engine.uct(play.record, SIMULATIONS),
  agent: async (engine, play) => {
    if (!engine.network) engine.loadAgent(await fetchOnce(engine.agent.weights, bytes));
    return engine.search(play.record);
  },
};

const answers = {
  games: () => fetchOnce("games.json", json),
  position: async ({ actions, ...board }) => new Play(await engineOf(board), actions).describe(),
  why: async ({ actions, click, ...board }) => new Play(await engineOf(board), actions).reasons(click),
  reply: async ({ actions, player, ...board }) => {
    const engine = await engineOf(board);
    const { action, value, ranked = [] } = await players[player](engine, new Play(engine, actions));
    const named = ranked.slice(0, 5).map((one) => ({ ...one, action: engine.board.texts[one.action] }));
    return { action: engine.board.texts[action], value, ranked: named };
  },
};

let last = Promise.resolve();

onmessage = ({ data: { id, kind, ...given } }) => {
  // One after the other: an engine has one set of work buffers.
  last = last.then(async () => {
    try {
      postMessage({ id, answer: await answers[kind](given) });
    } catch (error) {
      postMessage({ id, error: error.message });
    }
  });
};
