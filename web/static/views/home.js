// The start page: a new game, and the games that are kept.

import { botsFor, download, easyOf, get, info, post, startGame } from "../api.js";
import { BotChoice } from "../bots.js";
import { button, count, h, keepFocus, parseSvg, playerName, requestCounter, resultOfPlayers, sleep, table, tableRow, toast, when } from "../dom.js";
import { GameChoice, howToPlay } from "../games.js";
import { importButton } from "../import.js";
import { personNames, recall, remember } from "../memory.js";
import { countSeconds, prepare } from "../prepare.js";

const PAGE = 20;

export async function showHome(view, { signal, go }) {
  document.title = "Stoneworks";
  const known = await info();
  const list = h("section", { class: "card", "aria-labelledby": "games-heading" });
  view.append(h("h1", {}, "Play"), h("div", { class: "home" }, await newGame(known.games, go, signal), list));
  await showGames(list, 0, signal);
}

/** Returns whether a remembered choice of a new game has the form that is written. */
function isChoice({ game, values, players, confirm }) {
  const names = Array.isArray(players) ? players.map((name) => typeof name) : [];
  return typeof game === "string" && typeof values === "object" && values !== null && String(names) === "string,string" && typeof confirm === "boolean";
}

async function newGame(games, go, signal) {
  const remembered = recall("new-game", {}, isChoice);
  const labels = [0, 1].map(() => h("span", {}));
  const seats = labels.map((label) => new BotChoice(label, { chosen: () => getReady() }));
  const names = personNames().map((name, seat) =>
    h("input", { type: "text", maxlength: "40", value: name, placeholder: "Name (optional)", "aria-label": `Name of the person in seat ${seat + 1}`, class: "person-name" }),
  );
  seats.forEach((seat, index) => seat.element.append(names[index]));
  const rules = h("div", {});
  const unrated = h("p", { class: "faint", hidden: true }, "No bot has been rated on this board, so there are no levels.");
  const ready = h("p", { class: "faint preparing" });
  let preparing = null;
  const confirm = h("input", { type: "checkbox", checked: remembered.confirm ?? true });
  let wanted = remembered.players ?? null;
  const nextRequest = requestCounter();

  async function updateBots(text) {
    const isLatest = nextRequest();
    const { game } = choice;
    form.setAttribute("aria-busy", "true");
    labels.forEach((label, seat) => {
      label.textContent = `${game.colors[seat]} ${seat ? "" : "(moves first)"}`;
    });
    rules.replaceChildren(howToPlay(game) ?? "");
    try {
      const bots = await botsFor(text);
      const easy = easyOf(bots) ?? "mcts:10";
      if (!isLatest()) return;
      unrated.hidden = bots.some((bot) => bot.level);
      await Promise.all(
        seats.map((seat, index) => {
          const before = seat.select.length ? seat.value : index ? easy : null;
          return seat.list(text, { wanted: wanted ? wanted[index] : before, fallback: easy });
        }),
      );
      wanted = null;
      getReady();
    } catch (error) {
      if (isLatest()) toast(error.message);
    } finally {
      if (isLatest()) form.setAttribute("aria-busy", "false");
    }
  }

  /** Prepares the chosen bots, and says how long that takes. */
  async function getReady() {
    preparing?.abort();
    const own = (preparing = new AbortController());
    const bots = [...new Set(seats.map((seat) => seat.value).filter(Boolean))];
    ready.textContent = "";
    await sleep(300, signal); // a click may be one of several
    if (own.signal.aborted || !bots.length) return;
    countSeconds((seconds) => {
      ready.textContent = `Preparing ${choice.game.title}: its programs are compiled, once on this machine … ${seconds} s`;
    }, AbortSignal.any([own.signal, signal]));
    const areReady = await prepare(choice.text(), bots);
    if (!own.signal.aborted) ready.textContent = areReady ? "Ready." : "";
    own.abort();
  }

  const choice = new GameChoice(games, { chosen: remembered.game, values: remembered.values, changed: updateBots, pictures: true });
  const form = h(
    "form",
    {
      "aria-labelledby": "new-heading",
      onsubmit: async (event) => {
        event.preventDefault();
        const pending = seats.find((seat) => seat.isPending);
        if (pending) {
          await pending.look();
          if (pending.isPending) return pending.name.focus();
        }
        const players = seats.map((seat) => seat.value);
        remember("new-game", { game: choice.game.name, values: choice.values(), players: players.map((name) => name ?? ""), confirm: confirm.checked });
        remember("names", names.map((input) => input.value.trim()));
        await startGame({ game: choice.game.name, options: choice.values(), players, confirm: confirm.checked }, go);
      },
    },
    h("div", { class: "card wide" }, h("h2", { id: "new-heading" }, "New game"), choice.tiles),
    h(
      "div",
      { class: "card" },
      choice.options,
      h("div", { class: "seats" }, seats.map((seat) => seat.element)),
      unrated,
      h("label", { class: "check" }, confirm, " Confirm each turn before it counts"),
      h("button", { type: "submit", class: "primary" }, "Start the game"),
      ready,
      rules,
    ),
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
      h("td", { class: "game-cell" }, game.picture ? h("span", { class: "game-picture", "aria-hidden": "true" }, parseSvg(game.picture)) : null, h("span", {}, h("a", { href: `play/${game.id}` }, game.title || game.name), game.title ? h("div", { class: "faint" }, game.name) : null)),
      game.players.map(playerName).join(" – "),
      game.result ? resultOfPlayers(game.result, game.players) : h("strong", {}, game.person_to_move ? "your move" : "in progress"),
      h("td", { class: "faint" }, when(game.updated)),
      h(
        "td",
        { class: "actions" },
        h("a", { href: `analyze/${game.id}`, "aria-label": `Analyze ${game.title || game.name}`, "data-name": `analyze ${game.id}` }, "Analyze"),
        button(
          "Delete",
          async () => {
            if (!window.confirm(`Delete ${game.title || game.name}? It cannot be brought back.`)) return;
            await post(`games/${game.id}/delete`);
            await again(first);
          },
          { class: "quiet", "aria-label": `Delete ${game.title || game.name}`, "data-name": `delete ${game.id}` },
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
  if (leftOut) toast(`${count(leftOut, "game")} left out: damaged, of another version, or of a game that is not installed`);
}
