// A position with its legal actions: click, or move with the arrow keys and press Enter.

import { announce, button, h, parseSvg, s } from "./dom.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Board {
  /**
   * @param onAction called with the text of an action that was chosen, and those of further ones after it, if it has any.
   * @param options `onChosen(text)`, called where an action takes several places, with what follows; `onMiss({x, y, chosen})`,
   *   called for a click on the picture where nothing is legal, after those on the places `chosen`.
   */
  constructor(onAction, { onChosen = () => {}, onMiss = () => {} } = {}) {
    this.onAction = onAction;
    this.onChosen = onChosen;
    this.onMiss = onMiss;
    this.element = h("div", { class: "board", tabindex: "-1", onkeydown: (event) => this.key(event) });
    this.chosen = [];
    this.focused = null;
    this.shownSvg = null;
    this.element.addEventListener("click", (event) => {
      this.words?.remove();
      if (!this.position || event.target.closest(".hit, .choices")) return;
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.picture.getScreenCTM().inverse());
      const click = { x: at.x, y: at.y, chosen: this.chosen };
      this.reset();
      this.onMiss(click);
    });
  }

  /** Shows a position; `hint` is a list of actions to point at. */
  show(position, { hint = [], label = "Board" } = {}) {
    this.position = position;
    this.label = label;
    this.chosen = [];
    this.hint = hint;
    if (position.svg !== this.shownSvg) {
      const picture = parseSvg(position.svg);
      picture.setAttribute("class", "picture");
      // The picture is one image with a label of its own; what its strokes spell is not said again.
      for (const stroke of picture.querySelectorAll("[aria-label]")) {
        stroke.dataset.text = stroke.getAttribute("aria-label");
        stroke.removeAttribute("aria-label");
      }
      this.picture?.remove();
      this.element.prepend(picture);
      this.picture = picture;
      this.shownSvg = position.svg;
    }
    this.render();
  }

  reset() {
    if (!this.chosen.length && !this.menu) return;
    this.chosen = [];
    this.onChosen("");
    this.render();
  }

  /** Returns the actions that begin with the places chosen so far. */
  candidates() {
    const legal = this.position.legal ?? [];
    return legal.filter((item) => this.chosen.every((place, index) => item.path[index] === place));
  }

  render() {
    // After a mouse click, keys control the page, not the board.
    const hadFocus = this.element.contains(document.activeElement) && document.activeElement.matches(":focus-visible");
    this.menu?.remove();
    this.menu = null;
    this.words?.remove();
    this.overlay?.remove();
    const byPlace = new Map();
    for (const item of this.candidates()) {
      const place = item.path[this.chosen.length];
      if (place === undefined) continue;
      if (!byPlace.has(place)) byPlace.set(place, []);
      byPlace.get(place).push(item);
    }
    const hinted = new Set(
      (this.position.legal ?? []).filter((item) => !item.then && this.hint.includes(item.action)).flatMap((item) => item.path),
    );
    const names = [...byPlace.keys()];
    if (!byPlace.has(this.focused)) this.focused = names[0] ?? null;
    this.hits = new Map();
    const color = this.position.colors?.[this.position.player];
    this.overlay = s("svg", {
      class: `overlay ${color?.toLowerCase() ?? ""}`,
      viewBox: this.picture.getAttribute("viewBox"),
      role: "group",
      "aria-label": this.label,
    });
    const parts = this.candidates()[0]?.parts ?? [];
    const part = (index) => (parts[index] ? ` part ${parts[index].split(" ")[0]}` : "");
    this.chosen.forEach((place, index) => {
      const [x, y, radius] = this.position.places[place];
      this.overlay.append(s("circle", { class: `picked-place${part(index)}`, cx: x, cy: y, r: radius * 0.8 }));
    });
    const last = this.position.places?.[this.chosen.at(-1)];
    for (const [name, items] of byPlace) {
      const [x, y, radius] = this.position.places[name];
      const labels = [...new Set(items.map((item) => item.label))].filter((label) => label !== name);
      const hit = s(
        "g",
        {
          class: `hit${hinted.has(name) ? " hinted" : ""}${this.chosen.length ? " second" : ""}`,
          role: "button",
          tabindex: name === this.focused ? 0 : -1,
          "aria-label": labels.length ? `${name}: ${labels.join(", ")}` : name,
          "data-place": name,
          onclick: () => this.choose(name),
        },
        s("title", {}, name),
        last && part(0) ? s("line", { class: "joint", x1: last[0], y1: last[1], x2: x, y2: y }) : null,
        s("circle", { class: `area${part(this.chosen.length)}`, cx: x, cy: y, r: radius }),
        s("circle", { class: "dot", cx: x, cy: y, r: 4.5 }),
      );
      this.hits.set(name, hit);
      this.overlay.append(hit);
    }
    this.element.append(this.overlay);
    if (hadFocus) this.focus();
  }

  /** Focuses a place or, while there is none to choose, the board, so that the focus returns to a place with the next turn. */
  focus() {
    (this.hits.get(this.focused) ?? this.element).focus({ preventScroll: true });
  }

  choose(place) {
    this.focused = place;
    this.chosen.push(place);
    const items = this.candidates();
    const complete = items.filter((item) => item.path.length === this.chosen.length);
    if (complete.length === 1 && items.length === 1) {
      this.chosen = [];
      this.onAction(complete[0].action, complete[0].then);
      return;
    }
    const parts = items[0].parts ?? [];
    const what = parts.length ? `${place} is the ${parts[0]}; now the ${parts[this.chosen.length]}` : `${place}: choose one`;
    this.onChosen(`${what}, or click elsewhere`);
    this.render();
    if (complete.length) this.openMenu(place, complete);
    else this.hits.values().next().value?.focus({ preventScroll: true });
  }

  openMenu(place, items) {
    const [x, y] = this.position.places[place];
    const choose = (item) => {
      this.chosen = [];
      this.element.focus({ preventScroll: true });
      this.menu.remove();
      this.menu = null;
      this.onAction(item.action, item.then);
    };
    this.menu = h(
      "div",
      { class: "choices", role: "group", "aria-label": `Choices at ${place}` },
      items.map((item) => {
        const icon = this.position.icons?.[item.label];
        const content = icon ? [parseSvg(icon), h("span", {}, item.label)] : [item.label];
        return button(content, () => choose(item), { "data-action": item.action, title: item.label, class: this.hint.includes(item.action) ? "primary" : "" });
      }),
      button("Cancel", () => this.reset(), { class: "quiet" }),
    );
    this.place(this.menu, x, y);
    this.menu.querySelector("button").focus({ preventScroll: true });
  }

  /** Puts an element beside a place of the picture. */
  place(element, x, y) {
    const box = this.picture.getAttribute("viewBox").split(" ").map(Number);
    const across = (x - box[0]) / box[2];
    const down = (y - box[1]) / box[3];
    const sideways = across > 0.5 ? "right" : "left";
    element.style[sideways] = `${100 * (across > 0.5 ? 1 - across : across)}%`;
    element.style[down > 0.6 ? "bottom" : "top"] = `${100 * (down > 0.6 ? 1 - down : down) + 4}%`;
    this.element.append(element);
  }

  /** Shows a text beside a place of the picture until the next click. */
  say(text, { x, y }) {
    this.words?.remove();
    this.words = h("div", { class: "choices words" }, text);
    this.place(this.words, x, y);
    announce(text);
  }

  key(event) {
    if (event.key === "Escape" && (this.chosen.length || this.menu)) {
      event.stopPropagation();
      this.reset();
      return;
    }
    const place = event.target.closest?.(".hit")?.dataset.place;
    if (place === undefined) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      this.choose(place);
    } else if (event.key in ARROWS) {
      event.preventDefault();
      event.stopPropagation();
      this.move(place, ARROWS[event.key]);
    }
  }

  /** Moves the focus to the nearest place in a direction. */
  move(from, [dx, dy]) {
    const [x, y] = this.position.places[from];
    let best = null;
    let minimum = Infinity;
    for (const name of this.hits.keys()) {
      const [toX, toY] = this.position.places[name];
      const along = (toX - x) * dx + (toY - y) * dy;
      const across = Math.abs((toX - x) * dy) + Math.abs((toY - y) * dx);
      const cost = along + 2.5 * across;
      if (along > 1 && across <= 2 * along && cost < minimum) {
        best = name;
        minimum = cost;
      }
    }
    if (best === null) return;
    this.hits.get(from).setAttribute("tabindex", -1);
    this.hits.get(best).setAttribute("tabindex", 0);
    this.focused = best;
    this.hits.get(best).focus();
  }
}
