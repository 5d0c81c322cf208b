// The start page: a new game, and the games that are kept.

import { botsFor, get, info, post } from "./api.js";
import { botLabel, button, h, labeled, resultText, toast, when } from "./dom.js";

const PAGE = 20;

export async function showHome(view, { signal, go }) {
  document.title = "Stoneworks";
  const known = await info();
  const list = h("section", { class: "card", "aria-labelledby": "games-heading" });
  view.append(
    h("h1", {}, "Play"),
    h("div", { class: "columns" }, await newGame(known.games, go), list),
  );
  await showGames(list, known.games, 0, signal);
}

async function newGame(games, go) {
  const remembered = JSON.parse(localStorage.getItem("new-game") ?? "{}");
  let chosen = games.find((game) => game.name === remembered.game) ?? games[0];
  const options = h("div", { class: "options" });
  const seats = [0, 1].map(() => h("select"));
  const confirm = h("input", { type: "checkbox", checked: remembered.confirm ?? true });
  let controls = new Map();
  let asked = 0;

  function values() {
    const given = {};
    for (const [option, control] of controls) {
      if (typeof option.default === "boolean") given[option.name] = control.checked;
      else if (Array.isArray(option.default)) given[option.name] = control.map((input) => input.valueAsNumber);
      else given[option.name] = control.valueAsNumber;
    }
    return given;
  }

  function gameString() {
    const texts = Object.entries(values()).map(([name, value]) => {
      if (typeof value === "boolean") return `${name}=${value ? "True" : "False"}`;
      return `${name}=${Array.isArray(value) ? `(${value.join(",")})` : value}`;
    });
    return `${chosen.name}(${texts.join(",")})`;
  }

  async function updateBots() {
    asked += 1;
    const own = asked;
    let bots;
    try {
      bots = await botsFor(gameString());
    } catch (error) {
      if (own === asked) toast(error.message);
      return;
    }
    if (own !== asked) return;
    seats.forEach((select, seat) => {
      const before = select.value || (remembered.players ?? ["", "greedy"])[seat];
      select.replaceChildren(
        h("option", { value: "" }, "Person"),
        h(
          "optgroup",
          { label: "Bots by rating on this board" },
          bots.filter((bot) => bot.rating !== null).map((bot) => h("option", { value: bot.name }, botLabel(bot))),
        ),
        h(
          "optgroup",
          { label: "Bots without a rating on this board" },
          bots.filter((bot) => bot.rating === null).map((bot) => h("option", { value: bot.name }, bot.name)),
        ),
      );
      for (const group of select.querySelectorAll("optgroup")) if (!group.children.length) group.remove();
      select.value = [...select.options].some((option) => option.value === before) ? before : seat ? "greedy" : "";
    });
  }

  function choose(game) {
    chosen = game;
    controls = new Map();
    const fields = game.options.map((option) => {
      let control;
      if (typeof option.default === "boolean") {
        control = h("input", { type: "checkbox", checked: option.default, onchange: updateBots });
        controls.set(option, control);
        return [option, h("label", { class: "check" }, control, " ", option.name.replaceAll("_", " "))];
      }
      const number = (value, label) =>
        h("input", {
          type: "number",
          required: true,
          min: String(option.minimum ?? 0),
          max: option.maximum === null ? undefined : String(option.maximum),
          value: String(value),
          "aria-label": label,
          onchange: updateBots,
        });
      control = Array.isArray(option.default)
        ? option.default.map((value, index) => number(value, `${option.name} of ${game.colors[index]}`))
        : number(option.default);
      controls.set(option, control);
      return [option, labeled(option.name.replaceAll("_", " "), Array.isArray(control) ? h("span", { class: "pair" }, control) : control)];
    });
    const main = fields.filter(([option]) => option.shown).map(([, field]) => field);
    const more = fields.filter(([option]) => !option.shown).map(([, field]) => field);
    options.replaceChildren(
      ...main,
      ...(more.length ? [h("details", {}, h("summary", {}, "More options"), h("div", { class: "options" }, more))] : []),
    );
    seatLabels.forEach((label, seat) => {
      label.textContent = `${game.colors[seat]} ${seat ? "" : "(moves first)"}`;
    });
    return updateBots();
  }

  const seatLabels = [0, 1].map(() => h("span", {}));
  const form = h(
    "form",
    {
      class: "card",
      "aria-labelledby": "new-heading",
      onsubmit: async (event) => {
        event.preventDefault();
        const players = seats.map((select) => select.value || null);
        localStorage.setItem(
          "new-game",
          JSON.stringify({ game: chosen.name, players: players.map((name) => name ?? ""), confirm: confirm.checked }),
        );
        const game = await post("games", { game: chosen.name, options: values(), players, confirm: confirm.checked });
        go(`/play/${game.id}`);
      },
    },
    h("h2", { id: "new-heading" }, "New game"),
    h(
      "fieldset",
      { class: "tiles" },
      h("legend", {}, "Game"),
      games.map((game) =>
        h(
          "label",
          { class: "tile" },
          h("input", { type: "radio", name: "game", value: game.name, checked: game === chosen, onchange: () => choose(game) }),
          h("span", {}, game.title),
        ),
      ),
    ),
    options,
    h("div", { class: "seats" }, seats.map((select, seat) => h("label", { class: "field" }, seatLabels[seat], select))),
    h("label", { class: "check" }, confirm, " Confirm each turn before it counts"),
    h("button", { type: "submit", class: "primary" }, "Start the game"),
  );
  await choose(chosen);
  return form;
}

async function showGames(section, games, first, signal) {
  const colorsOf = (game) => games.find((known) => known.name === game.split("(")[0])?.colors ?? ["Player 0", "Player 1"];
  const answer = await get("games", { first, count: PAGE }, signal);
  const again = (from) => showGames(section, games, from, signal);
  const rows = answer.games.map((game) =>
    h(
      "tr",
      {},
      h("td", {}, h("a", { href: `/play/${game.id}` }, game.title || game.game), game.title ? h("div", { class: "faint" }, game.game) : null),
      h("td", {}, game.players.map((player) => player ?? "person").join(" – ")),
      h("td", {}, game.result ? resultText(game.result, colorsOf(game.game)) : "in progress"),
      h("td", { class: "faint" }, when(game.updated)),
      h(
        "td",
        { class: "actions" },
        h("a", { href: `/analyze/${game.id}`, "aria-label": `Analyze ${game.game}` }, "Analyze"),
        button(
          "Delete",
          async () => {
            await post(`games/${game.id}/delete`);
            await again(first);
          },
          { class: "quiet", "aria-label": `Delete ${game.title || game.game}` },
        ),
      ),
    ),
  );
  const file = h("input", {
    type: "file",
    accept: ".jsonl,.json,.txt",
    class: "unseen",
    id: "import-file",
    onchange: async () => {
      const text = await file.files[0].text();
      file.value = "";
      const imported = await post("import", { text });
      toast(`${imported.games.length} ${imported.games.length === 1 ? "game" : "games"} imported`);
      await again(0);
    },
  });
  section.replaceChildren(
    h("h2", { id: "games-heading" }, "Games"),
    rows.length
      ? h(
          "div",
          { class: "scroll", tabindex: "0", role: "region", "aria-label": "List of games" },
          h(
            "table",
            {},
            h("thead", {}, h("tr", {}, ["Game", "Players", "Result", "Changed", "Actions"].map((text) => h("th", { scope: "col" }, text)))),
            h("tbody", {}, rows),
          ),
        )
      : h("p", { class: "faint" }, "There are no games yet."),
    h(
      "div",
      { class: "row" },
      first > 0 ? button("Newer", () => again(Math.max(0, first - PAGE))) : null,
      first + PAGE < answer.total ? button("Older", () => again(first + PAGE)) : null,
      h("label", { class: "button", for: "import-file" }, "Import records"),
      file,
      answer.total ? h("a", { class: "button", href: "/api/export", download: true }, "Export all") : null,
    ),
  );
}
