// The start page: a new game, and the games that are kept.

import { botsFor, download, get, info, post } from "../api.js";
import { BotChoice } from "../bots.js";
import { button, h, keepFocus, requestCounter, resultOfPlayers, table, tableRow, toast, when } from "../dom.js";
import { GameChoice, howToPlay } from "../games.js";
import { importButton } from "../import.js";

const PAGE = 20;

export async function showHome(view, { signal, go }) {
  document.title = "Stoneworks";
  const known = await info();
  const list = h("section", { class: "card", "aria-labelledby": "games-heading" });
  view.append(
    h("h1", {}, "Play"),
    h("div", { class: "columns" }, await newGame(known.games, go), list),
  );
  await showGames(list, 0, signal);
}

async function newGame(games, go) {
  const remembered = JSON.parse(localStorage.getItem("new-game") ?? "{}");
  const labels = [0, 1].map(() => h("span", {}));
  const seats = labels.map((label) => new BotChoice(label));
  const rules = h("div", {});
  const confirm = h("input", { type: "checkbox", checked: remembered.confirm ?? true });
  let wanted = remembered.players ?? null;
  let isFirst = wanted === null;
  const nextRequest = requestCounter();

  async function updateBots(text) {
    const isLatest = nextRequest();
    const { game } = choice;
    labels.forEach((label, seat) => {
      label.textContent = `${game.colors[seat]} ${seat ? "" : "(moves first)"}`;
    });
    rules.replaceChildren(howToPlay(game) ?? "");
    try {
      const easy = (await botsFor(text)).find((bot) => bot.level === "Easy")?.name;
      if (!isLatest()) return;
      await Promise.all(
        seats.map((seat, index) => seat.list(text, { wanted: wanted ? wanted[index] : seat.value, fallback: easy })),
      );
      if (isFirst) seats[1].value = easy;
      isFirst = false;
      wanted = null;
    } catch (error) {
      if (isLatest()) toast(error.message);
    }
  }

  const choice = new GameChoice(games, { chosen: remembered.game, changed: updateBots });
  const form = h(
    "form",
    {
      class: "card",
      "aria-labelledby": "new-heading",
      onsubmit: async (event) => {
        event.preventDefault();
        const pending = seats.find((seat) => seat.isPending);
        if (pending) {
          await pending.look();
          if (pending.isPending) return pending.name.focus();
        }
        const players = seats.map((seat) => seat.value);
        localStorage.setItem(
          "new-game",
          JSON.stringify({ game: choice.game.name, players: players.map((name) => name ?? ""), confirm: confirm.checked }),
        );
        const game = await post("games", { game: choice.game.name, options: choice.values(), players, confirm: confirm.checked });
        go(`play/${game.id}`);
      },
    },
    h("h2", { id: "new-heading" }, "New game"),
    choice.element,
    h("div", { class: "seats" }, seats.map((seat) => seat.element)),
    h("label", { class: "check" }, confirm, " Confirm each turn before it counts"),
    h("button", { type: "submit", class: "primary" }, "Start the game"),
    rules,
  );
  await choice.choose(choice.game);
  return form;
}

async function showGames(section, first, signal) {
  const answer = await get("games", { first, count: PAGE }, signal);
  const again = (from) => showGames(section, from, signal);
  if (first && !answer.games.length) return again(Math.max(0, first - PAGE));
  const rows = answer.games.map((game) =>
    tableRow([
      [h("a", { href: `play/${game.id}` }, game.title || game.game), game.title ? h("div", { class: "faint" }, game.game) : null],
      game.players.map((player) => player ?? "person").join(" – "),
      game.result ? resultOfPlayers(game.result, game.players) : "in progress",
      h("td", { class: "faint" }, when(game.updated)),
      h(
        "td",
        { class: "actions" },
        h("a", { href: `analyze/${game.id}`, "aria-label": `Analyze ${game.game}`, "data-name": `analyze ${game.id}` }, "Analyze"),
        button(
          "Delete",
          async () => {
            if (!window.confirm(`Delete ${game.title || game.game}? It cannot be brought back.`)) return;
            await post(`games/${game.id}/delete`);
            await again(first);
          },
          { class: "quiet", "aria-label": `Delete ${game.title || game.game}`, "data-name": `delete ${game.id}` },
        ),
      ),
    ]),
  );
  keepFocus(section, () =>
    section.replaceChildren(
      h("h2", { id: "games-heading" }, "Games"),
      rows.length
        ? table("List of games", ["Game", "Players", "Result", "Changed", "Actions"], rows, { class: "games" })
        : h("p", { class: "faint" }, "There are no games yet."),
      h(
        "div",
        { class: "row" },
        first > 0 ? button("Newer", () => again(Math.max(0, first - PAGE))) : null,
        first + PAGE < answer.total ? button("Older", () => again(first + PAGE)) : null,
        importButton(() => again(0)),
        answer.total ? button("Export all", exportAll) : null,
      ),
    ),
  );
}

/** Downloads the records of all games, and says how many have none, such as those of games that are not installed. */
async function exportAll() {
  const response = await download("export");
  const address = URL.createObjectURL(await response.blob());
  h("a", { href: address, download: "games.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
  const leftOut = Number(response.headers.get("stoneworks-games-left-out"));
  if (leftOut) toast(`${leftOut} ${leftOut === 1 ? "game" : "games"} left out: damaged, of another version, or of a game that is not installed`);
}
