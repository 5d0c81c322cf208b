// Creation of elements, notifications, and small helpers.

const SVG = "http://www.w3.org/2000/svg";

function make(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (node instanceof HTMLElement && name in node && typeof value !== "string") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Returns an HTML element; properties whose names begin with "on" are listeners. */
export function h(tag, props, ...children) {
  return make(document.createElement(tag), props, children);
}

/** Returns an SVG element. */
export function s(tag, props, ...children) {
  return make(document.createElementNS(SVG, tag), props, children);
}

/** Returns the SVG element of a document's text. */
export function parseSvg(text) {
  return document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
}

/** Returns whether nothing should move. */
export function isStill() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Returns a number of things in words. */
export function count(number, thing) {
  return `${number} ${thing}${number === 1 ? "" : "s"}`;
}

/** Returns the name of a player for people; of a path, its last two parts. */
export function playerName(name) {
  if (name === null) return "Person";
  const parts = name.split("/");
  return parts.length > 2 ? `…/${parts.slice(-2).join("/")}` : name;
}

/** Shows a message for some seconds. */
export function toast(message) {
  const box = h("div", { class: "toast" }, message);
  document.getElementById("toasts").append(box);
  setTimeout(() => box.remove(), 6000);
}

/** Lets screen readers say a message. */
export function announce(message) {
  document.getElementById("live").textContent = message;
}

export function button(label, action, props = {}) {
  return h("button", { type: "button", onclick: action, ...props }, label);
}

export function labeled(text, control, props = {}) {
  return h("label", { class: "field", ...props }, h("span", {}, text), control);
}

/** Returns a table that scrolls within its region; a heading is a text, or an element. Rows are lists of cells or elements. */
export function table(label, headings, rows, props = {}) {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    h("table", props, tableHead(headings), h("tbody", {}, rows)),
  );
}

/** Returns the head of a table; those of columns with numbers are a list with the text alone. */
export function tableHead(headings) {
  return h("thead", {}, h("tr", {}, headings.map((text) => h("th", { scope: "col", class: Array.isArray(text) ? "number" : "" }, text))));
}

/** Returns a row of a table; numbers are cells of their own alignment. */
export function tableRow(cells, props = {}) {
  return h("tr", props, cells.map((cell) => (cell?.nodeName?.match(/^T[DH]$/) ? cell : h("td", {}, cell))));
}

export function numberCell(text, props = {}) {
  return h("td", { class: "number", ...props }, text);
}

/** Returns the color of a player as a picture and, for screen readers, as a word. */
export function swatch(color) {
  return [h("span", { class: `swatch small ${color.toLowerCase()}`, "aria-hidden": "true" }), h("span", { class: "unseen" }, `${color}: `)];
}

/** Returns a folded list of keys and what they do. */
export function keyList(keys) {
  return h("details", {}, h("summary", {}, "Keys"), h("dl", { class: "keys" }, keys.flatMap(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)])));
}

/** Returns the label of an action beside the board. */
export function actionLabel({ action }, position) {
  if (action === "end") return position.turn_start === position.actions.length ? "Pass" : "End the turn";
  return action[0].toUpperCase() + action.slice(1);
}

/** Returns the actions of a turn as text: one that ends at once is a pass. */
export function turnText(actions) {
  return actions.join(" ") === "end" ? "pass" : actions.join(" ");
}

export function percent(value, digits = 0) {
  return value === null || value === undefined ? "–" : `${(100 * value).toFixed(digits)} %`;
}

export function signed(value, digits = 2) {
  if (value === null || value === undefined) return "–";
  return (value > 0 ? "+" : value < 0 ? "−" : "") + Math.abs(value).toFixed(digits);
}

export function when(seconds) {
  const date = new Date(1000 * seconds);
  if (date.toDateString() === new Date().toDateString()) return `today, ${date.toLocaleTimeString(undefined, { timeStyle: "short" })}`;
  return date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** Returns the name of a bot with its rating. */
export function botLabel(bot) {
  return bot.rating === null ? playerName(bot.name) : `${playerName(bot.name)} (${Math.round(bot.rating)} ± ${Math.round(bot.error)})`;
}

/** Copies an address of the page, or shows it where the browser forbids that. */
export async function copyLink(path) {
  const address = new URL(path, document.baseURI).href;
  try {
    await navigator.clipboard.writeText(address);
    toast("Link copied.");
  } catch {
    toast(address);
  }
}

/** Returns how a game ended, in words; `why` is what the game says of it. */
export function resultText(result, colors, why = "") {
  const words = result.winner === null ? "Draw" : `${colors[result.winner]} wins by ${result.reason.replaceAll("_", " ")}`;
  return why ? `${words}: ${why}` : words;
}

/** Returns how a game ended, in words, by the names of the players; a seat may have another color than at the start. */
export function resultOfPlayers(result, players) {
  const names = players.map(playerName);
  return resultText(result, names[0] === names[1] ? ["first player", "second player"] : names);
}

/**
 * Calls `redraw`. If it replaces the element in `part` that has the focus, the new one with the same name gets it; if that is
 * missing or disabled, `otherwise` is called.
 */
export function keepFocus(part, redraw, otherwise = () => {}) {
  const nameOf = (node) => node.dataset.name ?? node.getAttribute("aria-label") ?? node.getAttribute("href") ?? node.textContent;
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const name = focused && nameOf(focused);
  redraw();
  if (!focused || focused.isConnected) return;
  const same = [...part.querySelectorAll("a, button, summary, [tabindex]")].find((node) => nameOf(node) === name && !node.disabled);
  if (same) same.focus({ preventScroll: true });
  else otherwise();
}

/** Returns a function whose calls run one after the other. */
export function inTurn(run) {
  let last = Promise.resolve();
  return (...given) => {
    last = last.catch(() => {}).then(() => run(...given));
    return last;
  };
}

/** Returns a function to call at each request; it returns one that tells whether that request is still the latest. */
export function requestCounter() {
  let count = 0;
  return () => {
    count += 1;
    const own = count;
    return () => own === count;
  };
}

export function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new DOMException("aborted", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
