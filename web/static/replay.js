// Steps through games whose pictures are in the document: each part once, and of each picture what differs from the one before.

const { parts, games } = JSON.parse(document.getElementById("games").textContent);

function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

const pictures = new Map();

/** Returns the SVG texts of a game's positions. */
function picturesOf(game) {
  if (!pictures.has(game)) {
    let before = [];
    pictures.set(
      game,
      game.frames.map((changes) => {
        const after = [];
        let copied = 0;
        for (const [first, last, ...inserted] of changes) {
          after.push(...before.slice(copied, first), ...inserted);
          copied = last;
        }
        before = [...after, ...before.slice(copied)];
        return before.map((part) => parts[part]).join("");
      }),
    );
  }
  return pictures.get(game);
}

function resultOf(game) {
  if (game.reason === null) return "unfinished";
  if (game.winner === null) return "draw";
  return `${game.colors[game.winner]} wins by ${game.reason.replaceAll("_", " ")}`;
}

let chosen = games[0];
let at = 0;
let timer = null;

const title = h("h1", {});
const result = h("p", {});
const board = h("div", { class: "board" });
const slider = h("input", { type: "range", min: "0", value: "0", "aria-label": "Position", oninput: () => show(slider.valueAsNumber) });
const counter = h("output", {});
const moves = h("ol", { tabindex: "0", "aria-label": "Moves" });
const play = h("button", { type: "button", onclick: toggle }, "Play");
const speed = h("select", { "aria-label": "Speed" });
for (const [seconds, text] of [[2, "slow"], [0.8, "normal"], [0.25, "fast"]]) speed.append(h("option", { value: String(seconds) }, text));
speed.value = "0.8";
const list = h("select", { "aria-label": "Game", onchange: () => choose(games[list.selectedIndex]) });
games.forEach((game, index) => list.append(h("option", {}, `${index + 1}. ${game.players.join(" – ")}: ${resultOf(game)}`)));

function step(text, label, move) {
  return h("button", { type: "button", "aria-label": label, onclick: () => show(move()) }, text);
}

function choose(game) {
  chosen = game;
  stop();
  title.textContent = game.game;
  result.textContent = `${game.colors[0]}: ${game.players[0]} · ${game.colors[1]}: ${game.players[1]} · ${resultOf(game)}${game.why && `: ${game.why}`}`;
  slider.max = String(game.frames.length - 1);
  const items = [];
  game.actions.forEach((action, index) => {
    if (index === 0 || game.movers[index] !== game.movers[index - 1]) items.push(h("li", {}));
    items.at(-1).append(h("button", { type: "button", "data-at": index + 1, onclick: () => show(index + 1) }, action), " ");
  });
  moves.replaceChildren(...items);
  show(0);
}

function show(number) {
  at = Math.max(0, Math.min(number, chosen.frames.length - 1));
  const document_ = new DOMParser().parseFromString(picturesOf(chosen)[at], "image/svg+xml");
  const picture = document.importNode(document_.documentElement, true);
  for (const stroke of picture.querySelectorAll("[aria-label]")) stroke.removeAttribute("aria-label");
  board.replaceChildren(picture);
  slider.value = String(at);
  counter.textContent = `${at} of ${chosen.frames.length - 1}`;
  moves.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const current = moves.querySelector(`[data-at="${at}"]`);
  if (!current) return;
  current.setAttribute("aria-current", "true");
  moves.scrollTop = current.offsetTop - moves.offsetTop - moves.clientHeight / 2;
}

function stop() {
  clearTimeout(timer);
  timer = null;
  play.textContent = "Play";
}

function tick() {
  if (at >= chosen.frames.length - 1) return stop();
  show(at + 1);
  timer = setTimeout(tick, 1000 * Number(speed.value));
}

function toggle() {
  if (timer !== null) return stop();
  if (at >= chosen.frames.length - 1) show(0);
  play.textContent = "Pause";
  timer = setTimeout(tick, 1000 * Number(speed.value));
}

document.addEventListener("keydown", (event) => {
  if (event.target.closest("select, input") && event.target !== slider) return;
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: chosen.frames.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  show(to);
});

document.body.append(
  h(
    "main",
    {},
    h("div", { class: "stage" }, board, slider),
    h(
      "div",
      { class: "side" },
      ...(games.length > 1 ? [list] : []),
      title,
      result,
      h(
        "div",
        { class: "row" },
        step("«", "First position", () => 0),
        step("‹", "Previous position", () => at - 1),
        play,
        step("›", "Next position", () => at + 1),
        step("»", "Last position", () => chosen.frames.length - 1),
        speed,
      ),
      counter,
      moves,
    ),
  ),
);
choose(games[0]);
