// Answers of the games, in a worker: positions, replies, hints, analyses. Files are fetched when they are first needed.

import { analyze } from "./analyze.js";
import { Engine, Play } from "./engine.js";

const at = (name) => new URL(`games/${name}`, import.meta.url);
const SIMULATIONS = 3000;
/** Least time between two analyses of one position. */
const MILLISECONDS_PER_ANALYSIS = 200;

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

async function withAgent(engine) {
  const weights = engine.network ?? (await fetchOnce(engine.agent.weights, bytes));
  if (!engine.network) engine.loadAgent(weights);
  return engine;
}

const players = {
  greedy: (engine, play) => engine.greedy(play.record),
  uct: (engine, play) => engine.uct(play.record, SIMULATIONS),
  agent: async (engine, play) => (await withAgent(engine)).search(play.record),
};

const answers = {
  games: () => fetchOnce("games.json", json),
  position: async ({ actions, ...board }) => new Play(await engineOf(board), actions).describe(),
  why: async ({ actions, click, ...board }) => new Play(await engineOf(board), actions).reasons(click),
  reply: async ({ actions, player, ...board }) => {
    const engine = await engineOf(board);
    const { action, value } = await players[player](engine, new Play(engine, actions));
    return { action: engine.board.texts[action], value };
  },
};

let analysis = null;

/** Sends analyses of a position, ever deeper ones, until another is asked for; other answers come between two parts of the search. */
async function analyzeOn(id, { actions, ...board }) {
  const engine = await engineOf(board);
  await withAgent(engine).catch(() => {}); // UCT needs no weights
  let sent = 0;
  let latest = null;
  const send = () => {
    sent = performance.now();
    postMessage({ id, analysis: { ...latest, bot: engine.network ? "agent" : "uct" } });
  };
  for (latest of analyze(engine, new Play(engine, actions).record)) {
    if (performance.now() - sent >= MILLISECONDS_PER_ANALYSIS) send();
    await new Promise((resolve) => setTimeout(resolve)); // for messages
    if (analysis !== id) return;
  }
  send();
}

let last = Promise.resolve();

onmessage = ({ data: { id, kind, ...given } }) => {
  if (kind === "stop") analysis = null;
  if (kind === "analyze") {
    analysis = id;
    analyzeOn(id, given).catch((error) => postMessage({ id, error: error.message }));
  }
  if (!answers[kind]) return;
  // One after the other: an engine has one set of work buffers.
  last = last.then(async () => {
    try {
      postMessage({ id, answer: await answers[kind](given) });
    } catch (error) {
      postMessage({ id, error: error.message });
    }
  });
};
