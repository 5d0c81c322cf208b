// The report of a game: what each turn lost by an agent's judgment, and the turning points.

import { button, h, percent, swatch, table, tableRow, numberCell, turnText } from "./dom.js";

/** Losses of the chance to win from which a turn is a turning point, the largest first, as lichess has them. */
const JUDGMENTS = [[0.3, "??", "blunder"], [0.2, "?", "mistake"], [0.1, "?!", "inaccuracy"]];

/**
 * Returns the turns of a line with what they lost.
 *
 * @param nodes the nodes of the line, the start first, each with its `mover`, `color` and `action`.
 * @param values the value for player 0 after each of them in [-1, 1], null where it is not known.
 * @param proven whether each of the values is certain.
 */
export function judgedTurns(nodes, values, proven) {
  const turns = [];
  for (let first = 1; first < nodes.length; ) {
    let last = first;
    while (last + 1 < nodes.length && nodes[last + 1].mover === nodes[first].mover) last += 1;
    const { mover, color } = nodes[first];
    const chance = (at) => (values[at] === null || values[at] === undefined ? null : (1 + values[at] * (1 - 2 * mover)) / 2);
    const [before, after] = [chance(first - 1), chance(last)];
    const loss = before === null || after === null ? null : Math.max(0, before - after);
    const [, mark = "", word = ""] = JUDGMENTS.find(([minimum]) => loss !== null && loss >= minimum) ?? [];
    const actions = nodes.slice(first, last + 1).map((node) => node.action);
    turns.push({ number: turns.length + 1, node: nodes[last].id, at: last, mover, color, actions, before, after, loss, mark, word, proven: Boolean(proven[last]) });
    first = last + 1;
  }
  return turns;
}

/** Returns the color of the player of some turns, both where a swap changed it, and the name if the game has players. */
function playerOf(turns, players) {
  const colors = [...new Set(turns.map((turn) => turn.color))];
  const name = players ? ` (${players[turns[0].mover] ?? "person"})` : "";
  return h("td", {}, colors.map((color) => h("span", { class: `swatch small ${color.toLowerCase()}`, "aria-hidden": "true" })), colors.join(", then ") + name);
}

/** Returns the report of the turns; `players` are those of a stored game, and `goTo` shows the position after a turn. */
export function report(turns, agent, players, goTo) {
  const known = turns.filter((turn) => turn.loss !== null);
  if (!known.length) return h("p", { class: "faint" }, "No turn has been judged yet.");
  const judged = [0, 1].map((mover) => known.filter((turn) => turn.mover === mover)).filter((own) => own.length);
  const rows = judged.map((own) => {
    const mean = own.reduce((sum, turn) => sum + turn.loss, 0) / own.length;
    const counts = JUDGMENTS.map(([, mark]) => own.filter((turn) => turn.mark === mark).length);
    return tableRow([playerOf(own, players), numberCell(own.length), numberCell(percent(mean, 1)), ...counts.map((count) => numberCell(count))]);
  });
  const points = known.filter((turn) => turn.mark);
  const line = (turn) => [
    `${turn.number}. `,
    ...swatch(turn.color),
    button(turnText(turn.actions), () => goTo(turn.node), { class: "link" }),
    ` ${turn.mark} ${turn.word}: ${percent(turn.before)} to ${percent(turn.after)}${turn.proven ? ", proven" : ""}`,
  ];
  return h(
    "div",
    {},
    table("What each player lost", ["player", ["turns"], ["lost per turn"], ...JUDGMENTS.map(([, mark, word]) => [h("abbr", { title: word }, mark)])], rows, { class: "tight" }),
    points.length ? h("ol", { class: "turning-points" }, points.map((turn) => h("li", {}, line(turn)))) : h("p", { class: "faint" }, "No turn lost a tenth of the chance to win or more."),
    h("p", { class: "faint" }, `Chances to win of the player of the turn before and after it, by ${agent}.`),
  );
}
