// Folders of records, arenas and runs: tables, ratings, curves and replays, growing as their files grow.

import { get, info, isAbort, post } from "./api.js";
import { Board } from "./board.js";
import { lineChart, ratingChart, short } from "./charts.js";
import { button, h, labeled, percent, resultText, signed, sleep, when } from "./dom.js";

const KINDS = { run: "Training runs", arena: "Arenas", records: "Game records" };
const PAGE = 25;
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
  const { games, watching } = await info();
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
  const colorsOf = (game) => games.find((known) => known.name === game?.split("(")[0])?.colors ?? ["Player 0", "Player 1"];
  const list = h("nav", { class: "card sources", "aria-label": "Sources" });
  const panel = h("div", { class: "panel" });
  view.append(h("div", { class: "watch" }, list, panel));
  const chosen = query.get("source");
  const { sources } = await get("watch", {}, signal);
  showSources(list, sources, chosen);
  const source = sources.find((known) => known.id === chosen);
  if (!source) {
    panel.append(h("p", { class: "faint" }, sources.length ? "Choose a source." : "The watched folders have no games, arenas or runs yet."));
    return;
  }
  panel.append(h("h2", {}, source.name), h("p", { class: "faint" }, `changed ${when(source.modified)}`));
  const body = h("div", {});
  panel.append(body);
  const context = { source, signal, go, colorsOf, query };
  if (source.kind === "run") await follow(body, signal, () => get("watch/run", { source: source.id }, signal), (part, fields) => showRun(part, fields));
  else if (source.kind === "arena") {
    const standings = h("div", {});
    const games = h("div", {});
    body.append(standings, games);
    await follow(standings, signal, () => get("watch/arena", { source: source.id }, signal), (part, fields) => showArena(part, fields));
    await showRecords(games, context);
  } else await showRecords(body, context);
}

function showSources(list, sources, chosen) {
  for (const [kind, title] of Object.entries(KINDS)) {
    const found = sources.filter((source) => source.kind === kind);
    if (!found.length) continue;
    list.append(
      h("h2", {}, title),
      h(
        "ul",
        {},
        found.map((source) =>
          h(
            "li",
            {},
            h(
              "a",
              { href: `/watch?${new URLSearchParams({ source: source.id })}`, "aria-current": source.id === chosen ? "page" : undefined, title: `${source.folder}: ${source.name}` },
              source.name,
            ),
          ),
        ),
      ),
    );
  }
}

/** Shows what `ask` answers, and again whenever the answer changes, until the view is left. */
async function follow(part, signal, ask, show) {
  let before = null;
  const look = async () => {
    try {
      const fields = await ask();
      const text = JSON.stringify(fields);
      if (text !== before) show(part, fields);
      before = text;
    } catch (error) {
      if (isAbort(error)) return;
      part.replaceChildren(h("p", { class: "error" }, error.message));
      before = null;
    }
  };
  await look();
  (async () => {
    while (!signal.aborted) {
      await sleep(1000 * SECONDS_BETWEEN_LOOKS, signal).catch(() => {});
      if (!signal.aborted && !document.hidden) await look();
    }
  })();
}

// -- Runs ------------------------------------------------------------------------------------------------------------------

function showRun(part, run) {
  const xs = run.axis ? run.columns[run.axis] : [];
  const latest = (name) => (run.columns[name] ?? []).findLast((value) => value !== null);
  const facts = [
    run.game,
    run.algorithm,
    run.axis ? `${short(latest(run.axis) ?? 0)} ${run.axis}` : null,
    latest("total_positions") ? `of ${short(latest("total_positions"))}` : null,
    latest("games") === undefined ? null : `${short(latest("games"))} games`,
    latest("seconds") === undefined ? null : duration(latest("seconds")),
  ].filter(Boolean);
  const shown = new Set(["positions", "frames", "total_positions", "games", "iterations", "seconds"]);
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
  run.names.filter((name) => !shown.has(name)).forEach((name) => chart([name], null));
  part.replaceChildren(
    h("p", {}, facts.join(" · ")),
    charts.length ? h("div", { class: "charts" }, charts) : h("p", { class: "faint" }, "This run has no metrics yet."),
  );
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
      xs: rows.map((row) => row.positions ?? row.frames ?? 0),
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
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Ratings" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ["rank", "player", "rating", "±", "score", "games", "distinct"].map((text, index) => h("th", { scope: "col", class: index > 1 ? "number" : "" }, text)))),
      h(
        "tbody",
        {},
        players.map((player) =>
          h(
            "tr",
            {},
            h("td", { class: "number" }, String(player.rank)),
            h("td", {}, player.name),
            h("td", { class: "number" }, player.elo.toFixed(0)),
            h("td", { class: "number" }, player.name === anchor ? "" : player.error.toFixed(0)),
            h("td", { class: "number" }, percent(player.points / player.games, 1)),
            h("td", { class: "number" }, String(player.games)),
            h("td", { class: "number" }, String(player.distinct_games)),
          ),
        ),
      ),
    ),
  );
}

function crossTable(order, matches) {
  const scores = new Map();
  for (const { names, score, games } of matches) {
    scores.set(names.join("\n"), [score, games]);
    scores.set([...names].reverse().join("\n"), [1 - score, games]);
  }
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Cross table: score of the row against the column" },
    h(
      "table",
      { class: "cross" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "score of row, %"), order.map((name) => h("th", { scope: "col", class: "number" }, name)))),
      h(
        "tbody",
        {},
        order.map((row) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, row),
            order.map((column) => {
              const found = scores.get(`${row}\n${column}`);
              if (!found) return h("td", { class: "number faint" }, row === column ? "–" : "");
              return h("td", { class: `number shade-${Math.round(4 * found[0])}`, title: `${found[1]} games` }, (100 * found[0]).toFixed(0));
            }),
          ),
        ),
      ),
    ),
  );
}

// -- Records ---------------------------------------------------------------------------------------------------------------

async function showRecords(part, context) {
  const { source, signal, colorsOf } = context;
  const filters = {};
  let first = 0;
  const summary = h("p", { class: "faint" });
  const table = h("div", {});
  const form = h("form", { class: "row filters", onsubmit: (event) => event.preventDefault(), "aria-label": "Filters" });
  const replay = h("div", {});
  const look = async () => {
    const answer = await get("watch/records", { source: source.id, first, count: PAGE, ...filters }, signal);
    const shown = answer.total === answer.all ? `${answer.all} games` : `${answer.total} of ${answer.all} games`;
    const facts = [shown];
    if (answer.mean_length !== null) facts.push(`${answer.mean_length.toFixed(1)} actions on average`);
    if (answer.first_player_score !== null) facts.push(`score of player 0: ${percent(answer.first_player_score, 1)}`);
    if (answer.broken) facts.push(`${answer.broken} lines that are no records`);
    summary.textContent = facts.join(" · ");
    table.replaceChildren(gamesTable(answer, context, open), pager(answer));
    return answer;
  };
  const pager = (answer) =>
    h(
      "div",
      { class: "row" },
      button("Previous", () => turn(-PAGE), { disabled: first === 0 }),
      button("Next", () => turn(PAGE), { disabled: first + PAGE >= answer.total }),
      h("span", { class: "faint" }, answer.total ? `${first + 1} to ${Math.min(first + PAGE, answer.total)}` : "none"),
    );
  const turn = (by) => {
    first += by;
    return look();
  };
  const open = async (index) => {
    const record = await get("watch/record", { source: source.id, index }, signal);
    await showReplay(replay, record, colorsOf(record.game), signal);
    replay.scrollIntoView({ block: "nearest", behavior: "smooth" });
  };
  const set = (name, value) => {
    filters[name] = value;
    first = 0;
    return look();
  };
  part.append(h("h2", {}, "Games"), form, summary, h("div", { class: "records" }, table, replay));
  const answer = await look();
  const colors = colorsOf(answer.games[0]);
  const select = (name, label, options) =>
    labeled(label, h("select", { onchange: (event) => set(name, event.target.value) }, h("option", { value: "" }, "any"), options.map(([value, text]) => h("option", { value }, text))));
  form.append(
    labeled("Player", h("input", { type: "search", oninput: (event) => set("player", event.target.value), list: "players" })),
    h("datalist", { id: "players" }, answer.players.map((name) => h("option", { value: name }))),
    select("result", "Result", [["0", `${colors[0]} won`], ["1", `${colors[1]} won`], ["draw", "draw"], ["unfinished", "unfinished"]]),
    select("reason", "Reason", answer.reasons.map((reason) => [reason, reason])),
    answer.games.length > 1 ? select("game", "Game", answer.games.map((game) => [game, game])) : "",
    labeled("At least", h("input", { type: "number", min: "0", placeholder: "actions", onchange: (event) => set("shortest", event.target.value) })),
    labeled("At most", h("input", { type: "number", min: "0", placeholder: "actions", onchange: (event) => set("longest", event.target.value) })),
  );
  (async () => {
    while (!signal.aborted) {
      await sleep(1000 * SECONDS_BETWEEN_LOOKS, signal).catch(() => {});
      if (!signal.aborted && !document.hidden && !table.contains(document.activeElement)) await look().catch(() => {});
    }
  })();
}

function gamesTable(answer, { colorsOf }, open) {
  const choose = (event, index) => {
    for (const row of event.target.closest("tbody").children) row.classList.toggle("selected", row.contains(event.target));
    return open(index);
  };
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Games" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ["#", "player 0", "player 1", "result", "actions"].map((text) => h("th", { scope: "col" }, text)))),
      h(
        "tbody",
        {},
        answer.rows.map((row) =>
          h(
            "tr",
            {},
            h("td", {}, button(String(row.index + 1), (event) => choose(event, row.index), { class: "link", "aria-label": `Replay game ${row.index + 1}` })),
            h("td", { class: row.winner === 0 ? "winner" : "" }, row.players[0]),
            h("td", { class: row.winner === 1 ? "winner" : "" }, row.players[1]),
            h("td", {}, row.reason === null ? "unfinished" : resultText(row, colorsOf(row.game))),
            h("td", { class: "number" }, String(row.length)),
          ),
        ),
      ),
    ),
  );
}

async function showReplay(part, record, colors, signal) {
  const board = new Board(() => {});
  const last = record.actions.length;
  let at = last;
  let timer = null;
  let asked = 0;
  const slider = h("input", { type: "range", min: "0", max: String(last), value: String(last), "aria-label": "Position", oninput: () => show(slider.valueAsNumber) });
  const counter = h("output", { class: "faint" });
  const play = button("Play", () => toggle());
  const show = async (number) => {
    at = Math.max(0, Math.min(number, last));
    slider.value = String(at);
    counter.textContent = `${at} of ${last}${at ? `: ${record.actions[at - 1]}` : ""}`;
    asked += 1;
    const own = asked;
    const position = await post("position", { game: record.game, actions: record.actions.slice(0, at) }, signal);
    if (own === asked) board.show({ ...position, legal: [], places: {} }, { label: `Position after ${at} actions` });
  };
  const stop = () => {
    clearTimeout(timer);
    timer = null;
    play.textContent = "Play";
  };
  const tick = async () => {
    if (at >= last || signal.aborted || !part.contains(play)) return stop();
    await show(at + 1);
    if (timer !== null) timer = setTimeout(tick, 600);
  };
  const toggle = () => {
    if (timer !== null) return stop();
    play.textContent = "Pause";
    if (at >= last) at = -1;
    timer = setTimeout(tick, 0);
  };
  const step = (text, label, move) => button(text, () => show(move()), { "aria-label": label });
  const query = new URLSearchParams({ game: record.game, moves: record.actions.join(",") });
  part.replaceChildren(
    h(
      "section",
      { class: "card replay", "aria-label": `Game ${record.index + 1}` },
      h("h2", {}, `${record.index + 1}. ${record.players.join(" – ")}`),
      h("p", {}, `${record.game}: ${record.reason === null ? "unfinished" : resultText(record, colors)}`),
      board.element,
      slider,
      h(
        "div",
        { class: "row" },
        step("«", "First position", () => 0),
        step("‹", "Previous position", () => at - 1),
        play,
        step("›", "Next position", () => at + 1),
        step("»", "Last position", () => last),
        counter,
      ),
      h("a", { class: "button", href: `/analyze?${query}` }, "Analyze this game"),
    ),
  );
  await show(last);
}
