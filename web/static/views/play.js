// One game: play it against bots or at one screen, or let bots play.

import { botNamed, botsFor, get, info, isAbort, post, startGame } from "../api.js";
import { Board } from "../board.js";
import { BotChoice } from "../bots.js";
import { actionLabel, announce, button, copyLink, h, inTurn, keepFocus, keyList, labeled, playerName, resultText, sleep, swatch, toast, turnText } from "../dom.js";
import { howToPlay, notation } from "../games.js";
import { personNames, recall, remember } from "../memory.js";
import { foretold, isSame, picture, showPosition, why } from "../positions.js";
import { countSeconds, prepare } from "../prepare.js";

export async function showGame(view, { id, signal, go }) {
  const first = await get(`games/${id}`, {}, signal);
  const page = new GamePage(id, signal, go);
  page.ratings = new Map((await botsFor(first.game)).map((bot) => [bot.name, bot]));
  const { games } = await info();
  const game = games.find(({ name }) => name === first.game.split("(")[0]);
  page.moves.after(notation(game) ?? "");
  page.element.querySelector(".side").append(howToPlay(game) ?? "");
  signal.throwIfAborted();
  view.append(page.element);
  page.show(first);
  page.waitForOthers();
  document.addEventListener("keydown", (event) => page.key(event), { signal });
}

class GamePage {
  constructor(id, signal, go) {
    this.id = id;
    this.signal = signal;
    this.go = go;
    this.hint = [];
    this.hinting = null;
    this.sending = null;
    this.paused = false;
    this.thinking = null;
    this.shownTurn = null;
    this.isLost = false;
    this.board = new Board(
      inTurn((action, then, instead) => this.act(action, then, instead)),
      {
        signal,
        onChosen: (text) => {
          this.status.textContent = text || this.statusText();
        },
        onMiss: (click) => this.explain(click),
        foresee: (action) => this.foresee(action),
      },
    );
    this.supplies = h("p", { class: "faint supplies" });
    this.players = h("div", { class: "players" });
    this.seats = [0, 1].map(() => new BotChoice(h("span", {}), { chosen: () => this.reseat() }));
    this.seating = h(
      "details",
      { class: "seating", ontoggle: () => this.seating.open && this.listSeats() },
      h("summary", {}, "Change the players"),
      h("div", { class: "seats" }, this.seats.map((seat) => seat.element)),
    );
    this.status = h("p", { class: "status" });
    this.turn = h("div", { class: "row turn", role: "group", "aria-label": "Turn" });
    this.tools = h("div", { class: "row", role: "group", "aria-label": "Game" });
    this.moves = h("ol", { class: "moves", tabindex: "0", "aria-label": "Moves" });
    this.score = h("p", { class: "faint score" });
    this.speed = h("input", { type: "range", min: "0", max: "3000", step: "100", value: String(recall("speed", 600)) });
    this.speed.addEventListener("input", () => {
      remember("speed", this.speed.valueAsNumber);
      this.speedText.textContent = `${(this.speed.valueAsNumber / 1000).toFixed(1)} s`;
    });
    this.speedText = h("span", { class: "faint" }, `${(this.speed.valueAsNumber / 1000).toFixed(1)} s`);
    this.speedField = labeled("Pause between turns", h("span", { class: "pair" }, this.speed, this.speedText));
    this.title = h("h1", {});
    this.progress = h("progress", { hidden: true, "aria-label": "The bot is being prepared" });
    this.sound = h("input", { type: "checkbox", checked: recall("sound", false), onchange: () => remember("sound", this.sound.checked) });
    this.confirm = h("input", { type: "checkbox", onchange: () => this.send("confirm", { confirm: this.confirm.checked }, false) });
    this.element = h(
      "div",
      { class: "game play" },
      h("div", { class: "stage" }, h("div", { class: "state" }, h("div", {}, this.status, this.progress, this.supplies), this.turn), this.board.element),
      h(
        "div",
        { class: "side" },
        this.score,
        this.title,
        this.players,
        this.seating,
        this.tools,
        this.speedField,
        h("label", { class: "check" }, this.confirm, " Confirm each turn"),
        h("label", { class: "check" }, this.sound, " Sound"),
        h("h2", {}, "Moves"),
        this.moves,
        keyList([
          ["Tab, arrows", "move over the board"],
          ["Enter", "choose a place; confirm the turn"],
          ["Backspace", "take back an action"],
          ["Escape", "choose another place"],
          ["wheel, r", "turn a tile"],
          ["p, e, s", "pass, end the turn, swap"],
          ["u, h", "undo, hint"],
          ["f, t", "flip the board, turn it by one side"],
          ["← →, Home, End", "look at earlier and later positions"],
        ]),
      ),
    );
  }

  // -- Showing -----------------------------------------------------------------------------------------------------------

  /** Shows a game, unless it is older than the shown one; `isRestored` if the server has only that. */
  show(game, isRestored = false) {
    if (!isRestored && this.game && game.revision < this.game.revision) return;
    const before = this.game;
    this.game = game;
    // A node that was taken back gives its number to the next one.
    const isOtherPosition = before?.current !== game.current || !isSame(before.position, game.position);
    if (isOtherPosition) this.hinting?.abort();
    if (before && isOtherPosition) {
      // The rest of a hint stays while it is followed.
      const [played] = game.position.actions.slice(-1);
      const isNext = game.line.at(-2) === before.current && this.hint[0] === played && !game.complete_turn;
      this.hint = isNext ? this.hint.slice(1) : [];
    }
    const hasOtherPlayers = before && String(before.players) !== String(game.players);
    if (!game.bot_to_move || hasOtherPlayers || isOtherPosition) {
      this.thinking?.abort(); // its answer is no longer needed
      this.thinking = null;
    }
    if (isOtherPosition) this.shownTurn = null;
    document.title = `${game.title || game.name} – Stoneworks`;
    this.title.textContent = game.title || game.name;
    if (this.sound.checked && before && game.position.actions.length > before.position.actions.length) playSound();
    if (!before) {
      prepare(game.game, this.bots());
      foretold(game.game, game.position.actions); // loads the module
    }
    if (this.shownTurn === null) this.showBoard();
    this.board.element.dataset.revision = game.revision;
    this.showPlayers();
    this.rate();
    if (hasOtherPlayers && this.seating.open) this.listSeats();
    this.showStatus(before);
    this.showButtons();
    this.showMoves();
    this.showScore();
    this.showCard(before);
    this.confirm.checked = game.confirm;
    this.continueWithBot();
  }

  showBoard() {
    const { game } = this;
    const label = `Board of ${game.name}, ${game.turns.length} turns played`;
    this.board.show(game.position, { hint: this.hint.slice(0, 1), label });
  }

  isPerson(player) {
    return this.game.players[player] === null;
  }

  name(player) {
    return (this.isPerson(player) && personNames()[player]) || playerName(this.game.players[player]);
  }

  bots() {
    return [...new Set(this.game.players.filter((player) => player !== null))];
  }

  /** Looks up the ratings of bots that are not in the list. */
  async rate() {
    const unknown = this.game.players.filter((name) => name !== null && !this.ratings.has(name));
    for (const name of unknown) this.ratings.set(name, await botNamed(this.game.game, name).catch(() => ({ name, rating: null })));
    if (unknown.length) this.showPlayers();
  }

  async listSeats() {
    const { game } = this;
    this.seats.forEach((seat, player) => {
      seat.element.querySelector("label > span").textContent = game.position.colors[player];
    });
    await Promise.all(this.seats.map((seat, player) => seat.list(game.game, { wanted: game.players[player] })));
  }

  async reseat() {
    if (this.seats.some((seat) => seat.isPending)) return;
    this.paused = false;
    const players = this.seats.map((seat) => seat.value);
    await this.send("players", { players }, false);
  }

  showPlayers() {
    const { game } = this;
    const { position } = game;
    const mover = game.complete_turn ? game.turns.at(-1)[0] : position.player;
    this.players.replaceChildren(
      ...[0, 1].map((player) => {
        const rating = this.ratings.get(game.players[player]);
        const active = !game.result && mover === player;
        return h(
          "div",
          { class: `player${active ? " active" : ""}`, "aria-current": active ? "true" : undefined },
          h("span", { class: `swatch ${position.colors[player].toLowerCase()}`, "aria-hidden": "true" }),
          h("span", { class: "who", title: game.players[player] ?? "" }, h("strong", {}, this.name(player)), h("span", { class: "faint" }, [position.colors[player], rating?.level].filter(Boolean).join(" · "))),
          rating && rating.rating !== null
            ? h("span", { class: "rating", title: "rating on the ladder of this board, with its standard error" }, `${Math.round(rating.rating)} ± ${Math.round(rating.error)}`)
            : null,
          active && this.thinking ? h("span", { class: "thinking", "aria-hidden": "true" }) : null,
        );
      }),
    );
  }

  statusText() {
    const { game } = this;
    const { position } = game;
    if (this.shownTurn !== null) return `Position after turn ${this.shownTurn} of ${game.turns.length}`;
    if (game.result) {
      const [person, ...others] = [0, 1].filter((player) => this.isPerson(player));
      if (person === undefined || others.length || game.result.winner === null) return resultText(game.result, position.colors, position.why);
      const own = `You ${game.result.winner === person ? "won" : "lost"}`;
      return position.why ? `${own}: ${position.why}` : `${own} by ${game.result.reason}`;
    }
    if (game.complete_turn) return position.outcome ? "This turn ends the game: confirm it" : "Confirm the turn, or take it back";
    const color = position.colors[position.player];
    if (!this.isPerson(position.player)) return this.thinking ? this.thinkingText : `${color} to move`;
    return position.turn ? `${color} to move: ${position.turn}` : `${color} to move`;
  }

  showStatus(before) {
    const text = this.statusText();
    if (this.status.textContent !== text) this.status.textContent = text;
    const last = this.game.turns.at(-1);
    if (before && last && before.turns.length !== this.game.turns.length && !this.isPerson(last[0])) {
      announce(`${this.name(last[0])} plays ${turnText(last[1])}. ${text}`);
    } else if (before && text !== before.text) {
      announce(text);
    }
    this.game.text = text;
    this.supplies.textContent = this.game.position.supplies;
    this.supplies.hidden = !this.game.position.supplies;
  }

  showButtons() {
    const { game } = this;
    const { position } = game;
    const inTurn = game.current !== game.committed;
    const personToMove = !game.result && position.player !== null && this.isPerson(position.player) && !game.complete_turn;
    const persons = [0, 1].filter((player) => this.isPerson(player));
    const looking = this.shownTurn !== null;
    const redraw = () => {
      this.turn.replaceChildren(
        ...[
          this.shownTurn !== null ? button("Back to the game", () => this.look(null), { class: "primary", "data-name": "back" }) : null,
          game.complete_turn ? button("Confirm", () => this.send("commit"), { class: "primary", "data-name": "commit" }) : null,
          inTurn ? button("Take back", () => this.send("take-back"), { "data-name": "take-back" }) : null,
          ...(personToMove && !looking ? position.buttons : []).map((item) =>
            button(actionLabel(item, position), () => this.pressed(item.action), {
              "data-action": item.action,
              "data-name": item.action,
              class: this.hint[0] === item.action ? "primary" : "",
            }),
          ),
          this.thinking ? button("Stop", () => this.pause(), { "data-name": "stop" }) : null,
          game.bot_to_move && !this.thinking && this.paused ? button("Let the bot move", () => this.resume(), { class: "primary", "data-name": "resume" }) : null,
        ].filter(Boolean),
      );
      this.tools.replaceChildren(
        ...[
          button("Undo", () => this.undo(), { disabled: !game.turns.length, "data-name": "undo" }),
          persons.length ? button("Hint", () => this.askHint(), { disabled: !personToMove, "data-name": "hint" }) : null,
          button("Flip the board", () => this.board.flip(), { "data-name": "flip" }),
          button("Turn the board", () => this.board.rotate(), { "data-name": "turn", title: "Turn the board by one side" }),
          persons.length === 1 ? button("Swap sides", () => this.swapSides(), { disabled: Boolean(game.result), "data-name": "sides" }) : null,
          persons.length ? button("Resign", () => this.resign(), { disabled: Boolean(game.result), "data-name": "resign" }) : null,
          h("a", { class: "button", href: `analyze/${this.id}` }, "Analyze"),
          h("a", { class: "button", href: `api/games/${this.id}/record`, download: true }, "Record"),
          game.result ? button("Play again", () => this.again(), { "data-name": "again" }) : null,
        ].filter(Boolean),
      );
    };
    keepFocus(this.element, redraw, () => this.board.focus());
    this.speedField.hidden = persons.length > 0;
  }

  showMoves() {
    const { game } = this;
    const items = game.turns.map(([, actions, color], index) =>
      h(
        "li",
        { class: index === game.turns.length - 1 && game.current !== game.committed ? "pending" : "" },
        button(
          [...swatch(color), turnText(actions)],
          () => this.look(index + 1),
          { class: "move", title: "Look at this position", "data-name": `move ${index}`, "aria-current": this.shownTurn === index + 1 ? "true" : undefined },
        ),
      ),
    );
    keepFocus(this.moves, () => this.moves.replaceChildren(...items));
    requestAnimationFrame(() => {
      const at = this.moves.querySelector("[aria-current]");
      this.moves.scrollTop = at ? at.offsetTop - this.moves.offsetTop - this.moves.clientHeight / 2 : this.moves.scrollHeight;
    });
  }

  /** Shows the position after some turns, or that of the game for null. The game itself stays as it is. */
  async look(turn) {
    const { game } = this;
    this.shownTurn = turn === null || turn >= game.turns.length ? null : Math.max(0, turn);
    const wanted = this.shownTurn;
    if (this.card) this.card.hidden = wanted !== null;
    if (wanted === null) this.showBoard();
    else {
      const actions = game.turns.slice(0, wanted).flatMap(([, ofTurn]) => ofTurn);
      await showPosition(game.game, actions, this.signal, (position) => {
        if (this.shownTurn !== wanted || this.game.current !== game.current) return;
        this.board.show({ ...position, legal: [], instead: [], places: {} }, { label: `Position after turn ${wanted}` });
      });
      if (this.shownTurn !== wanted || this.game.current !== game.current) return;
    }
    this.status.textContent = this.statusText();
    this.showButtons();
    this.showMoves();
  }

  /** Shows over the board, once the game has ended, who won and why. */
  showCard(before) {
    const { result, turns } = this.game;
    if (result && before?.result && this.card) return;
    this.card?.remove();
    this.card = null;
    if (!result || this.shownTurn !== null) return;
    const [headline, ...why] = this.statusText().split(": ");
    const link = `analyze?${new URLSearchParams({ game: this.game.game, moves: turns.flatMap(([, actions]) => actions).join(",") })}`;
    this.card = h(
      "section",
      { class: "board-card", "aria-label": "Result" },
      button("×", () => {
        this.card.remove();
        this.board.focus();
      }, { class: "quiet close", "aria-label": "Close" }),
      h("h2", {}, headline),
      why.length ? h("p", {}, why.join(": ")) : null,
      h(
        "div",
        { class: "row center" },
        button("Rematch", () => this.again(), { class: "primary", "data-name": "rematch" }),
        h("a", { class: "button", href: `analyze/${this.id}` }, "Analyze"),
        button("Share", () => copyLink(link)),
      ),
    );
    this.board.element.append(this.card);
  }

  showScore() {
    const { score, colors } = this.game.position;
    this.score.hidden = !score;
    if (!score) return;
    const text = (part) => (Array.isArray(part) ? part.slice(0, 6).join(", ") + (part.length > 6 ? ", …" : "") || "none" : String(part));
    this.score.textContent = `${Array.isArray(score[0]) ? "Group values" : "Score"}: ${colors[0]} ${text(score[0])}; ${colors[1]} ${text(score[1])}`;
  }

  // -- Acting ------------------------------------------------------------------------------------------------------------

  /** Plays an action that was clicked; one that was clicked before the last answer counts if it is still legal. */
  async act(action, then, instead) {
    await this.sending;
    const { legal, instead: others } = this.game.position;
    if ((instead ? others : legal).some((item) => item.action === action)) await this.send("act", { action, then, instead });
  }

  /** Sends a request and shows its answer; until then, further ones are not sent. */
  async send(name, fields = {}, withNode = true) {
    if (this.sending) return;
    const exchange = this.exchange(name, fields, withNode);
    this.sending = exchange.catch(() => {}).finally(() => {
      this.sending = null;
    });
    await this.sending;
    await exchange;
  }

  async exchange(name, fields, withNode) {
    this.shownTurn = null;
    try {
      const sent = withNode ? { node: this.game.current, ...fields } : fields;
      if (name === "act") this.foretell(fields);
      this.show(await post(`games/${this.id}/${name}`, sent, this.signal));
    } catch (error) {
      if (isAbort(error)) return;
      toast(error.message);
      if (error.status === 409) this.show(await get(`games/${this.id}`, {}, this.signal));
      else this.showBoard();
    }
  }

  /** Shows what follows from an action until the server answers; what can be chosen then only where the turn goes on. */
  async foretell({ action, then = [], instead }) {
    const { position, current } = this.game;
    const found = await foretold(position.game, [...(instead ? position.actions.slice(0, -1) : position.actions), action, ...then]);
    if (!found || !this.sending || this.game.current !== current) return;
    const choices = found.player === position.player ? {} : { legal: [], buttons: [], places: {}, icons: {}, instead: [] };
    this.board.show({ ...found, ...choices }, { hint: this.hint[0] === action ? this.hint.slice(1, 2) : [], label: this.board.label });
  }

  /** Returns the picture of the position after an action, or null where there is none, such as after the last answer. */
  async foresee(action) {
    await this.sending;
    const { game, actions, legal } = this.game.position;
    if (!legal.some((item) => item.action === action)) return null;
    return picture(game, [...actions, action], this.signal);
  }

  /** Shows on the board why a click on it is illegal. */
  async explain(click) {
    await this.sending;
    const { position, players, complete_turn: isComplete, result } = this.game;
    if (this.thinking && this.shownTurn === null) return this.board.say(`${this.name(position.player)} is to move; wait for it, or stop it.`, click);
    if (this.shownTurn !== null || isComplete || result || players[position.player] !== null) return;
    const reasons = await why(position.game, position.actions, click, this.signal);
    if (!reasons.length || position !== this.game.position) return;
    const again = this.game.current === this.game.committed ? [] : ["“Take back” to choose again"];
    this.board.say([...reasons, ...again].join("; "), click);
  }

  /** Plays an action beside the board; whoever ends a turn need not confirm it as well. */
  async pressed(action) {
    await this.send("act", { action, commit: this.game.current !== this.game.committed });
  }

  async undo() {
    this.paused = !this.game.players.includes(null);
    await this.send("undo");
  }

  async resign() {
    if (window.confirm("Resign? The game is lost then.")) await this.send("resign");
  }

  async swapSides() {
    if (!window.confirm("Swap sides with the bot? It goes on with your position.")) return;
    await this.send("players", { players: [...this.game.players].reverse() }, false);
  }

  async again() {
    await startGame({ game: this.game.game, players: this.game.players, confirm: this.game.confirm }, this.go);
  }

  async askHint() {
    if (this.shownTurn !== null) await this.look(null);
    const { current: node, position } = this.game;
    this.hinting?.abort();
    const own = new AbortController();
    this.hinting = own;
    this.showThinking((seconds) => `Looking for a hint … ${seconds}`, own.signal);
    announce("Looking for a hint …");
    const hint = await post(`games/${this.id}/hint`, { node }, AbortSignal.any([own.signal, this.signal])).finally(() => {
      own.abort();
      if (this.hinting === own) this.showStatus();
    });
    if (this.game.current !== node || !isSame(position, this.game.position)) return;
    this.hint = hint.actions;
    if (this.shownTurn !== null) return;
    this.showBoard();
    this.showButtons();
    this.board.element.querySelector(".hinted")?.scrollIntoView?.({ block: "nearest" });
    this.status.textContent = `Hint of ${hint.bot}: ${turnText(hint.actions)}`;
    announce(this.status.textContent);
  }

  // -- Bots --------------------------------------------------------------------------------------------------------------

  async continueWithBot() {
    if (!this.game.bot_to_move || this.paused || this.thinking) return;
    const own = new AbortController();
    this.thinking = own;
    this.showButtons();
    this.showPlayers();
    const bot = this.game.players[this.game.position.player];
    const signal = AbortSignal.any([own.signal, this.signal]);
    let answer = null;
    try {
      this.showThinking((seconds) => `Preparing ${playerName(bot)}: its programs are compiled, once on this machine … ${seconds}`, signal, this.progress);
      this.thinkingText = `${playerName(bot)} is thinking …`;
      this.status.textContent = this.thinkingText;
      await Promise.race([prepare(this.game.game, this.bots()), new Promise((_, reject) => signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))))]);
      this.showThinking((seconds) => `${playerName(bot)} is thinking … ${seconds}`, signal);
      if (!this.game.players.includes(null) && this.game.turns.length) await sleep(this.speed.valueAsNumber, signal);
      answer = await post(`games/${this.id}/bot`, { node: this.game.current }, signal);
    } catch (error) {
      if (!isAbort(error)) {
        this.isLost = error.status === 0;
        if (error.status !== 409) {
          this.paused = !this.isLost;
          toast(error.message);
        }
        answer = this.isLost ? null : await get(`games/${this.id}`, {}, this.signal).catch(() => null);
      }
    } finally {
      if (this.thinking === own) {
        this.thinking = null;
        this.progress.hidden = true;
      }
    }
    own.abort();
    if (this.signal.aborted) return;
    if (this.isLost) return this.showStatus(); // it goes on when the server is back
    this.show(answer ?? this.game);
  }

  /** Shows how long something takes, from the first second on, with a bar if one is given. */
  showThinking(text, signal, bar = null) {
    this.counting?.abort();
    const own = new AbortController();
    this.counting = own;
    signal.addEventListener("abort", () => own.abort(), { once: true });
    own.signal.addEventListener("abort", () => {
      this.progress.hidden = true;
    });
    countSeconds((seconds) => {
      this.thinkingText = text(`${seconds} s`);
      if (bar) bar.hidden = false;
      if (this.shownTurn === null) this.status.textContent = this.thinkingText;
    }, own.signal);
  }

  pause() {
    this.paused = true;
    this.thinking?.abort();
  }

  resume() {
    this.paused = false;
    this.continueWithBot();
  }

  /** Shows what other windows do with the game, while it is seen: a browser has few connections to a server. */
  async waitForOthers() {
    while (!this.signal.aborted) {
      const waiting = new AbortController();
      const look = () => document.hidden && waiting.abort();
      document.addEventListener("visibilitychange", look);
      try {
        if (document.hidden) await sleep(1000, this.signal);
        else {
          const signal = AbortSignal.any([this.signal, waiting.signal]);
          const path = this.isLost ? `games/${this.id}` : `games/${this.id}/wait`;
          const { revision } = this.game;
          const answer = await get(path, this.isLost ? {} : { revision }, signal);
          await this.sending; // until then, clicks on buttons have no effect
          const wasLost = this.isLost;
          this.isLost = false;
          const isRestored = answer.revision < revision; // imported again, or of other data after a restart
          if (wasLost || isRestored || answer.revision > this.game.revision) this.show(answer, isRestored);
        }
      } catch (error) {
        if (error.status === 404) return;
        if (isAbort(error)) continue;
        this.isLost ||= error.status === 0;
        await sleep(2000, this.signal).catch(() => {});
      } finally {
        document.removeEventListener("visibilitychange", look);
      }
    }
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea")) return;
    const last = this.game.turns.length;
    const at = this.shownTurn ?? last;
    const to = { ",": at - 1, ".": at + 1, ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    if (to !== undefined && last) {
      event.preventDefault();
      this.look(to);
      return;
    }
    const isPicked = this.shownTurn === null && this.game.current !== this.game.committed && this.board.picture.querySelector(".picked");
    if (event.key === "Escape" && isPicked) return this.send("take-back");
    const names = { Backspace: "take-back", p: "pass", e: "end", s: "swap", u: "undo", h: "hint", f: "flip", t: "turn" };
    let name = names[event.key];
    if (event.key === "Enter" && !event.target.closest("button, a, summary, .hit")) name = "commit";
    if (event.key === "p" && !this.element.querySelector('[data-name="pass"]')) name = "end";
    const found = name && this.element.querySelector(`[data-name="${name}"]:not(:disabled)`);
    if (!found) return;
    event.preventDefault();
    found.click();
  }
}

/** Plays the sound of a stone on wood. */
function playSound() {
  const audio = new AudioContext();
  const [tone, volume] = [audio.createOscillator(), audio.createGain()];
  tone.frequency.value = 190;
  tone.type = "triangle";
  volume.gain.setValueAtTime(0.25, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.09);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.1);
  tone.onended = () => audio.close();
}
