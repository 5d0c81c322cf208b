// The router: one page, and which view of it an address shows.

import { ApiError, isAbort } from "./api.js";
import { h, toast } from "./dom.js";
import { recall, remember } from "./memory.js";
import { showAnalysis } from "./views/analyze.js";
import { showHome } from "./views/home.js";
import { showLessons, showRules } from "./views/learn.js";
import { showGame } from "./views/play.js";
import { showWatch } from "./views/watch.js";

const main = document.getElementById("main");
let leave = null;
let visit = 0;

const ROUTES = [
  [/^$/, showHome, "."],
  [/^play\/([\w-]+)$/, showGame, "."],
  [/^learn\/([\w-]+)$/, showLessons, "."],
  [/^rules\/([\w-]+)$/, showRules, "."],
  [/^analyze(?:\/([\w-]+))?$/, showAnalysis, "analyze"],
  [/^watch$/, showWatch, "watch"],
];
/** The path of the start page; all addresses are relative to it. */
const ROOT = new URL(document.baseURI).pathname;

async function route() {
  leave?.abort();
  leave = new AbortController();
  visit += 1;
  const own = visit;
  const path = location.pathname.startsWith(ROOT) ? location.pathname.slice(ROOT.length) : "/";
  const found = ROUTES.map(([pattern, show, tab]) => [path.match(pattern), show, tab]).find(([match]) => match);
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.getAttribute("href") === found?.[2]) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const view = h("div", { class: "view" });
  try {
    if (!found) throw new ApiError("There is no such page.", 404);
    await found[1](view, { id: found[0][1], query: new URLSearchParams(location.search), signal: leave.signal, go });
  } catch (error) {
    if (isAbort(error) || own !== visit) return;
    view.replaceChildren(h("h1", {}, "Something went wrong"), h("p", { class: "error" }, error.message), h("p", {}, h("a", { class: "button primary", href: "." }, "To the games")));
  }
  if (own === visit) {
    main.replaceChildren(view);
    if (own > 1 && document.activeElement === document.body) main.focus({ preventScroll: true }); // what had the focus is gone
    view.dispatchEvent(new CustomEvent("shown"));
  }
}

/** Goes to an address of the page, and returns when it is shown. */
async function go(address) {
  history.pushState(null, "", address);
  window.scrollTo(0, 0);
  await route();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || link.hasAttribute("download")) return;
  event.preventDefault();
  if (url.hash === "#main") main.focus();
  else go(url.pathname + url.search);
});
window.addEventListener("popstate", route);
window.addEventListener("unhandledrejection", (event) => {
  if (!isAbort(event.reason)) toast(event.reason?.message ?? "something went wrong");
  if (isAbort(event.reason) || event.reason instanceof ApiError) event.preventDefault();
});

const THEMES = ["", "light", "dark"];
function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  remember("theme", theme);
}
setTheme(recall("theme", "", (theme) => THEMES.includes(theme)));
document.getElementById("theme").addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
  setTheme(now === "dark" ? "light" : "dark");
});

route();
