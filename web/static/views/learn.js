// Learning a game: small positions to play in, one after the other.

import { ApiError, botsFor, easyOf, get, info, startGame } from "../api.js";
import { Board } from "../board.js";
import { actionLabel, announce, button, h, inTurn, keepFocus, parseSvg, requestCounter } from "../dom.js";
import { howToPlay } from "../games.js";
import { isSame, showPosition, why } from "../positions.js";

export async function showLessons(view, { id, signal, go }) {
  const game = (await info()).games.find(({ name }) => name === id);
  if (!game?.lessons.length) throw new ApiError("There are no lessons of this game.", 404);
  document.title = `Learn ${game.title} – Stoneworks`;
  const page = new Lessons(game, signal, go);
  view.append(page.element);
  await page.start(0);
}

/** What pictures of picked pieces show. */
const PICKS = " On corners of tiles, + is legal. A picked piece has an orange ring; green lines are slides, red dashes are steps, and dots are where it may stop.";

/** Shows the rules of a game: in short, then the pictures of a turn, an ending and each ruling. */
export async function showRules(view, { id, signal }) {
  const game = (await info()).games.find(({ name }) => name === id);
  if (!game?.illustrated) throw new ApiError("There are no illustrated rules of this game.", 404);
  document.title = `Rules of ${game.title} – Stoneworks`;
  const { illustrations } = await get("rules", { game: id }, signal);
  const figures = illustrations.map(({ title, ruling, caption, description, svg }) => {
    const picture = parseSvg(svg);
    picture.setAttribute("aria-hidden", "true"); // its letters are labeled paths
    const labeled = h("div", { role: "img", "aria-label": description }, picture);
    return h("figure", { class: "card" }, h("h2", {}, title, ruling && h("span", { class: "faint" }, ` ${ruling}`)), labeled, h("figcaption", {}, caption));
  });
  const hasPicks = illustrations.some(({ svg }) => svg.includes('class="picked"'));
  view.append(
    h("h1", {}, `Rules of ${game.title}`),
    h("ul", { class: "rules" }, game.summary.map((text) => h("li", {}, text))),
    h("p", { class: "faint" }, "Green: legal. Red, or x: illegal. Yellow: what the text names.", hasPicks ? PICKS : ""),
    h("div", { class: "illustrations" }, figures),
  );
}

class Lessons {
  constructor(game, signal, go) {
    this.game = game;
    this.signal = signal;
    this.go = go;
    this.nextRequest = requestCounter();
    this.play = inTurn((actions, instead) => this.playNow(actions, instead));
    this.board = new Board((action, then = [], instead) => this.play([action, ...then], instead), {
      signal,
      onChosen: (text) => {
        this.status.textContent = text || this.words;
      },
      onMiss: (click) => this.explain(click),
    });
    this.heading = h("h2", {});
    this.text = h("p", { class: "task" });
    this.answer = h("p", { class: "status", role: "status" });
    this.status = h("p", { class: "faint" });
    this.buttons = h("div", { class: "row", role: "group", "aria-label": "Steps" });
    this.actions = h("div", { class: "row", role: "group", "aria-label": "Actions beside the board" });
    const task = h("section", { class: "card" }, this.heading, this.text, this.answer, this.actions, this.buttons);
    const side = h("div", { class: "side" }, task, howToPlay({ ...game, lessons: [] }));
    this.element = h("div", {}, h("h1", {}, `Learn ${game.title}`), h("div", { class: "game learn" }, h("div", { class: "stage" }, h("div", { class: "state" }, this.status), this.board.element), side));
  }

  get lesson() {
    return this.game.lessons[this.at];
  }

  async start(at) {
    this.at = Math.max(0, Math.min(at, this.game.lessons.length - 1));
    this.played = [];
    this.heading.textContent = `Step ${this.at + 1} of ${this.game.lessons.length}`;
    this.text.textContent = this.lesson.text;
    this.answer.textContent = "";
    this.learner = null;
    this.marks = false;
    this.done = true; // Nothing is played before the board of this step is there.
    await this.show();
    announce(`${this.heading.textContent}: ${this.lesson.text}`);
  }

  async show() {
    const { lesson, played } = this;
    const isLatest = this.nextRequest();
    await showPosition(lesson.game, [...lesson.actions, ...played], this.signal, (position) => isLatest() && this.draw(position));
  }

  draw(position) {
    const { lesson, played } = this;
    this.learner ??= position.player;
    this.done = played.length > 0 && (played.length >= lesson.answers.length || position.player !== this.learner);
    this.position = this.done ? { ...position, legal: [], instead: [], places: {} } : position;
    const color = position.colors[position.player];
    this.words = position.outcome ? "The game is over" : `${color} to move: ${position.turn}${position.supplies && `; ${position.supplies}`}`;
    this.status.textContent = this.words;
    const wanted = lesson.answers[played.length] ?? [];
    this.board.show(this.position, { hint: this.marks ? wanted : [], label: `Board of step ${this.at + 1}` });
    this.element.dataset.played = played.length;
    if (this.done) this.answer.textContent = position.outcome ? `Done. ${this.result(position)}` : "Done.";
    keepFocus(this.element, () => this.showButtons(wanted), () => this.board.focus());
    if (this.done) this.buttons.querySelector("[data-name]").focus();
  }

  showButtons(wanted) {
    const { position, played } = this;
    this.actions.replaceChildren(
      ...(this.done ? [] : position.buttons).map((item) => button(actionLabel(item, position), () => this.play([item.action]), { "data-action": item.action, class: this.marks && wanted.includes(item.action) ? "primary" : "" })),
    );
    const isLast = this.at === this.game.lessons.length - 1;
    this.buttons.replaceChildren(
      button("Back", () => this.start(this.at - 1), { disabled: this.at === 0 }),
      button("Again", () => this.start(this.at), { disabled: !played.length }),
      this.done || !wanted.length ? "" : button("Show me", () => this.mark(), { disabled: this.marks }),
      isLast
        ? button("Play a first game", () => this.playGame(), { class: "primary", "data-name": "next" })
        : button(this.done ? "Next" : "Skip", () => this.start(this.at + 1), { class: this.done ? "primary" : "", "data-name": "next" }),
    );
  }

  result({ outcome, colors, why }) {
    const winner = outcome.winner === null ? "A draw" : `${colors[outcome.winner]} wins`;
    return why ? `${winner}: ${why}.` : `${winner}.`;
  }

  async playNow(actions, instead) {
    const { legal, buttons, instead: others } = this.position;
    if (this.done || ![...(instead ? others : legal), ...buttons].some(({ action }) => action === actions[0])) return;
    if (instead) this.played.pop();
    for (const action of actions) {
      const wanted = this.lesson.answers[this.played.length];
      if (!this.done && wanted?.length && !wanted.includes(action)) {
        this.answer.textContent = `Legal, but not what this step asks for: ${action}.`;
        this.marks = true;
        break;
      }
      this.played.push(action);
      this.answer.textContent = "";
    }
    await this.show();
  }

  /** Marks on the board what the step asks for. */
  async mark() {
    this.marks = true;
    await this.show();
    this.board.focus();
  }

  async explain(click) {
    if (this.done) return;
    const { position } = this;
    const reasons = await why(position.game, position.actions, click, this.signal);
    if (reasons.length && isSame(position, this.position)) this.board.say(reasons.join("; "), click);
  }

  /** Starts a game on the smallest named board against an easy opponent. */
  async playGame() {
    const options = Object.values(this.game.boards ?? {})[0] ?? {};
    const shown = Object.entries(options).map(([name, value]) => `${name}=${value}`);
    const game = shown.length ? `${this.game.name}(${shown.join(",")})` : this.game.name;
    const easy = easyOf(await botsFor(game)) ?? "random";
    await startGame({ game, players: [null, easy], confirm: true }, this.go);
  }
}
