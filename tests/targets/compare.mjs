// Plays in node what tests play in Python: node compare.mjs FOLDER BOARD_FILE < requests > answers
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { analyze } from "../../web/engine/analyze.js";
import { Engine, Play } from "../../web/engine/engine.js";

const [folder, file] = process.argv.slice(2);
const board = JSON.parse(readFileSync(`${folder}/${file}`));
const { agent } = JSON.parse(readFileSync(`${folder}/${file.split("-")[0]}.json`));
const requests = JSON.parse(readFileSync(0));
const module = new WebAssembly.Module(readFileSync(`${folder}/${board.module}`));
const engine = new Engine(module, board, agent, new Uint8Array(readFileSync(`${folder}/${agent.weights}`)));

/** The hash of all records and legal actions of a game. */
function replay(actions) {
  const hash = createHash("sha256").update(engine.initial);
  let record = engine.initial;
  for (const action of actions) {
    hash.update(Uint32Array.from(engine.legal(record)));
    record = engine.after(record, action);
    if (!record) return `action ${action} is illegal`;
    hash.update(record);
  }
  return hash.digest("hex");
}

function timed(run) {
  const begin = process.cpuUsage();
  const found = run();
  const { user, system } = process.cpuUsage(begin);
  return { ...found, seconds: (user + system) / 1e6 };
}

const kinds = {
  replay: ({ actions }) => replay(actions),
  illegal: ({ actions, action }) => engine.after(new Play(engine, actions).record, action) === null,
  greedy: ({ actions }) => engine.greedy(new Play(engine, actions).record).action,
  alphabeta: ({ actions, depth }) => engine.alphaBeta(new Play(engine, actions).record, depth).action,
  uct: ({ actions, simulations }) => {
    const found = timed(() => engine.uct(new Play(engine, actions).record, simulations));
    const { tree } = engine;
    const [nodes, edges] = engine.array(Int32Array, tree.game, 2);
    const hash = createHash("sha256").update(engine.read(tree.nodes, 24 * nodes)).update(engine.read(tree.edges, 20 * edges));
    return { action: found.action, done: found.simulations, hash: hash.digest("hex"), seconds: found.seconds };
  },
  agent: ({ actions }) => timed(() => engine.search(new Play(engine, actions).record)),
  analysis: ({ actions, simulations }) => {
    let found;
    for (found of analyze(engine, new Play(engine, actions).record)) if (found.simulations >= simulations) break;
    return found;
  },
  evaluate: ({ actions }) => {
    const { logits, value } = engine.evaluate(new Play(engine, actions).record);
    return { logits: [...logits], value };
  },
  // Without the history, no action is marked as the last one.
  svg: ({ actions }) => Object.assign(new Play(engine), { records: [new Play(engine, actions).record] }).svg(),
  finish: ({ actions }) => [...engine.playOut(new Play(engine, actions).record)],
  kept: ({ actions, played, simulations }) => {
    const before = new Play(engine, actions);
    engine.uct(before.record, simulations);
    return engine.uct(new Play(engine, [...actions, ...played]).record, 1, { played }).ranked.reduce((sum, one) => sum + one.visits, 0);
  },
  words: ({ actions, asked }) => {
    const { record } = new Play(engine, actions);
    return asked.map(([question, action]) => engine.say(record, question, action));
  },
  reasons: ({ actions, clicks }) => clicks.map((click) => new Play(engine, actions).reasons(click)),
  describe: ({ actions }) => new Play(engine, actions).describe(),
};

process.stdout.write(
  JSON.stringify(
    requests.map(({ kind, seed, ...given }) => {
      if (seed !== undefined) engine.seed(BigInt(seed));
      return kinds[kind](given);
    }),
  ),
);
