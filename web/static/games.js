// The choice of a game and its options.

import { button, h, labeled, parseSvg } from "./dom.js";

/** A form part with the games and the options of the chosen one. */
export class GameChoice {
  /**
   * @param options `chosen`, the name of a game; `values`, those of its options; `changed`, called with the game string after
   *   each change; `pictures`, whether each game has its picture and what it is about.
   */
  constructor(games, { chosen, values = {}, changed, pictures = false }) {
    this.changed = changed;
    this.given = values;
    this.game = games.find((game) => game.name === chosen) ?? games[0];
    this.options = h("div", { class: "options" });
    this.controls = new Map();
    this.tiles = h(
        "fieldset",
        { class: pictures ? "tiles game-cards" : "tiles" },
        h("legend", {}, "Game"),
        games.map((game) =>
          h(
            "label",
            { class: "tile" },
            h("input", { type: "radio", name: "game", value: game.name, checked: game === this.game, "aria-label": game.title, onchange: () => this.choose(game) }),
            h("span", {}, pictures ? [h("span", { class: "game-picture", "aria-hidden": "true" }, parseSvg(game.picture)), h("strong", {}, game.title), h("span", { class: "faint" }, game.summary[0] ?? "")] : game.title),
          ),
        ),
      );
    this.element = h("div", {}, this.tiles, this.options);
  }

  /** Returns the values of the options by name. */
  values() {
    const given = {};
    const number = (input, usual) => (Number.isNaN(input.valueAsNumber) ? usual : input.valueAsNumber);
    for (const [option, control] of this.controls) {
      if (typeof option.default === "boolean") given[option.name] = control.checked;
      else if (option.choices) given[option.name] = control.value;
      else if (Array.isArray(option.default)) given[option.name] = control.map((input, index) => number(input, option.default[index]));
      else given[option.name] = number(control, option.default);
    }
    return given;
  }

  /** Returns the game string. */
  text() {
    const texts = Object.entries(this.values()).map(([name, value]) => {
      if (typeof value === "boolean") return `${name}=${value ? "True" : "False"}`;
      if (typeof value === "string") return `${name}='${value}'`;
      return `${name}=${Array.isArray(value) ? `(${value.join(",")})` : value}`;
    });
    return `${this.game.name}(${texts.join(",")})`;
  }

  choose(game) {
    this.game = game;
    this.controls = new Map();
    const boards = new Map();
    const changed = () => {
      const given = this.values();
      for (const [board, values] of boards) {
        board.setAttribute("aria-pressed", String(Object.entries(values).every(([name, value]) => given[name] === value)));
      }
      return this.changed(this.text());
    };
    // Options of any other type, which games of other packages may have, have no field and keep their defaults.
    const valueOf = (option) => {
      const value = this.given[option.name];
      return typeof value === typeof option.default && String(value).split(",").length === String(option.default).split(",").length ? value : option.default;
    };
    const isShown = ({ default: value, choices }) => ["boolean", "number"].includes(typeof value) || Array.isArray(value) || choices;
    const fields = game.options.filter(isShown).map((option) => {
      const name = option.name.replaceAll("_", " ");
      if (typeof option.default === "boolean") {
        const control = h("input", { type: "checkbox", checked: valueOf(option), onchange: changed });
        this.controls.set(option, control);
        return [option, h("label", { class: "check" }, control, " ", name)];
      }
      if (option.choices) {
        const texts = option.choices.map((text) => h("option", { value: text, selected: text === valueOf(option) }, text.replaceAll("_", " ")));
        const control = h("select", { onchange: changed }, texts);
        this.controls.set(option, control);
        return [option, labeled(name, control)];
      }
      const number = (value, label) =>
        h("input", {
          type: "number",
          required: true,
          min: String(option.minimum ?? 0),
          max: option.maximum === null ? undefined : String(option.maximum),
          value: String(value),
          "aria-label": label,
          onchange: changed,
        });
      const control = Array.isArray(option.default)
        ? valueOf(option).map((value, index) => number(value, `${option.name} of ${game.colors[index]}`))
        : number(valueOf(option));
      this.controls.set(option, control);
      const range = option.maximum === null ? `, from ${option.minimum}` : `, ${option.minimum} to ${option.maximum}`;
      return [option, labeled(name + (Array.isArray(control) ? "" : range), Array.isArray(control) ? h("span", { class: "pair" }, control) : control)];
    });
    const main = fields.filter(([option]) => option.shown).map(([, field]) => field);
    const more = fields.filter(([option]) => !option.shown).map(([, field]) => field);
    for (const [name, values] of Object.entries(game.boards ?? {})) {
      const choose = () => {
        for (const [option, input] of this.controls) if (option.name in values) input.value = values[option.name];
        changed();
      };
      boards.set(button(name, choose), values);
    }
    this.options.replaceChildren(
      boards.size ? h("div", { class: "row boards", role: "group", "aria-label": "Boards" }, ...boards.keys()) : "",
      ...main,
      ...(more.length ? [h("details", {}, h("summary", {}, "More options"), h("div", { class: "options" }, more))] : []),
    );
    this.given = {}; // those of another game
    return changed();
  }
}

/** Returns a folded box that says how the moves of a game are written, or null where nothing is known of it. */
export function notation(game) {
  if (!game?.notation) return null;
  const rulings = game.illustrated ? [" A number such as ", Object.keys(game.titles)[0], " names a ruling; ", h("a", { href: `rules/${game.name}` }, "the illustrated rules"), " show each of them."] : "";
  return h("details", { class: "notation" }, h("summary", {}, "How moves are written"), h("p", {}, game.notation, rulings));
}

/** Returns a folded box with the short rules of a game and a link to its lessons, or null where it has none. */
export function howToPlay(game) {
  if (!game?.summary.length) return null;
  const rules = h("ul", { class: "rules" }, game.summary.map((text) => h("li", {}, text)));
  const lessons = game.lessons.length ? h("a", { href: `learn/${game.name}` }, `Learn ${game.title} in ${game.lessons.length} steps`) : "";
  const illustrated = game.illustrated ? h("p", {}, h("a", { href: `rules/${game.name}` }, `Illustrated rules of ${game.title}`)) : "";
  return h("div", { class: "how-to-play" }, lessons, illustrated, h("details", {}, h("summary", {}, `How to play ${game.title}`), rules));
}
