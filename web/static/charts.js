// Charts as SVG: lines over an axis, and ratings with error bars.

import { h, s } from "./dom.js";

const MARGIN = { left: 46, right: 12, top: 10, bottom: 26 };
const NUM_COLORS = 4;

/** Returns round numbers that divide a range. */
function ticks(low, high, about) {
  const raw = (high - low) / about || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-6; value += step) found.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  return found.filter((value, index) => index === 0 || short(value) !== short(found[index - 1]));
}

export function short(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)}k`;
  return String(+value.toPrecision(3)).replace("-", "−");
}

/** Returns a value with its error, which has one significant digit, if there is one. */
function withError(value, error) {
  if (!error) return short(value);
  const digits = Math.max(0, -Math.floor(Math.log10(error)));
  return `${value.toFixed(digits)} ± ${error.toFixed(digits)}`.replace("-", "−");
}

/**
 * Returns a chart of lines.
 *
 * @param lines objects with `name`, `xs`, `ys` and perhaps `low` and `high`, the ends of error bars; null for no value.
 * @param options `title`; `marks`, objects with `x`, `y`, `text` and `label`; `low` and `high` of the vertical axis; `at`, a marked x; `pick(x)`, called for clicks.
 */
export function lineChart(lines, { title, xLabel = "", width = 640, height = 190, low, high, at, pick, marks = [], dots = false } = {}) {
  const points = lines.flatMap((line) => line.xs.map((x, index) => [x, line.ys[index], line.low?.[index], line.high?.[index]])).filter(([, y]) => y !== null && y !== undefined);
  const picture = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
  const allX = lines.flatMap((line) => line.xs);
  if (!allX.length) return h("p", { class: "faint" }, "No data yet.");
  const ys = points.flatMap(([, y, below, above]) => [y, below ?? y, above ?? y]);
  let [bottom, top] = [low ?? Math.min(...ys), high ?? Math.max(...ys)];
  if (!ys.length) [bottom, top] = [low ?? 0, high ?? 1];
  const margin = Math.abs(top) / 10 || 0.5;
  if (top - bottom < 1e-9) [bottom, top] = [bottom - margin, top + margin];
  const [left, right] = [Math.min(...allX), Math.max(...allX, Math.min(...allX) + 1)];
  const x = (value) => MARGIN.left + ((value - left) / (right - left)) * (width - MARGIN.left - MARGIN.right);
  const y = (value) => height - MARGIN.bottom - ((value - bottom) / (top - bottom)) * (height - MARGIN.top - MARGIN.bottom);
  for (const value of ticks(bottom, top, 4)) {
    picture.append(
      s("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
      s("text", { x: MARGIN.left - 6, y: y(value) + 4, "text-anchor": "end" }, short(value)),
    );
  }
  for (const value of ticks(left, right, 6)) {
    picture.append(s("text", { x: x(value), y: height - 8, "text-anchor": "middle" }, short(value)));
  }
  if (at !== undefined) picture.append(s("line", { class: "now", x1: x(at), x2: x(at), y1: MARGIN.top, y2: height - MARGIN.bottom }));
  lines.forEach((line, index) => {
    let path = "";
    let pen = false;
    line.ys.forEach((value, position) => {
      if (value === null || value === undefined) {
        pen = false;
        return;
      }
      path += `${pen ? "L" : "M"}${x(line.xs[position]).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = true;
      if (line.low?.[position] !== undefined) {
        picture.append(s("line", { class: `bar series-${index % NUM_COLORS}`, x1: x(line.xs[position]), x2: x(line.xs[position]), y1: y(line.low[position]), y2: y(line.high[position]) }));
      }
      const isAlone = [-1, 1].every((step) => (line.ys[position + step] ?? null) === null);
      if (dots || isAlone) picture.append(s("circle", { class: `point series-${index % NUM_COLORS}`, cx: x(line.xs[position]), cy: y(value), r: 3 }));
    });
    picture.append(s("path", { class: `line series-${index % NUM_COLORS}`, d: path }));
  });
  for (const mark of marks) {
    picture.append(s("g", { class: "mark" }, s("title", {}, mark.label), s("circle", { cx: x(mark.x), cy: y(mark.y), r: 4 }), s("text", { x: x(mark.x), y: y(mark.y) + (y(mark.y) < MARGIN.top + 14 ? 16 : -7), "text-anchor": "middle" }, mark.text)));
  }
  const xAt = (event) => {
    const box = picture.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * width;
    return left + ((place - MARGIN.left) / (width - MARGIN.left - MARGIN.right)) * (right - left);
  };
  if (pick) {
    picture.classList.add("pickable");
    picture.addEventListener("click", (event) => pick(xAt(event)));
  }
  // The legend has the last values, or those under the pointer.
  const values = lines.map(() => h("output", {}));
  const where = h("span", { class: "where" });
  const pointer = s("line", { class: "pointer", y1: MARGIN.top, y2: height - MARGIN.bottom });
  const read = (wanted) => {
    let shown = null;
    lines.forEach((line, index) => {
      const present = line.xs.map((_, position) => position).filter((position) => line.ys[position] !== null && line.ys[position] !== undefined);
      const nearest = wanted === null ? present.at(-1) : present.reduce((best, position) => (Math.abs(line.xs[position] - wanted) < Math.abs(line.xs[best] - wanted) ? position : best), present[0]);
      const error = line.low?.[nearest] === undefined ? undefined : (line.high[nearest] - line.low[nearest]) / 2;
      values[index].textContent = nearest === undefined ? "not known" : withError(line.ys[nearest], error);
      if (nearest !== undefined && wanted !== null) shown ??= line.xs[nearest];
    });
    where.textContent = shown === null ? "" : `at ${short(shown)}`;
    pointer.remove();
    if (shown === null) return;
    pointer.setAttribute("x1", x(shown));
    pointer.setAttribute("x2", x(shown));
    picture.append(pointer);
  };
  picture.addEventListener("pointermove", (event) => read(xAt(event)));
  picture.addEventListener("pointerleave", () => read(null));
  read(null);
  const legend = h(
    "figcaption",
    { class: "legend" },
    lines.map((line, index) => h("span", { class: `key series-${index % NUM_COLORS}` }, `${line.name}: `, values[index])),
    where,
  );
  return h("figure", {}, h("div", { class: "chart-title" }, xLabel ? `${title}, by ${xLabel}` : title), picture, legend);
}

/** Returns a chart of ratings with standard errors, one row for each player. */
export function ratingChart(players, anchor) {
  const width = 640;
  const row = 28;
  const height = players.length * row + 34;
  const left = 150;
  const low = Math.min(...players.map((player) => player.elo - player.error));
  const high = Math.max(...players.map((player) => player.elo + player.error), low + 1);
  const x = (value) => left + ((value - low) / (high - low)) * (width - left - 20);
  const picture = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Ratings with standard errors; ${anchor} is 0` });
  for (const value of ticks(low, high, 6)) {
    picture.append(
      s("line", { class: "grid", x1: x(value), x2: x(value), y1: 4, y2: height - 28 }),
      s("text", { x: x(value), y: height - 10, "text-anchor": "middle" }, short(value)),
    );
  }
  players.forEach((player, index) => {
    const y = 4 + (index + 0.5) * row;
    const name = player.name.length > 20 ? `…${player.name.slice(-19)}` : player.name;
    picture.append(
      s("text", { x: left - 10, y: y + 4, "text-anchor": "end" }, name, s("title", {}, player.name)),
      s("line", { class: "bar series-0", x1: x(player.elo - player.error), x2: x(player.elo + player.error), y1: y, y2: y }),
      s("circle", { class: "point series-0", cx: x(player.elo), cy: y, r: 5 }),
    );
  });
  return h("figure", {}, picture);
}
