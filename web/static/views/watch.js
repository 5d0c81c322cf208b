// Folders of records, arenas and runs: tables, ratings, curves and replays, growing as their files grow.

import { get, info, isAbort, post, startGame } from "../api.js";
import { Board } from "../board.js";
import { lineChart, ratingChart, short } from "../charts.js";
import { button, count, h, keepFocus, labeled, numberCell, percent, requestCounter, resultOfPlayers, signed, sleep, swatch, table, tableRow, toast, when } from "../dom.js";
import { replayControls } from "../replay_controls.js";

const SCORES = { 0: "1–0", 1: "0–1", draw: "½–½" };
const KINDS = { run: "Training runs", arena: "Arenas", records: "Game records" };
const PAGE = 25;
const SEARCH = "@64";
const SECONDS_BETWEEN_LOOKS = 3;
/** Curves of a run, in this order, with their titles; others come after them. */
const CURVES = [
  [["policy", "value"], "Losses, in nats"],
  [["policy_divergence"], "Divergence of the policy from the search's, in nats"],
  [["positions_per_second", "games_per_second", "simulations_per_second"], null],
  [["mean_length"], "Mean game length, in actions"],
  [["draw_share", "first_player_score"], "Draw rate, score of player 0"],
  [["network_share", "search_share", "learning_share"], "Share of time"],
  [["gradient_norm"], "Gradient norm"],
];

export async function showWatch(view, { query, signal, go }) {
  document.title = "Watch – Stoneworks";
  const { watching } = await info();
  view.append(h("h1", {}, "Watch"));
  if (!watching) {
    view.append(
      h(
        "div",
        { class: "card narrow" },
        h("p", {}, "No folders are watched. Start the server with the folders to watch, such as arenas and training runs:"),
        h("pre", {}, "stoneworks web runs/ games.jsonl"),
      ),
    );
    return;
  }
  const list = h("nav", { class: "card sources", "aria-label": "Sources" });
  const panel = h("div", { class: "panel" });
  view.append(h("div", { class: "watch" }, list, panel));
  const chosen = query.get("source");
  const changed = h("p", { class: "faint" });
  const body = h("div", {});
  const overview = h("div", {});
  panel.append(overview);
  let known = [];
  await follow(list, signal, () => get("watch", {}, signal), (part, { sources }) => {
    known = sources;
    showSources(list, sources, chosen);
    const source = sources.find((one) => one.id === chosen);
    if (source) changed.textContent = [source.state, `changed ${when(source.modified)}`].filter(Boolean).join(", ");
    if (!source) keepFocus(overview, () => overview.replaceChildren(overviewOf(sources)));
  });
  const source = known.find((one) => one.id === chosen);
  if (!source) return;
  panel.replaceChildren(h("h2", {}, source.name), changed, body);
  const context = { source, signal, query, view };
  if (source.kind === "records") return showRecords(body, context);
  const figures = h("div", {});
  const games = h("div", {});
  body.append(figures, games);
  const show = source.kind === "run" ? (part, run) => showRun(part, run, go) : showArena;
  await follow(figures, signal, () => get(`watch/${source.kind}`, { source: source.id }, signal), show);
  await showRecords(games, context);
}

/** Returns a table of the sources: what there is, and when it changed. */
function overviewOf(sources) {
  if (!sources.length) return h("p", { class: "faint" }, "The watched folders have no games, arenas or runs yet. New ones appear here.");
  const kinds = { run: "training run", arena: "arena", records: "game records" };
  const rows = sources.slice(0, PAGE).map((source) =>
    tableRow([h("a", { href: addressOf(source) }, source.name), h("td", {}, kinds[source.kind], " ", stateOf(source)), source.folder, h("td", { class: "faint" }, when(source.modified))]),
  );
  return h("div", {}, h("h2", {}, "Latest changes"), table("Latest changes", ["source", "kind", "folder", "changed"], rows));
}

/** Returns whether a process still writes to a source, or that a run has come to its end. */
function stateOf({ state }) {
  return state ? h("span", { class: `state-of ${state}` }, state) : "";
}

function addressOf(source) {
  return `watch?${new URLSearchParams({ source: source.id })}`;
}

function showSources(list, sources, chosen) {
  const scrolled = new Map([...list.querySelectorAll("ul")].map((part) => [part.ariaLabel, part.scrollTop]));
  list.replaceChildren();
  for (const [kind, title] of Object.entries(KINDS)) {
    const found = sources.filter((source) => source.kind === kind).sort((one, other) => one.name.localeCompare(other.name));
    if (!found.length) continue;
    list.append(
      h("h2", {}, title),
      h(
        "ul",
        { "aria-label": title },
        found.map((source) =>
          h(
            "li",
            {},
            h(
              "a",
              { href: addressOf(source), "aria-current": source.id === chosen ? "page" : undefined, title: `${source.folder}: ${source.name}` },
              source.name,
            ),
            stateOf(source),
          ),
        ),
      ),
    );
    list.lastChild.scrollTop = scrolled.get(title) ?? 0;
  }
}

/** Shows what `ask` answers, and again whenever the answer changes, until the view is left. */
async function follow(part, signal, ask, show) {
  let before = null;
  const look = async () => {
    try {
      const fields = await ask();
      const text = JSON.stringify(fields);
      if (text !== before) keepFocus(part, () => show(part, fields));
      before = text;
    } catch (error) {
      if (isAbort(error)) return;
      part.replaceChildren(h("p", { class: "error" }, error.message));
      before = null;
    }
  };
  await look();
  repeat(signal, look);
}

/** Calls `look` again and again while the view is seen. */
async function repeat(signal, look) {
  while (!signal.aborted) {
    await sleep(1000 * SECONDS_BETWEEN_LOOKS, signal).catch(() => {});
    if (!signal.aborted && !document.hidden) await look();
  }
}

// -- Runs ------------------------------------------------------------------------------------------------------------------

function showRun(part, run, go) {
  const xs = run.axis ? run.columns[run.axis] : [];
  const latest = (name) => (run.columns[name] ?? []).findLast((value) => value !== null);
  const facts = [
    run.game,
    run.algorithm,
    run.axis ? `${short(latest(run.axis) ?? 0)} ${run.axis.replaceAll("_", " ")}` : null,
    latest(`total_${run.axis}`) ? `of ${short(latest(`total_${run.axis}`))}` : null,
    latest("games") === undefined ? null : latest("games") === 1 ? "1 game" : `${short(latest("games"))} games`,
    latest("seconds") === undefined ? null : duration(latest("seconds")),
  ].filter(Boolean);
  const shown = new Set([run.axis, `total_${run.axis}`, "positions", "frames", "games", "iterations", "seconds"]);
  const charts = [];
  const chart = (names, title) => {
    const present = names.filter((name) => run.columns[name]?.some((value) => value !== null));
    names.forEach((name) => shown.add(name));
    if (!present.length) return;
    const lines = present.map((name) => ({ name: name.replaceAll("_", " "), xs, ys: run.columns[name] }));
    charts.push(h("div", { class: "card" }, lineChart(lines, { title: title ?? names[0].replaceAll("_", " "), xLabel: run.axis, width: 400, height: 170 })));
  };
  charts.push(...scoreCharts(run));
  for (const [names, title] of CURVES) {
    if (title === null) names.forEach((name) => chart([name], null));
    else chart(names, title);
  }
  Object.keys(run.columns).filter((name) => !shown.has(name)).forEach((name) => chart([name], null));
  part.replaceChildren(
    h("p", {}, facts.join(" · ")),
    run.agent ? agentButtons(run, go) : "",
    charts.length ? h("div", { class: "charts" }, charts) : h("p", { class: "faint" }, "This run has no metrics yet."),
  );
}

/** Returns buttons to play against the agent of a run, and to analyze with it. */
function agentButtons({ game, agent }, go) {
  const play = () => startGame({ game, players: [null, agent + SEARCH], confirm: true }, go);
  const query = new URLSearchParams({ game, agent: agent + SEARCH });
  return h("div", { class: "row" }, button("Play against it", play), h("a", { class: "button", href: `analyze?${query}` }, "Analyze with it"));
}

/** Returns a chart of the scores against each opponent with their 95 % intervals. */
function scoreCharts(run) {
  const byPlayer = new Map();
  for (const row of run.match_results) {
    const key = row.player ?? "agent";
    if (!byPlayer.has(key)) byPlayer.set(key, new Map());
    const opponents = byPlayer.get(key);
    if (!opponents.has(row.opponent)) opponents.set(row.opponent, []);
    opponents.get(row.opponent).push(row);
  }
  return [...byPlayer].map(([player, opponents]) => {
    const lines = [...opponents].map(([opponent, rows]) => ({
      name: `against ${opponent}`,
      xs: rows.map((row) => row[run.axis] ?? 0),
      ys: rows.map((row) => row.score ?? null),
      low: rows.map((row) => row.interval?.[0]),
      high: rows.map((row) => row.interval?.[1]),
    }));
    return h("div", { class: "card" }, lineChart(lines, { title: `Scores of the ${player} in matches, with 95 % intervals`, xLabel: run.axis ?? "positions", low: 0, high: 1, dots: true, width: 400, height: 170 }));
  });
}

function duration(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// -- Arenas ----------------------------------------------------------------------------------------------------------------

function showArena(part, arena) {
  const progress = `${arena.game} · ${arena.pairs} of ${arena.pairs_in_all} pairs of games${arena.finished ? ", finished" : ""}`;
  const elements = [h("p", {}, progress), h("progress", { max: arena.pairs_in_all, value: arena.pairs, "aria-label": "Pairs of games played" })];
  if (arena.results) {
    const { players, anchor, seat } = arena.results;
    const order = players.map((player) => player.name);
    elements.push(
      h("div", { class: "card" }, h("h2", {}, "Ratings"), ratingChart(players, anchor), h("p", { class: "faint" }, `Elo, ${anchor} = 0, with standard errors; player 0's seat is worth ${signed(seat.elo, 0)} ± ${seat.error.toFixed(0)}`), ratingTable(players, anchor)),
      h("div", { class: "card" }, h("h2", {}, "Cross table"), crossTable(order, arena.cross_table)),
    );
  }
  part.replaceChildren(...elements);
}

function ratingTable(players, anchor) {
  const rows = players.map((player) => {
    const error = player.name === anchor ? "" : player.error.toFixed(0);
    const numbers = [player.elo.toFixed(0), error, percent(player.points / player.games, 1), player.games, player.distinct_games];
    return tableRow([numberCell(player.rank), player.name, ...numbers.map((text) => numberCell(text))]);
  });
  return table("Ratings", [["rank"], "player", ["rating"], ["±"], ["score"], ["games"], ["distinct"]], rows);
}

function crossTable(order, matches) {
  const scores = new Map();
  for (const { names, score, games } of matches) {
    scores.set(names.join("\n"), [score, games]);
    scores.set([...names].reverse().join("\n"), [1 - score, games]);
  }
  const cell = (row, column) => {
    const found = scores.get(`${row}\n${column}`);
    if (!found) return numberCell(row === column ? "–" : "", { class: "number faint" });
    return numberCell((100 * found[0]).toFixed(0), { class: `number shade-${Math.round(4 * found[0])}`, title: count(found[1], "game") });
  };
  const rows = order.map((row) => tableRow([h("th", { scope: "row" }, row), ...order.map((column) => cell(row, column))]));
  return table("Cross table: score of the row against the column", ["score of row, %", ...order.map((name) => [name])], rows, { class: "cross" });
}

// -- Records ---------------------------------------------------------------------------------------------------------------

async function showRecords(part, context) {
  const { source, signal, query, view } = context;
  const filters = {};
  let first = 0;
  let shown = null;
  let before = null;
  let opened = null;
  const nextRequest = requestCounter();
  const summary = h("p", { class: "faint" });
  const listed = h("div", {});
  const form = h("form", { class: "row filters", onsubmit: (event) => event.preventDefault(), "aria-label": "Filters" });
  const replay = h("div", {});
  const look = async () => {
    const isLatest = nextRequest();
    const answer = await get("watch/records", { source: source.id, first, count: PAGE, ...filters }, signal);
    if (!isLatest()) return;
    const facts = [answer.total === answer.all ? count(answer.all, "game") : `${answer.total} of ${count(answer.all, "game")}`];
    if (answer.mean_length !== null) facts.push(`${answer.mean_length.toFixed(1)} actions on average`);
    if (answer.first_player_score !== null) facts.push(`score of player 0: ${percent(answer.first_player_score, 1)}`);
    if (answer.broken) facts.push(count(answer.broken, "invalid line"));
    summary.textContent = facts.join(" · ");
    showChoices(answer);
    const text = JSON.stringify([answer, first, shown]);
    if (text !== before) keepFocus(listed, () => listed.replaceChildren(gamesTable(answer, source.kind === "run", shown, open), pager(answer, first)));
    before = text;
  };
  const pager = (answer, at) =>
    h(
      "div",
      { class: "row" },
      button("Previous", () => turnTo(at - PAGE), { disabled: at === 0 }),
      button("Next", () => turnTo(at + PAGE), { disabled: at + PAGE >= answer.total }),
      h("span", { class: "faint" }, answer.total ? `${at + 1} to ${Math.min(at + PAGE, answer.total)}` : "none"),
    );
  const turnTo = (at) => {
    first = at;
    return look();
  };
  const open = async (index) => {
    shown = index;
    const record = await get("watch/record", { source: source.id, index }, signal);
    if (shown !== index) return;
    history.replaceState(null, "", `${addressOf(source)}&game=${index + 1}`);
    opened?.abort();
    opened = new AbortController();
    await showReplay(replay, record, AbortSignal.any([opened.signal, signal]));
    replay.scrollIntoView({ block: "nearest", behavior: "smooth" });
  };
  const set = (name, value) => {
    filters[name] = value;
    first = 0;
    return look();
  };
  part.append(h("h2", {}, source.kind === "run" ? "Games of its matches" : "Games"), form, summary, h("div", { class: "records" }, listed, replay));
  const select = (name, label, options = []) =>
    labeled(label, h("select", { onchange: (event) => set(name, event.target.value) }, h("option", { value: "" }, "any"), options.map(([value, text]) => h("option", { value }, text))));
  const names = h("datalist", { id: "players" });
  const [reason, file, game] = [select("reason", "Reason"), select("file", "Match"), select("game", "Game")];
  // The choices grow with the files.
  const showChoices = ({ players, reasons, files, games }) => {
    for (const [choices, values] of [[names, players], [reason.lastChild, reasons], [file.lastChild, files], [game.lastChild, games]]) {
      const present = new Set([...choices.children].map((option) => option.value));
      choices.append(...values.filter((value) => !present.has(value)).map((value) => h("option", { value }, value)));
    }
    file.hidden = source.kind !== "run" || files.length < 2;
    game.hidden = games.length < 2;
  };
  form.append(
    labeled("Player", h("input", { type: "search", oninput: (event) => set("player", event.target.value), list: "players" })),
    names,
    select("result", "Result", [["0", "player 0 won"], ["1", "player 1 won"], ["draw", "draw"], ["unfinished", "unfinished"]]),
    reason,
    file,
    game,
    labeled("At least", h("input", { type: "number", min: "0", placeholder: "actions", onchange: (event) => set("shortest", event.target.value) })),
    labeled("At most", h("input", { type: "number", min: "0", placeholder: "actions", onchange: (event) => set("longest", event.target.value) })),
  );
  await look();
  const wanted = Number(query.get("game") ?? 0);
  if (Number.isInteger(wanted) && wanted > 0) {
    await open(wanted - 1).catch((error) => toast(error.message));
    view.addEventListener("shown", () => replay.scrollIntoView({ block: "nearest" }));
  }
  repeat(signal, () => look().catch(() => {}));
}

function gamesTable(answer, hasMatches, shown, open) {
  const choose = (event, index) => {
    for (const row of event.target.closest("tbody").children) row.classList.toggle("selected", row.contains(event.target));
    return open(index);
  };
  const rows = answer.rows.map((row) =>
    tableRow(
      [
        button(String(row.index + 1), (event) => choose(event, row.index), { class: "link", "aria-label": `Replay game ${row.index + 1}` }),
        ...(hasMatches ? [h("td", { class: "faint" }, row.file.replace(/^0+(?=[0-9])/, ""))] : []),
        ...row.players.map((name, player) => h("td", { class: row.winner === player ? "winner" : "" }, name)),
        row.reason === null ? "unfinished" : `${SCORES[row.winner ?? "draw"]} ${row.reason.replaceAll("_", " ")}`,
        numberCell(row.length),
      ],
      { class: row.index === shown ? "selected" : "" },
    ),
  );
  return table("Games", ["#", ...(hasMatches ? ["match"] : []), "player 0", "player 1", "result", ["actions"]], rows);
}

async function showReplay(part, record, signal) {
  const board = new Board(() => {}, { signal });
  const why = h("p", { class: "faint" });
  const nextRequest = requestCounter();
  const show = async (at) => {
    if (at) counter.append(`: ${record.actions[at - 1]}`);
    const isLatest = nextRequest();
    const position = await post("position", { game: record.game, actions: record.actions.slice(0, at) }, signal);
    if (!isLatest()) return;
    why.textContent = position.why;
    board.show({ ...position, legal: [], instead: [], places: {} }, { label: `Position after ${at} actions` });
  };
  const { begin, slider, counter, moves, row } = replayControls(h, { slow: 1.5, normal: 0.6, fast: 0.15 }, show);
  counter.className = "faint";
  row.append(counter);
  const query = new URLSearchParams({ game: record.game, moves: record.actions.join(",") });
  part.replaceChildren(
    h(
      "section",
      { class: "card replay", "aria-label": `Game ${record.index + 1}` },
      h("h2", {}, `${record.index + 1}. ${record.players.join(" – ")}`),
      h("p", {}, `${record.game}: ${record.reason === null ? "unfinished" : resultOfPlayers(record, record.players)}`),
      why,
      board.element,
      slider,
      row,
      moves,
      h("a", { class: "button", href: `analyze?${query}` }, "Analyze this game"),
    ),
  );
  const turns = record.turns.map(([, actions, color]) => ({ mark: swatch(color), actions }));
  await begin(turns, record.actions.length);
}
