// Searches that go on, and what they say of a position, in the form that the server answers as well.

/** Number of actions with a line, and the length of a line. */
const [LINES, LINE_ACTIONS] = [8, 10];
/** A part of a search takes between half and all of this. */
const MILLISECONDS_PER_PART = 80;
/** Limits of the trees. */
const [MAX_NODES, MAX_PLAYOUTS] = [8193, 100_000];

/** Yields an analysis after each part of a search: by the agent if it is loaded, else by UCT. */
export function* analyze(engine, record) {
  const begin = performance.now();
  for (const found of engine.network ? byAgent(engine, record) : byPlayouts(engine, record)) yield describe(engine, record, found, (performance.now() - begin) / 1000);
}

/** Runs parts of a search, each of as many simulations as take the time of a part, until `end` of them are done. */
function* inParts(part, end, run) {
  while (part.done < end) {
    const begin = performance.now();
    const before = part.done;
    const found = run(Math.min(end, before + part.size));
    part.done = found.done;
    if (part.done === before) return;
    yield found;
    const milliseconds = performance.now() - begin;
    if (milliseconds < MILLISECONDS_PER_PART / 2) part.size *= 2;
    else if (milliseconds > MILLISECONDS_PER_PART) part.size = Math.max(part.least, part.size / 2);
  }
}

/** The agent's search, then rounds of sequential halving in its tree, each twice as long as the last one. */
function* byAgent(engine, record) {
  const { leaves, simulations } = engine.agent;
  const tree = (engine.largeTree ??= engine.treeRoom(MAX_NODES));
  const first = engine.search(record, { tree });
  yield first;
  const part = { done: first.done, size: leaves, least: leaves };
  const [, edges] = engine.array(Int32Array, tree.nodes, 2);
  const phases = Math.ceil(Math.log2(Math.max(2, Math.min(leaves, edges))));
  for (let round = simulations; ; round *= 2) {
    const begin = part.done;
    for (let number = 0; number < phases; number++) {
      let phase = Math.min(number, 1);
      const more = (limit) => engine.search(record, { tree, simulations: limit, phase });
      for (const found of inParts(part, begin + Math.ceil((round * (number + 1)) / phases), more)) {
        phase = 2;
        yield found;
      }
    }
    if (part.done === begin) return; // proven, or the tree is full
  }
}

function* byPlayouts(engine, record) {
  let played = null;
  const part = { done: 0, size: 500, least: 100 };
  yield* inParts(part, MAX_PLAYOUTS, (limit) => {
    const found = engine.uct(record, limit - part.done, { played, room: MAX_PLAYOUTS });
    played = [];
    return { ...found, done: part.done + found.simulations };
  });
}

function describe(engine, record, { action, value, tree, policies }, seconds) {
  const { player } = engine.facts(record);
  const { texts } = engine.board;
  const { visits, values, priors, proven } = engine.statistics(tree);
  const simulations = visits.reduce((sum, number) => sum + number, 0);
  const known = (one) => (visits[one] ? values[one] : null);
  const rows = engine.legal(record).map((one) => ({ action: one, policy: policies ? policies[one] : visits[one] / simulations, ...(priors ? { prior: priors[one] } : {}), visits: visits[one], win: known(one) }));
  rows.sort((one, other) => (other.action === action) - (one.action === action) || other.visits - one.visits || other.policy - one.policy);
  const lines = rows.filter((row) => row.visits).slice(0, LINES).map((row) => lineOf(engine, tree, row.action));
  const line = lines[0]?.[0] === action ? lines[0] : [action];
  const end = line.reduce((position, one) => engine.after(position, one), record);
  const columns = [["policy", "share"], ...(priors ? [["prior", "share"]] : []), ["visits", "count"], ["win", "value"]];
  const named = (actions) => actions.map((one) => texts[one]);
  return {
    player,
    value: proven ?? known(action) ?? value,
    proven,
    evaluation: null,
    simulations,
    seconds,
    line: named(line),
    line_ends_game: engine.facts(end).ending > 0,
    lines: lines.map(named),
    columns: columns.map(([name, kind]) => ({ name, kind })),
    actions: rows.map((row) => ({ ...row, action: texts[row.action] })),
  };
}

/** The best line of a tree that begins with an action. */
function lineOf(engine, tree, first) {
  const line = [first];
  while (line.length < LINE_ACTIONS) {
    const node = engine.nodeAfter(tree, line);
    const best = node < 0 ? -1 : engine.bestAt(tree, node);
    if (best < 0) break;
    line.push(best);
  }
  return line;
}
