// The analysis board: any position, what agents think of it, variations and comments.

import { botNamed, botsFor, get, info, isAbort, post, startGame, stream } from "../api.js";
import { factsOf, linesOf, ROWS, tableOf } from "../analysis.js";
import { Board } from "../board.js";
import { BotChoice } from "../bots.js";
import { lineChart } from "../charts.js";
import { judgedTurns, report } from "../report.js";
import { actionLabel, announce, button, copyLink, h, inTurn, keepFocus, keyList, labeled, percent, playerName, resultText, sleep, swatch, toast, turnText } from "../dom.js";
import { GameChoice, notation } from "../games.js";
import { importButton } from "../import.js";
import { recall, remember } from "../memory.js";
import { isSame, showPosition, why } from "../positions.js";

/** Columns that a heat map can show, with their names; an agent without the chosen one shows its policy. */
const HEATS = ["win", "policy", "visits", "prior"];
/** Number of places on the board that are marked with percentages, and the minimum share that is. */
const [MARKS, MARKED_SHARE] = [12, 0.01];

export async function showAnalysis(view, { id, query, signal, go }) {
  if (id === undefined && !query.has("game")) {
    view.append(await positionForm(go));
    document.title = "Analyze – Stoneworks";
    return;
  }
  let tree;
  if (id !== undefined) {
    tree = Tree.stored(await get(`games/${id}/tree`, {}, signal));
    const node = Number(query.get("node") ?? tree.current);
    if (tree.nodes.has(node)) tree.cursor = node;
  } else {
    const actions = (query.get("moves") ?? "").split(",").filter(Boolean);
    const position = await post("position", { game: query.get("game"), actions }, signal);
    tree = Tree.ofLine(position.game, position.actions, position.movers);
    tree.name = position.name;
  }
  const known = await info();
  const bots = await botsFor(tree.game);
  signal.throwIfAborted();
  const page = new AnalysisPage(tree, bots, known, query.get("agent"), signal, go);
  view.append(page.element);
  view.addEventListener("shown", () => page.drawCurve?.());
  await page.goTo(tree.cursor);
  document.addEventListener("keydown", (event) => page.key(event), { signal });
  signal.addEventListener("abort", () => page.leave());
}

/**
 * Returns what a heat map of an analysis shows: its column, the number in [0, 1] of each action, the largest first, and for
 * chances to win how certain they are, by the visits.
 */
function heatOf(found, wanted) {
  const column = found.columns.find(({ name }) => name === wanted) ?? found.columns.find(({ name }) => name === "policy") ?? found.columns[0];
  const rows = found.actions.filter((row) => row[column.name] !== null);
  const numbers = rows.map((row) => row[column.name]);
  const sum = column.kind === "count" ? numbers.reduce((total, number) => total + number, 0) || 1 : 1;
  if (column.kind !== "value") {
    const shares = rows.map((row, index) => [row.action, Math.min(1, numbers[index] / sum)]);
    return { column, shares: shares.filter(([, share]) => share > 1e-4).sort(([, one], [, other]) => other - one) };
  }
  const most = Math.max(1, ...rows.map((row) => row.visits ?? 1));
  const certain = rows.map((row) => [row.action, Math.sqrt((row.visits ?? 1) / most)]);
  const shares = rows.map((row) => [row.action, (1 + row.win) / 2]);
  return { column, shares: shares.filter((_, index) => certain[index][1] > 0), certainty: certain.filter(([, share]) => share > 0) };
}

async function positionForm(go) {
  const { games } = await info();
  const game = h("input", { type: "text", required: true, maxlength: "200", spellcheck: "false" });
  const moves = h("input", { type: "text", placeholder: "e5 f2 g1", spellcheck: "false" });
  const problem = h("p", { class: "error", role: "alert" });
  const choice = new GameChoice(games, {
    chosen: null,
    changed: (text) => {
      game.value = text;
    },
  });
  choice.choose(choice.game);
  const form = h(
    "form",
    {
      class: "card",
      onsubmit: async (event) => {
        event.preventDefault();
        problem.textContent = "";
        const actions = moves.value.replace(/(^|\s)\d+\.+/g, " ").split(/[\s,]+/).filter(Boolean);
        try {
          const position = await post("position", { game: game.value, actions });
          go(`analyze?${new URLSearchParams({ game: position.game, moves: position.actions.join(",") })}`);
        } catch (error) {
          problem.textContent = error.message;
          moves.focus();
        }
      },
    },
    h("h2", {}, "A position"),
    choice.element,
    labeled("Game string", game),
    labeled("Moves so far (optional)", moves),
    problem,
    h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, "Open the board")),
  );
  const saved = h(
    "section",
    { class: "card" },
    h("h2", {}, "A game"),
    h("p", {}, "Import a file of game records; the first of them opens here."),
    h("div", { class: "row" }, importButton((imported) => go(`analyze/${imported[0].id}`))),
    h("p", {}, "Or choose “Analyze” in the ", h("a", { href: "." }, "list of games"), "."),
  );
  return h("div", {}, h("h1", {}, "Analyze"), h("div", { class: "columns" }, form, saved));
}

/** The positions of a game: nodes by number, each with its parent, the action between them, who made it, and a comment. */
class Tree {
  constructor(game, id) {
    this.game = game;
    this.id = id;
    this.nodes = new Map([[0, { id: 0, parent: null, action: "", comment: "", mover: null, color: null }]]);
    this.cursor = 0;
    this.current = 0;
    this.title = "";
  }

  static stored(fields) {
    const tree = new Tree(fields.game, fields.id);
    tree.title = fields.title;
    tree.name = fields.name;
    tree.players = fields.players;
    tree.take(fields);
    tree.cursor = fields.current;
    return tree;
  }

  static ofLine(game, actions, movers) {
    const tree = new Tree(game, null);
    tree.current = actions.reduce((node, action, index) => tree.add(node, action, ...movers[index]), 0);
    tree.cursor = tree.current;
    return tree;
  }

  take({ nodes, current }) {
    this.current = current;
    this.nodes = new Map(nodes.map(([id, parent, action, comment, mover, color]) => [id, { id, parent, action, comment, mover, color }]));
    this.childrenOf = null;
  }

  add(parent, action, mover, color) {
    const known = this.children(parent).find((child) => child.action === action);
    if (known) return known.id;
    const id = Math.max(...this.nodes.keys()) + 1;
    this.nodes.set(id, { id, parent, action, comment: "", mover, color });
    this.childrenOf = null;
    return id;
  }

  remove(id) {
    for (const child of this.children(id)) this.remove(child.id);
    this.nodes.delete(id);
    this.childrenOf = null;
  }

  /** The ids of the nodes of the main line, the game itself first. */
  get mainLine() {
    return new Set([0, ...this.path(this.current).map((node) => node.id)]);
  }

  path(id) {
    const path = [];
    for (let node = this.nodes.get(id); node.parent !== null; node = this.nodes.get(node.parent)) path.push(node);
    return path.reverse();
  }

  /** Returns the whole tree as in the metadata of a record: the game itself first. */
  rows() {
    const main = this.mainLine;
    const others = [...this.nodes.keys()].filter((id) => !main.has(id)).sort((one, other) => one - other);
    const order = [...main, ...others];
    const place = new Map(order.map((id, index) => [id, index]));
    const rows = order.map((id) => {
      const { parent, action, comment } = this.nodes.get(id);
      return { parent: parent === null ? null : place.get(parent), action, ...(comment ? { comment } : {}) };
    });
    return { rows, place };
  }

  actions(id) {
    return this.path(id).map((node) => node.action);
  }

  /** Returns the nodes after one, that of the game itself first. */
  children(id) {
    if (!this.childrenOf) {
      this.childrenOf = new Map();
      const main = this.mainLine;
      for (const node of this.nodes.values()) {
        if (node.parent === null) continue;
        const siblings = this.childrenOf.get(node.parent) ?? [];
        if (main.has(node.id)) siblings.unshift(node);
        else siblings.push(node);
        this.childrenOf.set(node.parent, siblings);
      }
    }
    return this.childrenOf.get(id) ?? [];
  }

  /** Returns the nodes from the start through one to the end of its line. */
  lineThrough(id) {
    const line = this.path(id);
    for (let next = this.children(id)[0]; next; next = this.children(next.id)[0]) line.push(next);
    return line;
  }
}

class AnalysisPage {
  constructor(tree, bots, limits, wanted, signal, go) {
    this.tree = tree;
    this.bots = bots;
    this.limits = limits;
    this.signal = signal;
    this.go = go;
    this.found = new Map();
    this.values = new Map();
    this.typed = new Map();
    this.shownLine = null;
    this.running = null;
    this.curveRunning = null;
    const name = tree.game.split("(")[0];
    this.storage = `agents-${name}`;
    const offered = new Set(bots.map((bot) => bot.name));
    const networks = bots.filter((bot) => bot.kind === "checkpoint");
    const usual = [networks.filter((bot) => bot.searches).sort((one, other) => (other.rating ?? 0) - (one.rating ?? 0))[0]?.name ?? "mcts:1000", "greedy"].filter((agent) => offered.has(agent));
    this.agents = recall(this.storage, usual, (agents) => Array.isArray(agents) && agents.every((agent) => typeof agent === "string"));
    if (wanted) this.agents = [wanted, ...this.agents.filter((agent) => agent !== wanted)];
    this.heat = this.agents[0] ?? null;
    this.heatKind = recall("heat", HEATS[0], (kind) => HEATS.includes(kind));
    this.deepens = recall("deepen", false);
    this.auto = recall("auto-analysis", true);
    this.curveAgent = networks.find((bot) => !bot.searches)?.name ?? "mcts:100";
    this.build();
  }

  build() {
    const { tree } = this;
    document.title = `Analysis of ${tree.title || tree.name} – Stoneworks`;
    this.play = inTurn((actions, instead) => this.playNow(actions, instead));
    this.board = new Board((action, then = [], instead) => this.play([action, ...then], instead), {
      signal: this.signal,
      onChosen: (text) => (text ? (this.status.textContent = text) : this.showStatus()),
      onMiss: (click) => this.explain(click),
    });
    this.share = h("div", { class: "share" });
    this.shareText = h("span", { class: "share-text" });
    this.bar = h("div", { class: "value-bar", role: "img" }, this.share, this.shareText);
    this.curve = h("div", { class: "curve" });
    this.report = h("details", { class: "report", open: recall("report", true), ontoggle: () => remember("report", this.report.open) }, h("summary", {}, "Report of the game"), h("div", {}));
    this.legend = h("p", { class: "faint center" });
    this.status = h("p", { class: "status" });
    this.panels = h("div", { class: "agents" });
    this.moves = h("div", { class: "tree", tabindex: "0", role: "group", "aria-label": "Moves and variations" });
    this.comment = h("textarea", { rows: "2", maxlength: String(this.limits.comment_characters), onchange: () => this.saveComment() });
    this.tools = h("div", { class: "row", role: "group", "aria-label": "Analysis" });
    this.adding = new BotChoice(h("span", { class: "unseen" }, "Add an agent"), { empty: "Add an agent …", chosen: (name) => this.addAgent(name) });
    this.opponent = new BotChoice("Opponent");
    this.opponent.list(tree.game, { wanted: null });
    this.heatChoice = h(
      "select",
      {
        onchange: () => {
          this.heatKind = this.heatChoice.value;
          remember("heat", this.heatKind);
          this.showPanels();
          this.showBoard();
        },
      },
      HEATS.map((kind) => h("option", { value: kind, selected: kind === this.heatKind }, kind === "win" ? "chance to win" : kind)),
    );
    this.curveChoice = h("select", {
      "aria-label": "Agent of the value curve",
      onchange: () => {
        this.curveAgent = this.curveChoice.value;
        this.updateCurve(true);
      },
    });
    this.curveChoice.append(...this.bots.filter((bot) => bot.values).map((bot) => h("option", { value: bot.name, selected: bot.name === this.curveAgent }, bot.name)));
    const auto = h("input", {
      type: "checkbox",
      checked: this.auto,
      onchange: () => {
        this.auto = auto.checked;
        remember("auto-analysis", this.auto);
        if (this.auto) {
          this.curveDone = this.updateCurve();
          this.think();
        } else this.stop();
        this.showPanels();
      },
    });
    const deepen = h("input", {
      type: "checkbox",
      checked: this.deepens,
      onchange: () => {
        this.deepens = deepen.checked;
        remember("deepen", this.deepens);
        this.think();
      },
    });
    const step = (text, label, key) => button(text, () => this.step(key), { "aria-label": label, title: label });
    this.element = h(
      "div",
      { class: "game analysis" },
      h(
        "div",
        { class: "stage" },
        h("div", { class: "with-bar" }, this.bar, this.board.element),
        this.legend,
        h(
          "div",
          { class: "row center", role: "group", "aria-label": "Steps" },
          step("«", "First position", "Home"),
          step("‹", "Previous position", "ArrowLeft"),
          step("›", "Next position", "ArrowRight"),
          step("»", "Last position", "End"),
          button("Flip", () => this.board.flip(), { "aria-label": "Flip the board" }),
          button("Turn the board", () => this.board.rotate(), { title: "Turn the board by one side" }),
        ),
        h("div", { class: "card" }, h("div", { class: "row" }, h("h2", {}, "Value curve"), this.curveChoice), this.curve, this.report),
      ),
      h(
        "div",
        { class: "side" },
        h("h1", {}, tree.title || tree.name),
        this.status,
        h(
          "div",
          { class: "row analysis-options" },
          h("label", { class: "check" }, auto, " Analyze every position"),
          h("label", { class: "check" }, deepen, " Search on while I look"),
          h("label", {}, "Heat map: ", this.heatChoice),
          this.adding.element,
        ),
        this.panels,
        h("h2", {}, "Moves and variations"),
        this.moves,
        notation(this.limits.games.find(({ name }) => name === tree.game.split("(")[0])) ?? "",
        labeled("Comment on this position", this.comment, { class: "field comment" }),
        this.tools,
        keyList([
          ["← →", "previous, next position"],
          ["↑ ↓", "other variation"],
          ["Home, End", "first, last position"],
          ["l, m", "best line, heat map of the first agent"],
          ["Tab, arrows, Enter", "choose a place on the board"],
        ]),
      ),
    );
    this.showAgentChoice();
    this.showTree();
    for (const agent of this.agents.filter((name) => !this.bots.some((bot) => bot.name === name))) {
      botNamed(tree.game, agent).then((bot) => this.typed.set(agent, bot), () => {});
    }
  }

  // -- The tree ----------------------------------------------------------------------------------------------------------

  showTree() {
    this.moveButtons = new Map();
    this.moves.replaceChildren(this.lineOf(0, true));
    if (this.moves.firstChild.childElementCount === 0) this.moves.append(h("p", { class: "faint" }, "Play an action on the board."));
    this.judged?.();
    this.markCursor();
  }

  /** Returns an element with the line after a node; its variations are elements within. */
  lineOf(start, isMain, first = null) {
    const line = h("div", { class: isMain ? "line" : "line variation" });
    const before = this.tree.path(start);
    let turn = before.filter((step, index) => index === 0 || step.mover !== before[index - 1].mover).length;
    let mover = before.at(-1)?.mover ?? null;
    let node = start;
    let only = first;
    let group = null;
    while (true) {
      const children = only ? [only] : this.tree.children(node);
      only = null;
      if (!children.length) return line;
      const [next, ...others] = children;
      if (next.mover !== mover) turn += 1;
      if (next.mover !== mover || group === null) {
        group = h("span", { class: "turn-head" }, h("span", { class: "faint" }, `${turn}.`), swatch(next.color));
        line.append(" ", group);
      }
      const move = button(next.mover === mover ? next.action : turnText([next.action]), () => this.goTo(next.id), { class: "move" });
      this.moveButtons.set(next.id, move);
      if (group.childElementCount === 3) group.append(move);
      else line.append(" ", move);
      mover = next.mover;
      if (next.comment) line.append(h("span", { class: "comment-text" }, next.comment), " ");
      for (const other of others) line.append(this.lineOf(node, false, other));
      if (others.length || next.comment) group = null;
      node = next.id;
    }
  }

  markCursor() {
    this.moves.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const current = this.moveButtons.get(this.tree.cursor);
    current?.setAttribute("aria-current", "true");
    if (current) {
      const top = current.offsetTop - this.moves.offsetTop;
      if (top < this.moves.scrollTop || top > this.moves.scrollTop + this.moves.clientHeight - 30) this.moves.scrollTop = top - this.moves.clientHeight / 2;
    }
  }

  async goTo(node) {
    this.tree.cursor = node;
    this.shownLine = null;
    this.markCursor();
    this.comment.value = this.tree.nodes.get(node).comment;
    this.showAddress();
    this.showTools();
    await this.showBoard();
    if (this.tree.cursor !== node) return;
    this.curveDone = this.updateCurve();
    this.think();
  }

  /** Waits until the board shows the position at the cursor. */
  async settle() {
    while (this.shownNode !== this.tree.cursor) await this.showBoard();
  }

  /** Plays actions at the cursor; those that were clicked before its position was shown count if they are legal in it. */
  async playNow(actions, instead) {
    const { tree } = this;
    await this.settle();
    if (instead) {
      await this.goTo(tree.nodes.get(tree.cursor).parent);
      await this.settle();
    }
    if (![...this.position.legal, ...this.position.buttons].some(({ action }) => action === actions[0])) return null;
    const known = actions.reduce((node, action) => (node === null ? null : (tree.children(node).find((child) => child.action === action)?.id ?? null)), tree.cursor);
    if (known !== null) return this.goTo(known);
    let node;
    if (tree.id !== null) {
      const answer = await post(`games/${tree.id}/variation`, { node: tree.cursor, actions }, this.signal);
      tree.take(answer);
      node = answer.node;
    } else {
      const { player, colors } = this.position;
      node = actions.reduce((at, action) => tree.add(at, action, player, colors[player]), tree.cursor);
    }
    this.showTree();
    return this.goTo(node);
  }

  /** Shows on the board why a click on it is illegal. */
  async explain(click) {
    const { position } = this;
    if (position.outcome) return;
    const reasons = await why(position.game, position.actions, click, this.signal);
    if (reasons.length && isSame(position, this.position)) this.board.say(reasons.join("; "), click);
  }

  step(key) {
    const { tree } = this;
    const at = tree.nodes.get(tree.cursor);
    const siblings = at.parent === null ? [] : tree.children(at.parent);
    const place = siblings.findIndex((node) => node.id === at.id);
    const to = {
      Home: 0,
      ArrowLeft: at.parent,
      ArrowRight: tree.children(at.id)[0]?.id,
      End: tree.lineThrough(at.id).at(-1)?.id,
      ArrowUp: siblings[place - 1]?.id,
      ArrowDown: siblings[place + 1]?.id,
    }[key];
    if (to !== null && to !== undefined && to !== at.id) this.goTo(to);
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    const pressed = { l: "line", m: "heat" }[event.key];
    if (pressed) this.panels.querySelector(`[data-name^="${pressed} "]`)?.click();
    if (!["Home", "End", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    this.step(event.key);
  }

  link() {
    const query = new URLSearchParams({ game: this.tree.game, moves: this.tree.actions(this.tree.cursor).join(",") });
    return `analyze?${query}`;
  }

  showAddress() {
    const { tree } = this;
    history.replaceState(null, "", tree.id === null ? this.link() : `analyze/${tree.id}?node=${tree.cursor}`);
  }

  async saveComment() {
    const { tree } = this;
    const node = tree.cursor;
    const text = this.comment.value;
    if (tree.id !== null) await post(`games/${tree.id}/comment`, { node, text }); // also if the page is left just now
    tree.nodes.get(node).comment = text;
    do await sleep(50, this.signal);
    while (this.moves.matches(":active")); // a press would lose its button
    this.showTree();
  }

  showTools() {
    const { tree } = this;
    const onMainLine = tree.mainLine.has(tree.cursor);
    const isOver = Boolean(this.position?.outcome);
    const shown = [tree.id, onMainLine, isOver].join();
    if (this.toolsShown === shown) return; // an opponent may be chosen or typed just now
    this.toolsShown = shown;
    this.tools.replaceChildren(
      ...[
        button("Copy link", () => copyLink(this.link())),
        this.opponent.element,
        button("Play from here", () => this.playFromHere(), { disabled: isOver }),
        tree.id === null ? button("Save", () => this.save(), { class: "primary" }) : h("a", { class: "button", href: `api/games/${tree.id}/record`, download: true }, "Record"),
        tree.id === null ? null : h("a", { class: "button", href: `play/${tree.id}` }, "Game"),
        !onMainLine ? button("Delete variation", () => this.removeVariation()) : null,
      ].filter(Boolean),
    );
  }

  /** Starts a game from the position for the player to move, against the chosen opponent. */
  async playFromHere() {
    await this.settle();
    const { tree, position, opponent } = this;
    if (opponent.isPending) return opponent.name.focus();
    const players = position.player === 0 ? [null, opponent.value] : [opponent.value, null];
    await startGame({ game: tree.game, players, actions: tree.actions(tree.cursor), confirm: true }, this.go);
  }

  /** Keeps the whole tree as a game on the server. */
  async save() {
    const { tree } = this;
    const { rows, place } = tree.rows();
    const fields = { game: tree.game, players: [null, null], actions: tree.actions(tree.current), title: "Analysis", tree: rows };
    await startGame(fields, this.go, (id) => `analyze/${id}?node=${place.get(tree.cursor)}`);
  }

  async removeVariation() {
    const { tree } = this;
    const main = tree.mainLine;
    const inVariation = tree.path(tree.cursor).filter((node) => !main.has(node.id));
    const [first] = inVariation;
    if (tree.id !== null) await post(`games/${tree.id}/prune`, { node: first.id }, this.signal);
    tree.remove(first.id);
    this.showTree();
    await this.goTo(first.parent);
  }

  // -- The board ---------------------------------------------------------------------------------------------------------

  async showBoard() {
    const { tree } = this;
    const fields = { game: tree.game, actions: tree.actions(tree.cursor) };
    const node = tree.cursor;
    const found = this.heat && !this.shownLine ? this.analysisOf(this.heat) : null;
    const { column, shares, certainty } = found ? heatOf(found, this.heatKind) : {};
    if (this.shownLine) fields.line = this.shownLine;
    if (shares) fields.heat = Object.fromEntries(shares);
    if (certainty) fields.certainty = Object.fromEntries(certainty);
    const words = { value: "chance to win after each move", share: "policy", count: "share of the visits" };
    const shown = column ? `${column.name === "prior" ? "prior" : words[column.kind]}, in %, by ${playerName(this.heat)}${fields.certainty ? "; paler where it is worse or less sure" : ""}` : fields.line ? `best line of ${playerName(this.lineAgent)}` : "";
    this.legend.textContent = shown && `Numbers on the board: ${shown}`;
    this.board.element.classList.toggle("quiet", Boolean(this.shownLine || fields.heat));
    const asked = JSON.stringify(fields);
    this.wantedFields = asked;
    if (asked === this.shownFields) {
      this.shownNode = node;
      return;
    }
    const show = (position) => {
      if (this.wantedFields !== asked) return;
      this.shownFields = asked;
      this.shownNode = node;
      this.position = position;
      this.board.show(position, { label: `Board of ${tree.name} after ${fields.actions.length} actions` });
      this.showTools();
      this.showStatus();
      this.showButtons();
    };
    if (fields.heat || fields.line) show(await post("position", fields, this.signal));
    else await showPosition(fields.game, fields.actions, this.signal, show);
  }

  showStatus() {
    const { position } = this;
    const turn = () => `${position.colors[position.player]} to move${position.turn && `: ${position.turn}`}${position.supplies && `; ${position.supplies}`}`;
    this.status.textContent = position.outcome ? resultText(position.outcome, position.colors, position.why) : turn();
    const score = position.score;
    if (score && !Array.isArray(score[0])) this.status.textContent += ` · score ${score[0]} : ${score[1]}`;
  }

  showButtons() {
    const labels = this.position.buttons.map((item) => actionLabel(item, this.position));
    if (String(labels) === this.buttonsShown) return; // one may be pressed just now
    this.buttonsShown = String(labels);
    const buttons = this.position.buttons.map((item, index) => button(labels[index], () => this.play([item.action]), { "data-action": item.action }));
    this.globalButtons?.remove();
    this.globalButtons = buttons.length ? h("div", { class: "row", role: "group", "aria-label": "Actions beside the board" }, buttons) : null;
    if (this.globalButtons) this.status.after(this.globalButtons);
  }

  // -- Agents ------------------------------------------------------------------------------------------------------------

  keyOf(agent) {
    return `${agent}|${this.tree.actions(this.tree.cursor).join(" ")}`;
  }

  analysisOf(agent) {
    const found = this.found.get(this.keyOf(agent));
    return found && !found.error ? found : null;
  }

  showAgentChoice() {
    return this.adding.list(this.tree.game, { wanted: null, without: this.agents });
  }

  addAgent(name) {
    if (!name || this.agents.includes(name)) return;
    if (this.adding.typed?.name === name) this.typed.set(name, this.adding.typed);
    this.agents.push(name);
    this.agentsChanged();
  }

  agentsChanged() {
    remember(this.storage, this.agents);
    if (!this.agents.includes(this.heat)) this.heat = this.agents[0] ?? null;
    this.showAgentChoice();
    this.showPanels();
    this.think();
  }

  stop() {
    this.running?.abort();
    this.curveRunning?.abort();
  }

  /** Ends what goes on, when the page is left. */
  leave() {
    this.stop();
    if (this.comment.value !== this.tree.nodes.get(this.tree.cursor).comment) this.saveComment();
  }

  async think(forced = false) {
    this.running?.abort();
    const own = new AbortController();
    this.running = own;
    this.showPanels();
    this.showBar();
    if (!this.position || this.position.outcome || (!this.auto && !forced)) return;
    const missing = this.agents.filter((agent) => !this.analysisOf(agent));
    if (missing.length && !forced) await sleep(120, own.signal).catch(() => {});
    const actions = this.tree.actions(this.tree.cursor);
    await Promise.all(
      missing.map(async (agent) => {
        if (own.signal.aborted) return;
        const key = this.keyOf(agent);
        try {
          this.found.set(key, await post("analyze", { game: this.tree.game, actions, bot: agent }, own.signal));
        } catch (error) {
          if (isAbort(error)) return;
          this.found.set(key, { error: error.message });
        }
        if (own.signal.aborted) return;
        this.showPanels();
        this.showBar();
        if (agent === this.heat && !this.shownLine) await this.showBoard();
      }),
    );
    if (!own.signal.aborted && missing.length) announce(this.barText ?? "");
    if (this.deepens && !own.signal.aborted) this.deepen(actions, own.signal);
  }

  /** Lets the agents that search with a network go on, one after the other, and shows what they find. */
  async deepen(actions, signal) {
    await this.curveDone; // where there is one process, it would wait for the search
    const hasPriors = (agent) => this.analysisOf(agent)?.columns?.some(({ name }) => name === "prior");
    for (const agent of this.agents.filter(hasPriors)) {
      if (signal.aborted) return;
      const key = this.keyOf(agent);
      const show = (found) => {
        if (signal.aborted || (found.simulations ?? 0) < (this.found.get(key).simulations ?? 0)) return;
        this.found.set(key, found);
        if (!this.panels.matches(":active")) this.showPanels(); // a press would lose its button
        this.showBar();
        if (agent === this.heat && !this.shownLine) this.showBoard();
      };
      await stream("analyze/stream", { game: this.tree.game, actions, bot: agent }, signal, show).catch((error) => {
        if (!isAbort(error)) toast(error.message);
      });
    }
  }

  showBar() {
    const found = this.agents.map((agent) => this.analysisOf(agent)).find((analysis) => analysis?.value !== null && analysis?.value !== undefined);
    let share = null;
    if (this.position?.outcome) share = this.position.outcome.winner === null ? 0.5 : 1 - this.position.outcome.winner;
    else if (found) share = (1 + found.value * (1 - 2 * found.player)) / 2;
    const colors = this.position?.colors ?? ["", ""];
    this.bar.className = `value-bar ${colors[1].toLowerCase()}${share === null ? " unknown" : ""}`;
    this.share.style.height = `${100 * (share ?? 0.5)}%`;
    this.share.className = `share ${colors[0].toLowerCase()}`;
    this.shareText.textContent = share === null ? "" : (100 * share).toFixed(0);
    this.barText = share === null ? "no value yet" : `${colors[0]} ${percent(share)}, ${found?.bot ?? "the result"}`;
    this.bar.setAttribute("aria-label", `Value: ${this.barText}`);
  }

  showPanels() {
    keepFocus(this.panels, () => this.panels.replaceChildren(...this.agents.map((agent) => this.panelOf(agent))));
  }

  panelOf(agent) {
    const bot = this.bots.find((known) => known.name === agent) ?? this.typed.get(agent);
    const found = this.found.get(this.keyOf(agent));
    const remove = button("×", () => this.removeAgent(agent), { class: "quiet", "aria-label": `Remove ${agent}`, "data-name": `remove ${agent}` });
    const head = h("div", { class: "agent-head" }, h("h2", { title: agent }, playerName(agent)), remove);
    const panel = h("section", { class: "agent card", "aria-label": agent }, head);
    if (bot && bot.rating !== null) panel.append(h("p", { class: "rating" }, `rated ${Math.round(bot.rating)} ± ${Math.round(bot.error)}`));
    if (!found) {
      const over = this.position?.outcome;
      panel.append(
        over
          ? h("p", { class: "faint" }, "The game is over.")
          : this.auto
            ? h("p", { class: "faint" }, "Thinking …")
            : button("Analyze", () => this.think(true)),
      );
      return panel;
    }
    if (found.error) {
      panel.append(h("p", { class: "error" }, found.error), button("Try again", () => this.think(true)));
      return panel;
    }
    const heat = heatOf(found, this.heatKind);
    const order = heat.certainty ? [...heat.certainty].sort(([, one], [, other]) => other - one) : heat.shares.filter(([, share]) => share >= MARKED_SHARE);
    const marked = order.slice(0, MARKS).map(([action]) => action);
    panel.append(
      factsOf(found, this.position?.colors ?? ["", ""]),
      h(
        "div",
        { class: "row tight" },
        button("Heat map", () => this.showHeat(agent), { "aria-pressed": String(this.heat === agent && !this.shownLine), "data-name": `heat ${agent}` }),
        found.line.length
          ? button("Best line", () => this.showLine(agent, found.line), { "aria-pressed": String(this.lineAgent === agent && Boolean(this.shownLine)), "data-name": `line ${agent}` })
          : null,
        linesOf(found),
      ),
      tableOf(found, found.actions.filter((row, index) => index < ROWS || marked.includes(row.action)), (action) => this.play([action]), agent),
    );
    return panel;
  }

  removeAgent(agent) {
    this.agents = this.agents.filter((other) => other !== agent);
    this.agentsChanged();
    this.showBoard();
  }

  async showHeat(agent) {
    this.heat = this.heat === agent && !this.shownLine ? null : agent;
    this.shownLine = null;
    this.showPanels();
    await this.showBoard();
  }

  async showLine(agent, line) {
    const showing = this.lineAgent === agent && this.shownLine;
    this.shownLine = showing ? null : line;
    this.lineAgent = agent;
    this.showPanels();
    await this.showBoard();
  }

  /** Marks the turning points in the list of moves, and writes the report. */
  showJudgments(turns, agent) {
    this.judged = () => {
      for (const move of this.moveButtons.values()) delete move.dataset.mark;
      for (const turn of turns.filter(({ mark }) => mark)) {
        const move = this.moveButtons.get(turn.node);
        if (!move) continue;
        move.dataset.mark = turn.mark;
        move.title = `${turn.word}: ${percent(turn.before)} to ${percent(turn.after)} by ${agent}`;
      }
    };
    this.judged();
    const focused = this.report.lastChild.contains(document.activeElement);
    this.report.lastChild.replaceChildren(report(turns, agent, this.tree.players, (node) => this.goTo(node)));
    if (focused) this.report.querySelector("summary").focus();
  }

  // -- The value curve ---------------------------------------------------------------------------------------------------

  async updateCurve(isAsked = this.auto) {
    this.curveRunning?.abort();
    const own = new AbortController();
    this.curveRunning = own;
    const line = this.tree.lineThrough(this.tree.cursor).map((node) => node.action);
    const at = this.tree.path(this.tree.cursor).length;
    const agent = this.curveAgent;
    const keys = Array.from({ length: line.length + 1 }, (_, count) => `${agent}|${line.slice(0, count).join(" ")}`);
    const draw = () => {
      if (!this.curve.isConnected) return; // its width is not known yet
      const ys = keys.map((key) => this.values.get(key)?.[0] ?? null);
      const nodes = [this.tree.nodes.get(0), ...this.tree.lineThrough(this.tree.cursor)];
      const turns = judgedTurns(nodes, ys, keys.map((key) => this.values.get(key)?.[1] ?? false));
      this.showJudgments(turns, agent);
      const marked = turns.filter((turn) => turn.mark);
      this.curve.replaceChildren(
        lineChart([{ name: playerName(agent), xs: keys.map((_, index) => index), ys }], {
          title: `Value for ${this.position?.colors[0] ?? "player 0"} after each action, by ${agent}`,
          low: -1,
          high: 1,
          at,
          marks: marked.map((turn) => ({ x: turn.at, y: ys[turn.at], text: turn.mark, label: `${turn.color}: ${turnText(turn.actions)}, ${turn.word}` })),
          width: Math.max(320, this.curve.clientWidth),
          height: 150,
          pick: (x) => {
            this.goTo(nodes[Math.max(0, Math.min(nodes.length - 1, Math.round(x)))].id);
          },
        }),
      );
    };
    this.drawCurve = draw;
    draw();
    if (!isAsked) return;
    try {
      for (let first = 0; first < keys.length; ) {
        if (this.values.has(keys[first])) {
          first += 1;
          continue;
        }
        const count = Math.min(this.limits.curve_positions, keys.length - first);
        await sleep(60, own.signal);
        const answer = await post("values", { game: this.tree.game, actions: line, bot: agent, first, count }, own.signal);
        answer.values.forEach((value, index) => this.values.set(keys[first + index], [value, answer.proven[index]]));
        first += answer.values.length;
        draw();
      }
    } catch (error) {
      if (!isAbort(error)) this.curve.append(h("p", { class: "error" }, error.message));
    }
  }
}
