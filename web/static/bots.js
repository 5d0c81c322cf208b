// The choice of a bot: from the list, with ratings, or by name.

import { botNamed, botsFor } from "./api.js";
import { botLabel, h, playerName } from "./dom.js";

const OTHER = "\n"; // not the name of a bot

/** A selection of a person or a bot for a game; "Other bot" opens a field for a name. */
export class BotChoice {
  /**
   * @param label of the selection; an element or a text.
   * @param options `empty`, the text of the choice of no bot; `chosen(name)`, called after each choice, with null for it.
   */
  constructor(label, { empty = "Person", chosen = () => {} } = {}) {
    this.empty = empty;
    this.chosen = chosen;
    this.bots = [];
    this.typed = null;
    this.select = h("select", { onchange: () => this.changed() });
    this.name = h("input", {
      type: "text",
      maxlength: "200",
      spellcheck: "false",
      autocapitalize: "off",
      placeholder: "e.g. mcts:5000, alphabeta:2s",
      "aria-label": "Name of the bot",
      onchange: () => this.look(),
      onkeydown: (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        this.look();
      },
    });
    this.problem = h("span", { class: "error", role: "alert" });
    this.other = h("div", { class: "other-bot", hidden: true }, this.name, this.problem);
    this.element = h("div", { class: "bot-choice" }, h("label", { class: "field" }, typeof label === "string" ? h("span", {}, label) : label, this.select), this.other);
  }

  /**
   * Lists the bots of a game. An opponent that was chosen by its level becomes the one of that level.
   *
   * @param options `wanted`, the bot to choose; `fallback`, the one to choose if that does not play this game; `without`, bots
   *   that are left out.
   */
  async list(game, { wanted = this.value, fallback = null, without = [] } = {}) {
    let before = this.select.selectedOptions[0];
    this.game = game;
    const bots = await botsFor(game);
    if (this.game !== game) return; // another game was chosen meanwhile
    const now = this.select.selectedOptions[0];
    if (now !== before) [before, wanted] = [now, this.value]; // as was another bot
    const level = before?.value === wanted ? before.dataset.level : undefined;
    this.bots = bots.filter((bot) => !without.includes(bot.name));
    if (without.includes(this.typed?.name)) this.typed = null;
    if (level) wanted = this.bots.find((bot) => bot.level === level)?.name ?? wanted;
    if (wanted && !this.bots.some((bot) => bot.name === wanted)) this.typed = await botNamed(game, wanted).catch(() => null);
    const pending = this.isPending;
    this.fill();
    if (pending) {
      this.select.value = OTHER;
      return;
    }
    this.value = wanted;
    // A bot with a level is listed twice; if it was chosen from the full list, it does not follow the level.
    const last = [...this.select.options].findLast((option) => option.value === wanted);
    if (last && before?.value === wanted && !level) last.selected = true;
    if (wanted && !this.value) this.value = fallback;
  }

  fill() {
    const group = (label, bots) => (bots.length ? h("optgroup", { label }, bots.map((bot) => h("option", { value: bot.name, title: bot.name }, botLabel(bot)))) : "");
    const bots = this.typed && !this.bots.some((bot) => bot.name === this.typed.name) ? [...this.bots, this.typed] : this.bots;
    const levels = this.empty === "Person" ? bots.filter((bot) => bot.level) : [];
    this.select.replaceChildren(
      h("option", { value: "" }, this.empty),
      levels.length ? h("optgroup", { label: "Opponents by level" }, levels.map((bot) => h("option", { value: bot.name, "data-level": bot.level }, `${bot.level}: ${playerName(bot.name)}`))) : "",
      group("Bots by rating on this board", bots.filter((bot) => bot.rating !== null)),
      group("Bots without a rating on this board", bots.filter((bot) => bot.rating === null)),
      h("option", { value: OTHER }, "Other bot by name …"),
    );
  }

  /** The name of the chosen bot, or null. */
  get value() {
    return this.select.value === OTHER ? null : this.select.value || null;
  }

  set value(name) {
    this.select.value = [...this.select.options].some((option) => option.value === name) ? name : "";
    this.other.hidden = true;
  }

  /** Whether a name is being typed that names no bot yet. */
  get isPending() {
    return this.select.value === OTHER;
  }

  changed() {
    this.other.hidden = !this.isPending;
    this.problem.textContent = "";
    if (this.isPending) this.name.focus();
    else this.chosen(this.value);
  }

  /** Looks the typed name up. */
  async look() {
    const name = this.name.value.trim();
    if (!name || this.other.hidden) return;
    try {
      this.typed = await botNamed(this.game, name);
    } catch (error) {
      this.problem.textContent = error.message;
      return;
    }
    this.problem.textContent = "";
    const hadFocus = document.activeElement === this.name; // a click elsewhere ends the typing too
    this.fill();
    this.value = this.typed.name;
    this.name.value = "";
    if (hadFocus) this.select.focus();
    this.chosen(this.value);
  }
}
