// A game in WebAssembly: positions, legal actions, pictures, and players. It runs in pages, workers and node, without a server.
// No rule of a game is in this file: modules and boards are built by tools/browser from the Python source.

const PAGE_BYTES = 65536;
/** Sizes in bytes of the records of searches (see models/search/uct.py, tree.py and transposition_table.py). */
const UCT = { node: 24, edge: 20 };
const TREE = { node: 46, edge: 16, game: 20, leaf: 14 };
const MAX_EDGES = 1 << 22;
const TABLE = { size: 1 << 17, entry: 24 };
const ALPHA_BETA = { rows: 24, candidates: 12 };
const GREEDY = { candidates: 12, beam: 4 };

const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

export class IllegalActionError extends Error {}

/** The machine code of a game with the records of one board. */
export class Engine {
  /**
   * @param module the compiled WebAssembly module of the board.
   * @param board the description of the board, the content of its JSON file.
   * @param agent the description of the agent, of `games.json`; null without one.
   * @param weights the bytes of its weights.
   */
  constructor(module, board, agent = null, weights = null) {
    const env = {};
    for (const { name } of WebAssembly.Module.imports(module)) {
      const double = Math[name.slice(0, -1)];
      const missing = () => {
        throw new Error(`the module has called ${name}`);
      };
      env[name] = Math[name] ?? (double ? (value) => Math.fround(double(value)) : missing);
    }
    this.code = new WebAssembly.Instance(module, { env }).exports;
    this.end = this.code.__heap_base.value;
    this.board = { ...board, paths: pathsOf(board.paths) };
    this.agent = agent;
    this.fillWeights(module);
    const record = bytesOf(board.blank);
    this.recordSize = record.length;
    const constants = bytesOf(board.board);
    this.at = { board: this.room(constants.length), state: this.room(record.length), mask: this.room(board.num_actions), seeds: this.room(8), rows: this.room(8), actions: this.room(8), facts: this.room(20), returns: this.room(8), number: this.room(8) };
    this.words = board.num_actions + 64; // a row for each action that is marked, and for each sentence
    Object.assign(this.at, { words: this.room(20 * this.words), values: this.room(4 * board.num_actions), visits: this.room(4 * board.num_actions), priors: this.room(4 * board.num_actions), proven: this.room(8), parts: this.room(8 * 5 * board.drawing.places.length) });
    this.write(this.at.board, constants);
    this.write(this.at.state, record);
    this.call("reset_batch", this.at.board, 1, this.at.state, 1, this.at.rows, 1);
    this.initial = this.read(this.at.state, this.recordSize);
    this.seed(BigInt(Math.floor(Math.random() * 2 ** 53)));
    if (weights) this.loadAgent(weights);
  }

  /** Interpolates the heuristic's weights, of which a module carries those of some phases (see tools/browser/tables.py). */
  fillWeights(module) {
    for (const section of WebAssembly.Module.customSections(module, "weights")) {
      const [at, boards, phases, terms, knots] = new Int32Array(section, 0, 5);
      const before = new Int32Array(section, 20, phases);
      const shares = new Float32Array(section, 20 + 4 * phases, 2 * phases);
      const weights = new Float32Array(section, 20 + 12 * phases, boards * knots * terms);
      const filled = this.array(Float32Array, at, boards * phases * terms);
      for (let index = 0; index < filled.length; index++) {
        const [term, row] = [index % terms, Math.floor(index / terms)];
        const phase = row % phases;
        const first = (Math.floor(row / phases) * knots + before[phase]) * terms + term;
        filled[index] = shares[2 * phase + 1] * weights[first + terms] + Math.fround(shares[2 * phase] * weights[first]);
      }
    }
  }

  // -- Memory --------------------------------------------------------------------------------------------------------------

  /** Reserves bytes, zeros that stay where they are, and returns their address. */
  room(bytes) {
    const begin = (this.end + 63) & ~63;
    this.end = begin + bytes;
    const missing = this.end - this.code.memory.buffer.byteLength;
    if (missing > 0) this.code.memory.grow(Math.ceil(missing / PAGE_BYTES));
    this.array(Uint8Array, begin, bytes).fill(0); // calls may have used it
    return begin;
  }

  array(type, at, length) {
    return new type(this.code.memory.buffer, at, length);
  }

  read(at, length) {
    return this.array(Uint8Array, at, length).slice();
  }

  write(at, bytes) {
    this.array(Uint8Array, at, bytes.length).set(bytes);
  }

  /** Calls an entry function; what it allocates is behind all that is reserved. */
  call(name, ...given) {
    this.code.set_heap(this.end);
    return this.code[name](...given);
  }

  /** Sets the seed of random numbers, a BigInt of 64 bits. */
  seed(value) {
    this.array(BigUint64Array, this.at.seeds, 1)[0] = value;
  }

  // -- Rules ---------------------------------------------------------------------------------------------------------------

  use(record) {
    this.write(this.at.state, record);
  }

  /** The actions that are legal in a position: their indices. */
  legal(record) {
    this.use(record);
    const { num_actions: number } = this.board;
    this.call("fill_mask", this.at.board, 1, this.at.state, 1, this.at.mask, number);
    const mask = this.array(Int8Array, this.at.mask, number);
    const found = [];
    for (let action = 0; action < number; action++) if (mask[action]) found.push(action);
    return found;
  }

  /** The position after an action, or null if it is illegal. */
  after(record, action) {
    this.use(record);
    const player = this.call("try_action", this.at.board, 1, this.at.state, 1, this.at.mask, this.board.num_actions, action);
    return Number(player) === -1 ? null : this.read(this.at.state, this.recordSize);
  }

  /** Whose turn it is (-4 after the end), how the game ended (0: not), who won (-1: nobody), and the color of the first player. */
  facts(record) {
    this.use(record);
    this.call("describe", this.at.board, 1, this.at.state, 1, this.at.facts, 5);
    const [player, ending, winner, truncated, firstColor] = this.array(Int32Array, this.at.facts, 5);
    return { player, ending, winner, truncated, firstColor };
  }

  /** What the game says of a position: the turn, supplies, the result, or why an action is illegal, and the actions that it marks. */
  say(record, question, action = 0) {
    this.use(record);
    const { questions, sentences, cells, texts, colors } = this.board;
    const number = Number(this.call("write_words", this.at.board, 1, this.at.state, 1, questions.indexOf(question), action, this.at.words, this.words, 5));
    const rows = Array.from({ length: number }, (_, row) => [...this.array(Int32Array, this.at.words + 20 * (row + 1), 5)]);
    const names = { cell: cells, action: texts, color: colors };
    const fill = ([sentence, ...values]) => sentences[sentence].replace(/\{(\w+)\}/g, (_, kind) => (names[kind] ? names[kind][values.shift()] : String(values.shift()).replace("-", "−")));
    return { text: rows.filter(([sentence]) => sentence >= 0).map(fill).join(""), marked: [...new Set(rows.filter(([sentence]) => sentence < 0).map(([, one]) => one))] };
  }

  /** Plays to the end at random and returns the last position. */
  playOut(record) {
    this.use(record);
    this.call("play_out", this.at.board, 1, this.at.state, 1, this.at.seeds, 1, this.at.returns, 1, 2, this.at.number, 1);
    return this.read(this.at.state, this.recordSize);
  }

  // -- Players: each returns {action, value} or more, for the player to move --------------------------------------------------

  greedy(record) {
    this.use(record);
    const number = this.board.num_actions;
    this.call("search_turns", this.at.board, 1, this.at.state, 1, GREEDY.candidates, GREEDY.beam, this.at.seeds, 1, this.at.values, 1, number, this.at.actions, 1);
    return { action: Number(this.array(BigInt64Array, this.at.actions, 1)[0]) };
  }

  alphaBeta(record, depth) {
    const number = this.board.num_actions;
    const rows = ALPHA_BETA.rows * depth + 1;
    if (!this.table || this.table.rows < rows) {
      this.table = { rows, entries: this.room(TABLE.size * TABLE.entry), used: this.room(4 * TABLE.size), number: this.room(8), candidates: this.room(4 * rows * number) };
    }
    this.use(record);
    const { table } = this;
    const limits = [1, depth, ALPHA_BETA.candidates, 2 ** 31 - 1];
    const work = [table.entries, TABLE.size, table.used, TABLE.size, table.number, 1, table.candidates, rows, number];
    this.call("search_depths", this.at.board, 1, this.at.state, 1, ...limits, ...work, this.at.seeds, 1, this.at.values, 1, number, this.at.actions, 1, this.at.number, 1);
    return { action: Number(this.array(BigInt64Array, this.at.actions, 1)[0]) };
  }

  /** UCT with random playouts. The tree of the last search is kept where `played` leads from its root to this position. */
  uct(record, simulations, { exploration = 1.4, played = null, room = simulations } = {}) {
    this.use(record);
    const tree = this.uctTree(room);
    const node = played && this.nodeAfter(tree, played);
    if (node > 0) this.call("keep_subtree", tree.nodes, tree.maxNodes, tree.edges, tree.maxEdges, tree.game, 1, node);
    else if (node !== 0) this.array(Uint8Array, tree.game, TREE.game).fill(0);
    const arrays = [tree.nodes, tree.maxNodes, tree.edges, tree.maxEdges, tree.game, 1, this.at.seeds, 1];
    const done = this.call("search_tree", this.at.board, 1, this.at.state, 1, ...arrays, simulations, exploration, 0, Infinity, 0);
    const { best: action, visits, values } = this.statistics(tree, this.at.seeds);
    const ranked = [...visits.keys()].filter((one) => visits[one]).sort((one, other) => visits[other] - visits[one]);
    return { action, simulations: Number(done), tree, value: values[action], ranked: ranked.map((one) => ({ action: one, visits: visits[one], value: values[one] })) };
  }

  uctTree(simulations) {
    const maxNodes = 2 * simulations + 1024;
    if (!(this.tree?.maxNodes >= maxNodes)) {
      const maxEdges = Math.min(maxNodes * this.board.num_actions, MAX_EDGES);
      this.tree = { sizes: UCT, maxNodes, maxEdges, nodes: this.room(UCT.node * maxNodes), edges: this.room(UCT.edge * maxEdges), game: this.room(TREE.game) };
    }
    return this.tree;
  }

  /** The node of a tree after actions from its root, -1 if there is none. */
  nodeAfter({ sizes, game, nodes, edges }, actions) {
    if (!this.array(Int32Array, game, 1)[0]) return -1;
    const memory = new DataView(this.code.memory.buffer); // nodes are not aligned
    let node = 0;
    for (const action of actions) {
      const [first, number] = [0, 4].map((field) => memory.getInt32(nodes + sizes.node * node + field, true));
      let next = -1;
      for (let edge = first; edge < first + number; edge++) {
        const [taken, child] = this.array(Int32Array, edges + sizes.edge * edge, 2);
        if (taken === action) next = child;
      }
      if (next < 0) return -1;
      node = next;
    }
    return node;
  }

  /** The best action at a node of a tree, -1 without one. Where several are equal, it is the same every time, or random with `seeds`. */
  bestAt(tree, node, seeds = this.at.number) {
    const number = this.board.num_actions;
    const { visits, values, priors, proven } = this.at;
    if (seeds !== this.at.seeds) this.array(BigInt64Array, seeds, 1)[0] = 1n;
    const best =
      tree.sizes === UCT
        ? this.call("uct_statistics", tree.nodes, tree.maxNodes, tree.edges, tree.maxEdges, node, seeds, 1, visits, number, values, number, proven, 2)
        : this.call("tree_statistics", ...this.arraysOf(tree), node, visits, number, values, number, priors, number, proven, 2);
    return Number(best);
  }

  /** The best action at the root of a tree, visits, values and priors by action, and the proven result or null. */
  statistics(tree, seeds) {
    const best = this.bestAt(tree, 0, seeds);
    const [isProven, result] = this.array(Int32Array, this.at.proven, 2);
    const copy = (type, name) => this.array(type, this.at[name], this.board.num_actions).slice();
    return { best, visits: copy(Int32Array, "visits"), values: copy(Float32Array, "values"), priors: tree.sizes === UCT ? null : copy(Float32Array, "priors"), proven: isProven ? result : null };
  }

  loadAgent(bytes) {
    const { agent, board } = this;
    const raw = agent.is_rounded ? unrounded(bytes, agent.shapes) : new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
    const at = { raw: this.room(4 * raw.length), shapes: this.room(4 * agent.shapes.length * 5), transform: this.room(72), weights: this.room(4 * agent.num_weights) };
    this.array(Float32Array, at.raw, raw.length).set(raw);
    this.array(Int32Array, at.shapes, agent.shapes.length * 5).set(agent.shapes.flat());
    this.array(Float32Array, at.transform, 18).set(agent.transform);
    this.call("expand_weights", at.raw, raw.length, at.shapes, agent.shapes.length, 5, at.transform, 6, 3, at.weights, agent.num_weights);
    const { leaves } = agent;
    const cells = board.height * board.width;
    const number = board.num_actions;
    const reserve = { planes: 4 * leaves * agent.planes * cells, leaves: TREE.leaf * leaves, logits: 4 * leaves * number, network: 4 * leaves, others: 4 * leaves, schedule: 4 * agent.schedule.length, policies: 4 * number, value: 4 };
    for (const [name, size] of Object.entries(reserve)) at[name] = this.room(size);
    this.array(Int32Array, at.schedule, agent.schedule.length).set(agent.schedule);
    at.tree = this.treeRoom(agent.simulations + 1);
    this.network = at;
  }

  /** Reserves a tree of the agent's search. */
  treeRoom(maxNodes) {
    const maxEdges = Math.min(maxNodes * this.board.num_actions, MAX_EDGES / 2);
    return { sizes: TREE, maxNodes, maxEdges, states: this.room(this.recordSize * maxNodes), nodes: this.room(TREE.node * maxNodes), edges: this.room(TREE.edge * maxEdges), game: this.room(TREE.game) };
  }

  arraysOf({ maxNodes, maxEdges, states, nodes, edges, game }) {
    return [this.at.board, 1, states, 1, maxNodes, nodes, 1, maxNodes, edges, 1, maxEdges, game, 1];
  }

  /**
   * The agent: a network with a Gumbel search. With a phase, the search in the tree goes on until it has had `simulations`:
   * 0 considers all actions again, 1 the better half of those considered, 2 the same.
   */
  search(record, { tree = this.network.tree, simulations = this.agent.simulations, phase = -1 } = {}) {
    this.use(record);
    const { agent, board, network: at } = this;
    const number = board.num_actions;
    const cells = board.height * board.width;
    const trees = this.arraysOf(tree);
    const settings = [simulations, agent.discount, agent.playouts, agent.weight, ...agent.parameters];
    const schedule = [at.schedule, agent.schedule.length / agent.simulations, phase < 0 ? agent.simulations : 0];
    const sizes = [board.height, board.width, ...agent.sizes.slice(2)];
    const network = [...sizes, at.weights, agent.num_weights, at.planes, agent.leaves, agent.planes, cells, at.logits, agent.leaves, number, at.network, agent.leaves, at.others, agent.leaves];
    const outputs = [this.at.actions, 1, at.value, 1, at.policies, 1, number, this.at.visits, 1, number];
    const total = this.call("search_position", ...trees, this.at.state, 1, ...settings, ...schedule, ...network, at.leaves, agent.leaves, this.at.seeds, 1, ...outputs, phase);
    if (Number(total) < 0) throw new Error("the network's output is not finite: its weights are damaged");
    const policies = this.array(Float32Array, at.policies, number).slice();
    const visits = this.array(Int32Array, this.at.visits, number);
    const ranked = [...policies.keys()].filter((one) => policies[one] > 0).sort((one, other) => policies[other] - policies[one]);
    return {
      action: Number(this.array(BigInt64Array, this.at.actions, 1)[0]),
      value: this.array(Float32Array, at.value, 1)[0],
      done: this.array(Int32Array, tree.game, 3)[2],
      tree,
      policies,
      ranked: ranked.map((one) => ({ action: one, visits: visits[one], share: policies[one] })),
    };
  }

  /** Logits and value of the network in a position. */
  evaluate(record) {
    this.use(record);
    const { agent, board, network: at } = this;
    const number = board.num_actions;
    const cells = board.height * board.width;
    this.call("fill_planes", this.at.board, 1, this.at.state, 1, this.at.rows, 1, this.at.facts, 1, at.planes, 1, agent.planes, cells, this.at.mask, 1, number);
    this.call("run_network", at.planes, 1, agent.planes, cells, board.height, board.width, ...agent.sizes.slice(2), at.weights, agent.num_weights, at.logits, 1, number, at.network, 1);
    return { logits: this.array(Float32Array, at.logits, number).slice(), value: this.array(Float32Array, at.network, 1)[0] };
  }

  /** The parts of the picture of a position, pairs of a part and a place, the lowest first. */
  shown(record) {
    this.use(record);
    const room = 5 * this.board.drawing.places.length;
    const number = Number(this.call("count_shown", this.at.board, 1, this.at.state, 1, this.at.parts, room, 2));
    const flat = this.array(Int32Array, this.at.parts, 2 * number);
    return Array.from({ length: number }, (_, index) => [flat[2 * index], flat[2 * index + 1]]).sort(([one], [other]) => one - other);
  }
}

/** The places of each action, null for one that has none, from the differences in each column. */
function pathsOf(columns) {
  const last = columns.map(() => 0);
  return columns[0].map((_, action) => {
    columns.forEach((column, number) => (last[number] += column[action]));
    return last[0] ? last.filter((number) => number > 0).map((number) => number - 1) : null;
  });
}

/** Weights that were rounded: those of filters to 12 bits, in units of their output, others to half precision. */
function unrounded(bytes, shapes) {
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const numUnits = sum(shapes.map(([isConvolution, , outputs]) => isConvolution * outputs));
  const numFilters = sum(shapes.map(([isConvolution, inputs, outputs]) => isConvolution * 9 * inputs * outputs));
  const numOthers = sum(shapes.map(([isConvolution, rows, columns]) => (1 - isConvolution) * rows * columns));
  const units = new Float32Array(bytes.slice(0, 4 * numUnits).buffer);
  const others = new Uint16Array(bytes.slice(4 * numUnits, 4 * numUnits + 2 * numOthers).buffer);
  const [low, high] = [0, 1].map((plane) => bytes.subarray(4 * numUnits + 2 * numOthers + plane * numFilters));
  const weights = new Float32Array(numFilters + numOthers);
  let [at, filter, unit, other] = [0, 0, 0, 0];
  for (const [isConvolution, rows, columns] of shapes) {
    if (!isConvolution) for (const end = at + rows * columns; at < end; at++) weights[at] = half(others[other++]);
    else {
      for (const end = unit + columns; unit < end; unit++) {
        for (const last = at + 9 * rows; at < last; at++, filter++) weights[at] = units[unit] * (((high[filter] << 24) >> 16) | low[filter]);
      }
    }
  }
  return weights;
}

/** A number of half precision, which not all engines have arrays of. */
function half(word) {
  const [sign, exponent, fraction] = [word & 0x8000 ? -1 : 1, (word >> 10) & 31, word & 1023];
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : (2 ** -14 * fraction) / 1024);
}

/** A game in play: its actions and the position after each. */
export class Play {
  constructor(engine, actions = []) {
    this.engine = engine;
    this.actions = [];
    this.records = [engine.initial];
    for (const action of actions) this.apply(action);
  }

  get record() {
    return this.records.at(-1);
  }

  get facts() {
    return this.engine.facts(this.record);
  }

  get legal() {
    return this.engine.legal(this.record);
  }

  /** Plays an action, its text or its index. */
  apply(action) {
    const index = typeof action === "number" ? action : this.engine.board.texts.indexOf(action);
    const record = index < 0 ? null : this.engine.after(this.record, index);
    if (!record) throw new IllegalActionError(`${this.engine.board.game}: action ${this.actions.length + 1} (${action}) is illegal`);
    this.actions.push(index);
    this.records.push(record);
    return this;
  }

  /** The game without its last `number` actions. */
  back(number = 1) {
    const play = Object.assign(new Play(this.engine), { actions: this.actions.slice(0, this.actions.length - number) });
    play.records = this.records.slice(0, play.actions.length + 1);
    return play;
  }

  /** The texts of the actions. */
  get texts() {
    return this.actions.map((action) => this.engine.board.texts[action]);
  }

  /** Who made each action, and with which color. */
  get movers() {
    const { colors } = this.engine.board;
    return this.actions.map((_, index) => {
      const { player, firstColor } = this.engine.facts(this.records[index]);
      return [player, colors[player ^ firstColor]];
    });
  }

  /** The position as the page's board shows it, in the form that the server answers as well. */
  describe() {
    const { board } = this.engine;
    const { player, ending, winner, firstColor } = this.facts;
    const movers = this.movers;
    let turnStart = this.actions.length;
    while (turnStart && movers[turnStart - 1][0] === player) turnStart -= 1;
    const shown = { legal: [], buttons: [], places: {}, icons: {}, instead: [] };
    const onBoard = (action) => {
      const [number, ...path] = board.paths[action];
      const names = path.map((place) => board.places[place][0]);
      path.forEach((place) => (shown.places[board.places[place][0]] = board.places[place].slice(1)));
      const label = { ...board.labels[number], label: board.labels[number].label || names[0] };
      if (label.icon) shown.icons[label.label] = label.icon;
      return { action: board.texts[action], path: names, label: label.label, parts: label.parts, picks: label.picks };
    };
    for (const action of ending ? [] : this.legal) {
      if (action < board.paths.length) shown.legal.push(onBoard(action));
      else shown.buttons.push({ action: board.texts[action] });
    }
    for (const line of this.longerLines(turnStart)) {
      const then = line.slice(1).map((action) => board.texts[action]);
      const { path } = onBoard(line.at(-1));
      shown.legal.push({ action: board.texts[line[0]], then, path, label: `${line.length} actions, the last ${then.at(-1)}` });
    }
    if (this.hasPicked) {
      const before = this.engine.legal(this.records.at(-2));
      shown.instead = before.filter((action) => this.picks(action) && action !== this.actions.at(-1)).map(onBoard);
    }
    const reason = ending ? board.reasons[ending - 1] : "";
    return {
      game: board.game,
      name: board.name,
      actions: this.texts,
      movers,
      svg: this.svg(turnStart),
      player: ending ? null : player,
      colors: [board.colors[firstColor], board.colors[1 - firstColor]],
      turn: ending ? "" : this.engine.say(this.record, "describe_turn").text,
      supplies: ending ? "" : this.engine.say(this.record, "describe_supplies").text,
      why: ending ? this.engine.say(this.record, "explain_result").text : "",
      sides: board.sides,
      turn_start: turnStart,
      score: null,
      outcome: ending ? { winner: winner < 0 ? null : winner, reason } : null,
      ...shown,
    };
  }

  /** Whether an action chooses a piece, which the next one moves. */
  picks(action) {
    const { paths, labels } = this.engine.board;
    return Boolean(paths[action] && labels[paths[action][0]].picks);
  }

  get hasPicked() {
    return this.actions.length > 0 && this.picks(this.actions.at(-1));
  }

  /** The ways to continue a line in progress by two or more actions, after the first of which there is one way each. */
  *longerLines(turnStart) {
    const { engine, facts } = this;
    if (!engine.board.has_lines || turnStart === this.actions.length) return;
    const onBoard = (record) => (engine.facts(record).player === facts.player ? engine.legal(record).filter((action) => engine.board.paths[action]) : []);
    for (const first of onBoard(this.record)) {
      let [record, line, further] = [this.record, [], [first]];
      while (further.length === 1) {
        record = engine.after(record, further[0]);
        line = [...line, further[0]];
        further = onBoard(record);
        if (line.length > 1) yield line;
      }
    }
  }

  /** Why a click on the picture is illegal, after those on the places `chosen`; nothing where an action is legal. */
  reasons({ x, y, chosen }) {
    const { places, paths, most_reasons: most } = this.engine.board;
    let [nearest, nameHere, here] = [Infinity, "", []];
    paths.forEach((path, action) => {
      const [, ...numbers] = path ?? [];
      if (numbers.length <= chosen.length || chosen.some((name, index) => places[numbers[index]][0] !== name)) return;
      const [name, toX, toY, radius] = places[numbers[chosen.length]];
      const distance = Math.hypot(toX - x, toY - y);
      if (distance <= radius && distance < nearest) [nearest, nameHere, here] = [distance, name, []];
      if (name === nameHere) here.push(action);
    });
    // On a piece's place, only one of picking it and moving there is next.
    const next = here.filter((action) => this.picks(action) !== this.hasPicked);
    if (next.length) here = next;
    const legal = this.facts.ending ? [] : this.legal;
    if (here.some((action) => legal.includes(action))) return [];
    return [...new Set(here.map((action) => this.engine.say(this.record, "explain_illegal", action).text))].slice(0, most);
  }

  /** The picture of the position, with the last turn and what decided the game marked, as an SVG document. */
  svg(turnStart = this.actions.length) {
    const { board } = this.engine;
    const { drawing } = board;
    const parts = this.engine.shown(this.record);
    const marked = this.lastTurn(turnStart).flatMap((action) => board.paths[action]?.slice(1) ?? []);
    const farthest = Math.max(0, ...parts.map(([, place]) => drawing.distances[place] ?? 0));
    const [, [left, top, width, height, ...pixels], below, above] = drawing.views.find(([radius]) => farthest <= radius) ?? drawing.views.at(-1);
    const at = (part, place) => `<g transform="translate(${drawing.places[place].join(" ")})">${drawing.shapes[part]}</g>`;
    const rings = marked.map((place) => {
      const [, x, y, radius] = board.places[place];
      return `<circle cx="${x}" cy="${y}" r="${Math.min(radius, 17.8)}"/>`;
    });
    const decisive = this.facts.ending ? this.engine.say(this.record, "explain_result").marked : [];
    const deciding = decisive.map((action) => board.places[board.paths[action][1]]).map(([, x, y]) => `<circle cx="${x}" cy="${y}" r="${drawing.deciding[0]}"/>`);
    const panel = `<rect x="${left}" y="${top}" width="${width}" height="${height}" rx="${drawing.rounding}" fill="${drawing.panel}"/>`;
    const marks = rings.length ? `<g class="last-move" fill="none" stroke="${drawing.mark}" stroke-width="3.6">${rings.join("")}</g>` : "";
    const ring = deciding.length ? `<g class="deciding" fill="none" stroke="${drawing.deciding[1]}" stroke-width="${drawing.deciding[2]}">${deciding.join("")}</g>` : "";
    const content = `<defs>${drawing.defs}</defs>${panel}${below}${parts.map(([part, place]) => at(part, place)).join("")}${marks}${above}${ring}`;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${pixels[0]}" height="${pixels[1]}" viewBox="${left} ${top} ${width} ${height}" role="img" aria-label="${board.game} after ${this.actions.length} actions">${content}</svg>`;
  }

  /** The actions of the turn in progress and of the last one before it that was made on the board. */
  lastTurn(turnStart) {
    const movers = this.movers;
    const now = this.actions.slice(turnStart);
    let end = turnStart;
    while (end) {
      let begin = end;
      while (begin && movers[begin - 1][0] === movers[end - 1][0]) begin -= 1;
      const turn = this.actions.slice(begin, end);
      if (turn.some((action) => this.engine.board.paths[action])) return [...turn, ...now];
      end = begin;
    }
    return now;
  }
}
