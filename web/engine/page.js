// Boards on pages of the documentation, which are played against players in a worker.

import { factsOf, linesOf, ROWS, tableOf } from "./analysis.js";
import { Board } from "./board.js";
import { Client } from "./client.js";
import { announce, button, h, keepFocus, resultText } from "./dom.js";

const PLAYERS = { greedy: "greedy", uct: "UCT search", agent: "agent with search", person: "a person here" };

class Table {
  /** A game in an element; `data-game` and `data-board` name the first one, `data-address` says that the page's address is the game. */
  constructor(element, client, games) {
    this.client = client;
    this.games = games;
    this.element = element;
    this.hasAddress = "address" in element.dataset;
    this.actions = [];
    this.hint = [];
    this.version = 0;
    this.board = new Board((action, then, instead) => this.play([action, ...(then ?? [])], instead), { onChosen: (text) => this.say(text), onMiss: (click) => this.explain(click) });
    this.status = h("p", { class: "play-status", role: "status" });
    this.supplies = h("p", { class: "play-supplies" });
    this.globals = h("span", { class: "play-globals" });
    const options = (given) => Object.entries(given).map(([value, text]) => h("option", { value }, text));
    this.select = {
      game: h("select", { onchange: () => this.choose() }, options(Object.fromEntries(games.map(({ name, title }) => [name, title])))),
      board: h("select", { onchange: () => this.start() }),
      player: h("select", { onchange: () => this.update() }, options(PLAYERS)),
      side: h("select", { onchange: () => this.start() }, options({ 0: "first", 1: "second" })),
    };
    const labels = { game: "Game", board: "Board", player: "Opponent", side: "You move" };
    const fields = Object.entries(this.select).map(([name, select]) => {
      select.setAttribute("aria-label", labels[name]);
      return h("label", { hidden: name === "game" && !this.hasAddress }, `${labels[name]} `, select);
    });
    this.back = button("Take back", () => this.takeBack());
    this.hintButton = button("Hint", () => this.showHint());
    this.analyzeButton = button("Analyze", () => this.setAnalyzing(!this.isAnalyzing), { "aria-pressed": "false" });
    const mark = () => this.mark();
    this.panel = h("section", { class: "agent", "aria-label": "Analysis", hidden: true, onpointerover: mark, onfocusin: mark, onpointerleave: mark, onfocusout: mark });
    const controls = h("div", { class: "play-controls" }, button("New game", () => this.start()), this.back, this.hintButton, this.analyzeButton, this.globals);
    if (this.hasAddress) controls.append(button("Copy address", () => this.copy()));
    this.rules = h("ul", {});
    const rules = h("details", { hidden: !this.hasAddress }, h("summary", {}, "The rules in short"), this.rules);
    element.replaceChildren(h("div", { class: "play-fields" }, fields), this.status, this.supplies, this.board.element, controls, this.panel, rules);
    if (this.hasAddress) addEventListener("hashchange", () => this.open());
    if (!this.hasAddress || !this.open()) this.choose(element.dataset.game, element.dataset.board);
  }

  /** Opens the game of the page's address, `#vadus-standard;e5;d4`, and returns whether it has one. */
  open() {
    const [first, ...actions] = decodeURIComponent(location.hash.slice(1)).split(";");
    const [name] = first.split("-", 1);
    const board = first.slice(name.length + 1);
    const game = this.games.find((one) => one.name === name);
    if (!game?.boards.some((one) => one.board === board)) return false;
    if (first === this.key && String(actions) === String(this.actions)) return true;
    this.choose(name, board, actions);
    return true;
  }

  choose(name = this.select.game.value, board = "", actions = []) {
    this.select.game.value = name;
    const { boards, rules } = this.games.find((game) => game.name === this.select.game.value);
    this.rules.replaceChildren(...rules.map((rule) => h("li", {}, rule)));
    this.select.board.replaceChildren(...boards.filter((one) => one.named || one.board === board).map((one) => h("option", { value: one.board }, one.name.split(", ").slice(1).join(", "))));
    if (board) this.select.board.value = board;
    return this.start(actions);
  }

  start(actions = []) {
    this.actions = actions;
    if (actions.length) this.select.player.value = "person"; // to be looked at; choosing an opponent plays on
    return this.update();
  }

  get place() {
    return { game: this.select.game.value, board: this.select.board.value };
  }

  get key() {
    return `${this.place.game}-${this.place.board}`;
  }

  /** Shows the position, and lets the opponent move. */
  async update() {
    this.version += 1;
    const { version, actions } = this;
    this.element.dataset.state = "thinking";
    this.hint = [];
    this.client.analyze();
    if (this.hasAddress) history.replaceState(null, "", actions.length ? `#${[this.key, ...actions].join(";")}` : location.pathname + location.search);
    try {
      const position = await this.client.ask("position", { ...this.place, actions });
      if (version !== this.version) return;
      this.position = position;
      this.show();
      if (position.player === null || this.isMine) return;
      const { action } = await this.client.ask("reply", { ...this.place, actions, player: this.select.player.value });
      if (version !== this.version) return;
      this.actions = [...actions, action];
      await this.update();
    } catch (error) {
      if (version !== this.version) return;
      this.element.dataset.state = "failed";
      this.hintButton.disabled = true;
      this.status.textContent = error.message;
    }
  }

  get isMine() {
    return this.select.player.value === "person" || this.position.player === Number(this.select.side.value);
  }

  show() {
    const { position } = this;
    const open = position.player !== null && this.isMine;
    this.board.show(open ? position : { ...position, legal: [], instead: [] }, { hint: this.hint, label: position.name });
    this.globals.replaceChildren(...(open ? position.buttons : []).map(({ action }) => button(action, () => this.play([action]), { "data-action": action, class: this.hint.includes(action) ? "primary" : "" })));
    this.back.disabled = !this.actions.length;
    this.hintButton.disabled = !open;
    this.element.dataset.state = position.player === null ? "over" : open ? "open" : "thinking";
    this.supplies.textContent = position.supplies;
    this.say(this.words());
    if (this.isAnalyzing) this.analyze();
  }

  setAnalyzing(isAnalyzing) {
    this.isAnalyzing = isAnalyzing;
    this.analyzeButton.setAttribute("aria-pressed", String(isAnalyzing));
    this.panel.hidden = !isAnalyzing;
    if (isAnalyzing && this.position) this.analyze();
    else this.client.analyze();
  }

  /** Searches the position that is shown, and shows what is found while the search goes on. */
  analyze() {
    const { colors, player } = this.position;
    const show = (found) => {
      if (this.panel.matches(":active")) return; // a press would lose its button
      const rows = () => [h("h2", {}, PLAYERS[found.bot]), factsOf(found, colors), linesOf(found), tableOf(found, found.actions.slice(0, ROWS), (action) => this.play([action]), "analysis")];
      keepFocus(this.panel, () => this.panel.replaceChildren(...(found.error ? [h("p", { class: "error" }, found.error)] : rows())));
      this.mark();
    };
    this.panel.replaceChildren(h("p", { class: "faint" }, player === null ? "The game is over." : "Thinking …"));
    if (this.element.dataset.state === "open") this.client.analyze({ ...this.place, actions: this.actions }, show);
    else this.client.analyze();
  }

  /** Marks the action under the mouse, or else that of the focus, on the board. */
  mark() {
    const row = this.panel.querySelector("[data-row]:hover") ?? this.panel.querySelector("[data-row]:focus-within");
    const hint = row ? [row.dataset.row] : this.hint;
    if (this.board.hint[0] === hint[0] || this.board.chosen.length) return;
    this.board.hint = hint;
    this.board.render();
  }

  words() {
    const { outcome, colors, player, turn, why } = this.position;
    if (outcome) return resultText(outcome, colors, why);
    return `${colors[player]} to move${this.isMine ? `: ${turn}` : "; the opponent is thinking"}`;
  }

  /** Shows on the board why a click on it is illegal. */
  async explain(click) {
    const { version, actions } = this;
    if (this.element.dataset.state !== "open") return;
    const reasons = await this.client.ask("why", { ...this.place, actions, click });
    if (version === this.version && reasons.length) this.board.say(reasons.join("; "), click);
  }

  say(text) {
    this.status.textContent = text || this.words();
  }

  play(actions, instead = false) {
    if (this.element.dataset.state !== "open") return; // a second click, before the position after the first is there
    this.actions = [...(instead ? this.actions.slice(0, -1) : this.actions), ...actions];
    return this.update();
  }

  /** Takes back the last action of the person, and what the opponent has answered. */
  takeBack() {
    const movers = this.position?.movers ?? [];
    let kept = this.actions.length - 1;
    if (this.select.player.value !== "person") while (kept > 0 && movers[kept] && movers[kept][0] !== Number(this.select.side.value)) kept -= 1;
    this.actions = this.actions.slice(0, kept);
    return this.update();
  }

  async showHint() {
    const { version } = this;
    this.say("Searching for a hint");
    try {
      const { action, value } = await this.client.ask("reply", { ...this.place, actions: this.actions, player: "agent" });
      if (version !== this.version) return;
      this.hint = [action];
      this.show();
      this.say(`Hint: ${action} (${Math.round(50 * (1 + value))} % expected result)`);
    } catch (error) {
      if (version === this.version) this.say(`There is no hint: ${error.message}`);
    }
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(location.href);
    } catch {
      return this.say(`The address of this game is ${location.href}`); // the browser does not allow it
    }
    announce("Copied");
    this.say("The address of this game is copied.");
  }
}

async function begin() {
  const elements = [...document.querySelectorAll(".play-here")];
  if (!elements.length) return;
  document.body.append(h("div", { id: "live", class: "unseen", "aria-live": "polite" }), h("div", { id: "toasts" }));
  if (navigator.serviceWorker) navigator.serviceWorker.register(new URL("../play-offline.js", import.meta.url)).catch(() => {});
  const client = new Client();
  try {
    const games = await client.ask("games");
    for (const element of elements) new Table(element, client, games);
  } catch (error) {
    for (const element of elements) element.textContent = `The games cannot be loaded: ${error.message}`;
  }
}

begin();
