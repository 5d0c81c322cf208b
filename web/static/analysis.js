// An analysis in words and as a table.

import { button, h, numberCell, percent, signed, tableHead, tableRow } from "./dom.js";

/** Number of actions in a table. */
export const ROWS = 8;
/** How the numbers of a column are written, and what they are, by its kind. */
const KINDS = {
  share: [(value) => (100 * value).toFixed(1), "in %"],
  count: [String, "simulations"],
  value: [(value) => (50 + 50 * value).toFixed(0), "chance to win, in %"],
  score: [(value) => signed(value), "on the agent's own scale"],
};

/** Returns the value of the position, and how it was found. */
export function factsOf(found, colors) {
  const facts = [];
  if (found.value !== null) facts.push(`${colors[found.player]} ${percent((1 + found.value) / 2, 1)}`);
  if (found.evaluation !== null) facts.push(`evaluation ${signed(found.evaluation)}`);
  if (found.proven !== null) {
    const length = found.line_ends_game ? ` in ${found.line.length} action${found.line.length === 1 ? "" : "s"}` : "";
    facts.push(`${{ 1: "proven win", 0: "proven draw", "-1": "proven loss" }[found.proven]}${length}`);
  }
  if (found.simulations !== null) facts.push(`${found.simulations} simulations`);
  facts.push(`${found.seconds.toFixed(2)} s`);
  return h("p", { class: "faint" }, facts.join(" · "));
}

/** Returns the best lines, or the best one where no others are known. */
export function linesOf(found) {
  if (found.lines?.length > 1) return h("ol", { class: "best-line" }, found.lines.map((line) => h("li", {}, line.join(" "))));
  return h("span", { class: "best-line" }, found.line.join(" "));
}

/** Returns the table of some actions; `play` is called with one that is clicked. The names of buttons begin with `agent`. */
export function tableOf(found, rows, play, agent) {
  const text = ({ name, kind }, row) => (row[name] === null ? "" : KINDS[kind][0](row[name]));
  const actionOf = ({ action }) => button(action, () => play(action), { class: "link", "data-row": action, "data-name": `play ${agent} ${action}` });
  return h(
    "table",
    { class: "tight" },
    h("caption", {}, found.columns.map(({ name, kind }) => `${name}: ${KINDS[kind][1]}`).join("; ")),
    tableHead(["action", ...found.columns.map(({ name }) => [name])]),
    h("tbody", {}, rows.map((row) => tableRow([actionOf(row), ...found.columns.map((column) => numberCell(text(column, row)))]))),
  );
}
