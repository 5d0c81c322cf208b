// Steps through games whose pictures are in the document, compressed.

const compressed = Uint8Array.from(atob(document.getElementById("games").textContent), (character) => character.charCodeAt(0));
const games = await new Response(new Blob([compressed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();

function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

function resultOf(game) {
  if (game.reason === null) return "unfinished";
  if (game.winner === null) return "draw";
  return `${game.colors[game.winner]} wins by ${game.reason.replaceAll("_", " ")}`;
}

const title = h("h1", {});
const result = h("p", {});
const board = h("div", { class: "board" });
const list = h("select", { "aria-label": "Game", onchange: () => choose(games[list.selectedIndex]) });
games.forEach((game, index) => list.append(h("option", {}, `${index + 1}. ${game.players.join(" – ")}: ${resultOf(game)}`)));
let chosen = games[0];
const controls = replayControls(h, { slow: 2, normal: 0.8, fast: 0.25 }, show); // of replay_controls.js, which precedes this

function choose(game) {
  chosen = game;
  title.textContent = game.game;
  result.textContent = `${game.colors[0]}: ${game.players[0]} · ${game.colors[1]}: ${game.players[1]} · ${resultOf(game)}${game.why && `: ${game.why}`}`;
  const turns = [];
  game.actions.forEach((action, index) => {
    if (index === 0 || game.movers[index] !== game.movers[index - 1]) turns.push({ mark: "", actions: [] });
    turns.at(-1).actions.push(action);
  });
  controls.begin(turns, 0);
}

function show(number) {
  const document_ = new DOMParser().parseFromString(chosen.frames[number], "image/svg+xml");
  const picture = document.importNode(document_.documentElement, true);
  for (const stroke of picture.querySelectorAll("[aria-label]")) stroke.removeAttribute("aria-label");
  board.replaceChildren(picture);
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.closest("select, input") && event.target !== controls.slider) return;
  if (controls.press(event.key)) event.preventDefault();
});

const side = h("div", { class: "side" }, ...(games.length > 1 ? [list] : []), title, result, controls.row, controls.counter, controls.moves);
document.body.append(h("main", {}, h("div", { class: "stage" }, board, controls.slider), side));
choose(games[0]);
