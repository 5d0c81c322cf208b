// A position with its legal actions: click, or move with the arrow keys and press Enter.

import { announce, button, h, isStill, parseSvg, s, sleep } from "./dom.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const MILLISECONDS = 200;
/** Largest number of pixels per unit of a picture, so that the stones of small boards are not larger than others. */
const LARGEST_SCALE = 1.5;
/** Diameter in pixels that zooming gives to the places. */
const FINGER = 34;
/** How long the mouse rests on a place before what an action changes is shown. */
const MILLISECONDS_TO_FORESEE = 120;

/** Returns the stones of a picture by their place. */
function stonesOf(picture) {
  return new Map([...picture.querySelectorAll(".stones circle, .cones circle")].map((stone) => [String(middleOf(stone)), stone]));
}

/** Returns how far a part is moved in its picture: those composed in the browser move every stone to its place. */
function shiftOf(part) {
  const { e = 0, f = 0 } = part.closest('[transform^="translate"]')?.transform.baseVal[0].matrix ?? {};
  return [e, f];
}

/** Returns the middle of a stone in its picture. */
function middleOf(stone) {
  const [x, y] = shiftOf(stone);
  return [x + stone.cx.baseVal.value, y + stone.cy.baseVal.value].map((value) => Math.round(10 * value) / 10);
}

/** Adds to a group a copy of a stone, on its place in the picture. */
function addCopy(group, stone) {
  const [x, y] = shiftOf(group);
  const [cx, cy] = middleOf(stone);
  const copy = stone.cloneNode();
  copy.setAttribute("cx", cx - x);
  copy.setAttribute("cy", cy - y);
  group.append(copy);
  return copy;
}

function colorOf(stone) {
  return stone.parentNode.getAttribute("class");
}

/** Returns a stone in a copy of its group, which has its colors. */
function withGroup(stone) {
  const group = stone.parentNode.cloneNode(false);
  addCopy(group, stone);
  return group;
}

/** Returns what can be chosen in a position, as text. */
function choicesOf({ game, actions, player, colors, legal, buttons, instead, places }) {
  return JSON.stringify([game, actions, player, colors, legal, buttons, instead, places]);
}

/** Returns points on the outline of a circle or path, in the coordinates of a picture. */
function outline(part, picture) {
  const toPicture = picture.getScreenCTM().inverse().multiply(part.getScreenCTM());
  const step = part.getTotalLength() / 48;
  return Array.from({ length: 48 }, (_, index) => part.getPointAtLength(step * index).matrixTransform(toPicture));
}

export class Board {
  /**
   * @param onAction called with the text of an action that was chosen, those of further ones after it, if it has any, and
   *   whether it replaces the last action of the turn.
   * @param options `onChosen(text)`, called where an action takes several places, with what follows; `onMiss({x, y, chosen})`,
   *   called for a click on the picture where nothing is legal, after those on the places `chosen`; `foresee(action)`, which
   *   promises the picture after an action; `signal`, which ends what the board listens to outside of itself.
   */
  constructor(onAction, { onChosen = () => {}, onMiss = () => {}, foresee = null, signal } = {}) {
    this.onAction = onAction;
    this.onChosen = onChosen;
    this.onMiss = onMiss;
    this.foresee = foresee;
    this.scroll = h("div", { class: "board-scroll" });
    this.caption = h("p", { class: "faint center caption" });
    this.element = h("div", { class: "board", tabindex: "-1", onkeydown: (event) => this.key(event) }, this.scroll);
    this.chosen = [];
    this.focused = null;
    this.shownSvg = null;
    this.turned = 0;
    this.angle = 0;
    this.element.addEventListener("click", (event) => {
      this.words?.remove();
      if (!this.position || event.target.closest(".hit, .choices, .board-card")) return;
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.content.getScreenCTM().inverse());
      const click = { x: at.x, y: at.y, chosen: this.chosen };
      this.reset();
      this.onMiss(click);
    });
    this.element.addEventListener("pointerdown", (event) => {
      this.byFinger = event.pointerType !== "mouse";
    });
    document.addEventListener("keydown", (event) => this.turnKey(event), { signal });
    window.addEventListener("resize", () => this.position && this.fitZoom(), { signal });
    this.element.addEventListener("wheel", (event) => {
      if (!this.preview || !event.target.closest(".hit")) return;
      event.preventDefault();
      this.turn(Math.sign(event.deltaY));
    }, { passive: false });
  }

  /** Shows a position; `hint` is a list of actions to point at. What is being chosen stays where the choices do. */
  show(position, { hint = [], label = "Board" } = {}) {
    const stays = this.position && !this.hasPlayed && String(hint) === String(this.hint) && choicesOf(position) === choicesOf(this.position);
    this.position = position;
    this.label = label;
    this.hint = hint;
    if (position.svg !== this.shownSvg) this.draw(parseSvg(position.svg));
    this.shownSvg = position.svg;
    if (stays) {
      const given = { viewBox: this.picture.getAttribute("viewBox"), "aria-label": label };
      for (const [name, value] of Object.entries(given)) this.overlay.setAttribute(name, value);
      this.layer.setAttribute("transform", this.turnOfContent());
      this.showCaption();
    } else {
      this.chosen = [];
      this.held = null;
      this.render();
    }
    this.hasPlayed = false;
    this.zoomButton ??= button("Zoom", () => this.zoom(), { class: "zoom", hidden: true, "aria-pressed": "false" });
    if (!this.zoomButton.isConnected) this.element.append(this.zoomButton);
    requestAnimationFrame(() => this.fitZoom());
  }

  draw(picture) {
    const before = this.picture;
    picture.setAttribute("class", "picture");
    // The picture is one image with a label of its own; what its strokes spell is not said again.
    for (const stroke of picture.querySelectorAll("[aria-label]")) {
      stroke.dataset.text = stroke.getAttribute("aria-label");
      stroke.removeAttribute("aria-label");
    }
    this.content = s("g", {}, ...picture.childNodes);
    picture.append(this.content);
    this.ownViewBox = picture.getAttribute("viewBox").split(" ").map(Number);
    this.viewBox = this.ownViewBox;
    this.scroll.style.setProperty("--widest", `${LARGEST_SCALE * this.viewBox[2]}px`);
    if (before) before.replaceWith(picture);
    else this.scroll.prepend(picture);
    this.picture = picture;
    if (this.angle) this.turnContent();
    if (before && !isStill()) {
      this.animateStones(before);
      this.animateView(before.getAttribute("viewBox").split(" ").map(Number));
    }
  }

  /** Lets stones that came grow, those of another color turn, and those that went shrink. */
  animateStones(before) {
    const [old, now] = [stonesOf(before), stonesOf(this.picture)];
    if (Math.abs(old.size - now.size) > Math.max(8, old.size / 2)) return; // another position, not the next one
    for (const [at, stone] of now) {
      const same = old.get(at);
      if (!same) stone.classList.add("came");
      else if (colorOf(same) !== colorOf(stone)) stone.classList.add("turned");
      else if (same.getAnimations().length) stone.classList.add(...same.classList); // the same position, drawn again
    }
    for (const [at, stone] of old) {
      const group = now.has(at) ? null : this.picture.getElementsByClassName(colorOf(stone))[0];
      if (!group) continue;
      const gone = addCopy(group, stone);
      gone.classList.add("gone");
      setTimeout(() => gone.remove(), MILLISECONDS);
    }
  }

  /** Moves the view from the extent of the picture before, where the board has grown. */
  animateView(from) {
    const to = this.viewBox;
    if (String(from) === String(to)) return;
    const { picture } = this;
    const start = performance.now();
    const step = (now) => {
      const share = Math.min(1, (now - start) / MILLISECONDS);
      const box = (share < 1 ? to.map((end, index) => from[index] + (end - from[index]) * share) : to).join(" ");
      for (const part of [picture, this.overlay]) part.setAttribute("viewBox", box);
      if (share < 1 && this.picture === picture) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  // -- Turning and zooming -----------------------------------------------------------------------------------------------

  /** Shows the board from the other side. */
  flip() {
    this.turnBy(180);
  }

  /** Turns the board by the smallest angle that maps its cells to cells. */
  rotate() {
    this.turnBy(360 / this.position.sides);
  }

  turnBy(degrees) {
    this.angle = (this.angle + degrees) % 360;
    this.turnContent();
    if (this.menu || this.held) this.reset();
    else this.render();
  }

  /** Turns the picture; its texts stay upright. */
  turnContent() {
    this.content.removeAttribute("transform");
    this.viewBox = this.angle % 180 ? this.turnedView() : this.ownViewBox;
    this.picture.setAttribute("viewBox", this.viewBox.join(" "));
    this.scroll.style.setProperty("--widest", `${LARGEST_SCALE * this.viewBox[2]}px`);
    this.content.setAttribute("transform", this.turnOfContent());
    for (const text of this.content.querySelectorAll("[data-text]")) {
      text.dataset.upright ??= text.getAttribute("transform");
      const box = text.getBBox();
      text.setAttribute("transform", `${text.dataset.upright} rotate(${-this.angle} ${box.x + box.width / 2} ${box.y + box.height / 2})`);
    }
  }

  /** Returns the view that holds the turned picture, with the margin that it has unturned. */
  turnedView() {
    const points = [...this.content.querySelectorAll("path, circle")].flatMap((part) => outline(part, this.picture).map(({ x, y }) => [x, y]));
    const extent = (all) => [0, 1].flatMap((axis) => [Math.min(...all.map((point) => point[axis])), Math.max(...all.map((point) => point[axis]))]);
    const [ownLeft, , ownTop] = extent(points);
    const [left, right, top, bottom] = extent(points.map((point) => this.shown(point)));
    const margin = Math.max(0, Math.min(ownLeft - this.ownViewBox[0], ownTop - this.ownViewBox[1]));
    return [left - margin, top - margin, right - left + 2 * margin, bottom - top + 2 * margin];
  }

  turnOfContent() {
    const [left, top, width, height] = this.ownViewBox;
    return this.angle ? `rotate(${this.angle} ${left + width / 2} ${top + height / 2})` : "";
  }

  /** Returns where a point of the unturned picture is shown. */
  shown([x, y]) {
    const [left, top, width, height] = this.ownViewBox;
    const [cos, sin] = [Math.cos((this.angle * Math.PI) / 180), Math.sin((this.angle * Math.PI) / 180)];
    const [dx, dy] = [x - left - width / 2, y - top - height / 2];
    return [left + width / 2 + dx * cos - dy * sin, top + height / 2 + dx * sin + dy * cos];
  }

  /** Offers to zoom where places are smaller than a finger. */
  fitZoom() {
    const radii = Object.values(this.position.places ?? {}).map((place) => place[2]);
    const width = this.scroll.clientWidth;
    if (!radii.length || !width) return;
    const diameter = (2 * Math.min(...radii)) / this.viewBox[2];
    this.factor = Math.max(1, FINGER / (diameter * width));
    if (this.isZoomed) return;
    // The height of a phone held sideways makes the picture narrower than its column.
    const isByFinger = matchMedia("(pointer: coarse)").matches;
    const shown = isByFinger ? Math.min(width, (this.picture.clientHeight * this.viewBox[2]) / this.viewBox[3]) : width;
    this.zoomButton.hidden = FINGER < 1.1 * diameter * shown;
  }

  zoom() {
    this.isZoomed = !this.isZoomed;
    this.zoomButton.setAttribute("aria-pressed", String(this.isZoomed));
    this.element.classList.toggle("zoomed", this.isZoomed);
    this.scroll.style.setProperty("--zoom", this.isZoomed ? this.factor : 1);
    const focused = this.position.places?.[this.focused];
    const [x, y] = focused ? this.shown(focused) : [this.viewBox[0] + this.viewBox[2] / 2, this.viewBox[1] + this.viewBox[3] / 2];
    this.scroll.scrollLeft = ((x - this.viewBox[0]) / this.viewBox[2]) * this.scroll.scrollWidth - this.scroll.clientWidth / 2;
    this.scroll.scrollTop = ((y - this.viewBox[1]) / this.viewBox[3]) * this.scroll.scrollHeight - this.scroll.clientHeight / 2;
  }

  // -- Choosing ----------------------------------------------------------------------------------------------------------

  reset() {
    const hadChoice = this.chosen.length || this.menu || this.held;
    this.chosen = [];
    this.held = null;
    if (!hadChoice) return false;
    this.onChosen("");
    this.render();
    return true;
  }

  /** Returns the actions that begin with the places chosen so far. */
  candidates() {
    const legal = this.position.legal ?? [];
    const taken = new Set(legal.map((item) => item.path[0]));
    const instead = (this.position.instead ?? []).filter((item) => !taken.has(item.path[0])).map((item) => ({ ...item, instead: true }));
    return [...legal, ...instead].filter((item) => this.chosen.every((place, index) => item.path[index] === place));
  }

  render() {
    // After a mouse click, keys control the page, not the board.
    const hadFocus = this.element.contains(document.activeElement) && document.activeElement.matches(":focus-visible");
    this.menu?.remove();
    this.menu = null;
    this.words?.remove();
    this.overlay?.remove();
    this.preview = null;
    this.changes = null;
    const byPlace = new Map();
    const candidates = this.candidates();
    for (const item of candidates) {
      const place = item.path[this.chosen.length];
      if (place === undefined) continue;
      if (!byPlace.has(place)) byPlace.set(place, []);
      byPlace.get(place).push(item);
    }
    const hinted = new Set(candidates.filter((item) => !item.then && this.hint.includes(item.action)).map((item) => item.path[this.chosen.length]));
    const names = [...byPlace.keys()];
    if (!byPlace.has(this.focused)) this.focused = names[0] ?? null;
    this.hits = new Map();
    this.byPlace = byPlace;
    const color = this.position.colors?.[this.position.player];
    this.layer = s("g", { transform: this.turnOfContent() });
    // A mouse takes the focus from where it was, but does not give it to a place, so that keys go on to control the page.
    const onmousedown = (event) => {
      event.preventDefault();
      document.activeElement?.blur();
    };
    this.overlay = s("svg", { class: `overlay ${color?.toLowerCase() ?? ""}`, viewBox: this.picture.getAttribute("viewBox"), role: "group", "aria-label": this.label, onmousedown }, this.layer);
    const parts = candidates[0]?.parts ?? [];
    const part = (index) => (parts[index] ? ` part ${parts[index].split(" ")[0]}` : "");
    this.chosen.forEach((place, index) => {
      const [x, y, radius] = this.position.places[place];
      this.layer.append(s("circle", { class: `picked-place${part(index)}`, cx: x, cy: y, r: radius * 0.8 }));
    });
    const last = this.position.places?.[this.chosen.at(-1)];
    for (const [name, items] of byPlace) {
      const [x, y, radius] = this.position.places[name];
      const labels = [...new Set(items.map((item) => item.label))].filter((label) => label !== name);
      const kinds = [hinted.has(name) && "hinted", this.chosen.length && "second", items[0].picks && "piece", this.forms(name).length > 1 && "lay", items[0].instead && "instead"];
      const hit = s(
        "g",
        {
          class: ["hit", ...kinds.filter(Boolean)].join(" "),
          role: "button",
          tabindex: name === this.focused ? 0 : -1,
          "aria-label": labels.length ? `${name}: ${labels.join(", ")}` : name,
          "data-place": name,
          onclick: () => this.choose(name),
          onpointerenter: (event) => event.pointerType === "mouse" && this.showPreview(name),
          onpointerleave: () => this.leave(),
          onfocus: () => this.showPreview(name),
          onblur: () => this.leave(),
        },
        s("title", {}, name),
        last && part(0) ? s("line", { class: "joint", x1: last[0], y1: last[1], x2: x, y2: y }) : null,
        s("circle", { class: `area${part(this.chosen.length)}`, cx: x, cy: y, r: radius }),
        s("circle", { class: "dot", ...((items[0].picks && this.topStone(x, y, radius)) || { cx: x, cy: y, r: 4.5 }) }),
      );
      this.hits.set(name, hit);
      this.layer.append(hit);
    }
    this.scroll.append(this.overlay);
    this.showCaption();
    if (hadFocus) this.focus();
  }

  /** Says below the board how tiles are turned, or what the lines of a picked piece are. */
  showCaption() {
    const turn = matchMedia("(hover: none)").matches ? "Tap a place again to turn the tile." : "The wheel or r turns the tile.";
    const picked = this.picture.querySelector(".slides, .steps") && "Green lines: slides; red dashes: steps.";
    const text = [...this.byPlace.keys()].some((name) => this.forms(name).length > 1) ? turn : picked;
    // Once shown, the caption keeps its space, so that the page does not jump from turn to turn.
    if (text && !this.caption.isConnected) this.scroll.after(this.caption);
    if (text) this.caption.textContent = text;
    this.caption.classList.toggle("unused", !text);
  }

  /** Returns the circle of the uppermost stone on a place: in a stack, the stones are beside its middle. */
  topStone(x, y, radius) {
    const circles = [...this.picture.querySelectorAll(".stones circle:not(.gone)")].map((stone) => {
      const [cx, cy] = middleOf(stone);
      return { cx, cy, r: stone.r.baseVal.value };
    });
    return circles.findLast(({ cx, cy }) => Math.hypot(cx - x, cy - y) < radius);
  }

  /** Focuses a place or, while there is none to choose, the board, so that the focus returns to a place with the next turn. */
  focus() {
    (this.hits.get(this.focused) ?? this.element).focus({ preventScroll: true });
  }

  choose(place) {
    this.focused = place;
    const byFinger = this.byFinger;
    this.byFinger = false;
    if (this.forms(place).length > 1) {
      if (byFinger) return this.hold(place);
      this.showPreview(place);
      return this.play(this.shownForm());
    }
    this.chosen.push(place);
    const items = this.candidates();
    const complete = items.filter((item) => item.path.length === this.chosen.length);
    if (complete.length === 1 && items.length === 1) return this.play(complete[0]);
    const parts = items[0].parts ?? [];
    const what = parts.length ? `${place} is the ${parts[0]}; now the ${parts[this.chosen.length]}` : `${place}: choose one`;
    this.onChosen(`${what}, or click elsewhere`);
    this.render();
    if (complete.length) this.openMenu(place, complete);
    else this.hits.values().next().value?.focus({ preventScroll: true });
  }

  play(item) {
    this.hasPlayed = true;
    this.chosen = [];
    this.held = null;
    this.menu?.remove();
    this.menu = null;
    this.onAction(item.action, item.then, Boolean(item.instead));
  }

  // -- Actions that are forms of one another, such as the rotations of a tile --------------------------------------------

  /** Returns the actions on a place that have pictures, and no others. */
  forms(place) {
    const items = this.byPlace.get(place) ?? [];
    return items.every((item) => this.position.icons?.[item.label] && item.path.length === this.chosen.length + 1) ? items : [];
  }

  shownForm() {
    const forms = this.forms(this.previewed);
    return forms[((this.turned % forms.length) + forms.length) % forms.length];
  }

  /** Shows an action on its place; wheel, r and further taps show its other forms. */
  showPreview(place) {
    const forms = this.forms(place);
    if (!forms.length) {
      const items = this.byPlace.get(place) ?? [];
      if (items.length === 1 && items[0].path.length === this.chosen.length + 1) this.showChanges(items[0]);
      return;
    }
    if (this.held && this.held !== place) return;
    const hinted = forms.findIndex((item) => this.hint.includes(item.action));
    if (hinted >= 0 && this.previewed !== place) this.turned = hinted;
    this.preview?.remove();
    this.previewed = place;
    const [x, y] = this.position.places[place];
    const form = this.shownForm();
    this.preview = s("g", { class: "preview", transform: `translate(${x} ${y})`, "data-action": form.action }, ...parseSvg(this.position.icons[form.label]).childNodes);
    this.layer.prepend(this.preview);
  }

  /** Hides what the mouse or the focus showed on a place it leaves; where the focus is, it stays. */
  leave() {
    if (this.held) return;
    this.hidePreview();
    const focused = document.activeElement.closest(".hit")?.dataset.place;
    if (this.hits.has(focused)) this.showPreview(focused);
  }

  hidePreview() {
    this.changes?.remove();
    this.changes = null;
    if (!this.preview) return;
    this.preview.remove();
    this.preview = null;
    this.previewed = null;
  }

  /** Shows what an action would change: stones that come or turn, those that go, and the way of a cut. */
  async showChanges({ action, then, instead }) {
    this.changes?.remove();
    if (!this.foresee || then || instead) return;
    const own = (this.changes = s("g", { class: "changes", "data-action": action }));
    const isShown = () => this.changes === own;
    await sleep(MILLISECONDS_TO_FORESEE);
    const after = isShown() ? await this.foresee(action) : null;
    if (!after || !isShown()) return;
    const picture = parseSvg(after);
    own.append(picture.querySelector("defs")); // the colors of its stones
    const [now, next] = [stonesOf(this.picture), stonesOf(picture)];
    for (const [at, stone] of next) {
      if (!now.has(at) || colorOf(now.get(at)) !== colorOf(stone)) own.append(withGroup(stone));
    }
    for (const stone of [...now].filter(([at]) => !next.has(at)).map(([, one]) => one)) {
      const [cx, cy] = middleOf(stone);
      own.append(s("circle", { class: "goes", cx, cy, r: stone.getAttribute("r") }));
    }
    this.layer.prepend(own);
  }

  turn(by) {
    this.turned += by;
    this.showPreview(this.previewed);
    announce(this.shownForm().label);
  }

  /** Holds a form under the finger: a further tap turns it, a button plays it. */
  hold(place) {
    if (this.held === place) return this.turn(1);
    this.held = null;
    this.hidePreview();
    this.held = place;
    this.showPreview(place);
    this.menu?.remove();
    this.menu = h(
      "div",
      { class: "choices held", role: "group", "aria-label": `Choices at ${place}` },
      button("Turn", () => this.turn(1)),
      button("Play", () => this.play(this.shownForm()), { class: "primary" }),
      button("Cancel", () => this.reset(), { class: "quiet" }),
    );
    this.element.append(this.menu);
    const covered = this.preview.getBoundingClientRect().bottom - this.menu.getBoundingClientRect().top;
    if (covered > 0) window.scrollBy(0, covered + 8);
  }

  openMenu(place, items) {
    const [x, y] = this.position.places[place];
    this.menu = h(
      "div",
      { class: "choices", role: "group", "aria-label": `Choices at ${place}` },
      items.map((item) => {
        const icon = this.position.icons?.[item.label];
        const content = icon ? [parseSvg(icon), h("span", {}, item.label)] : [item.label];
        const choose = () => {
          this.element.focus({ preventScroll: true });
          this.play(item);
        };
        return button(content, choose, {
          "data-action": item.action,
          title: item.label,
          class: this.hint.includes(item.action) ? "primary" : "",
          onpointerenter: (event) => event.pointerType === "mouse" && this.showChanges(item),
          onfocus: () => this.showChanges(item),
        });
      }),
      button("Cancel", () => this.reset(), { class: "quiet" }),
    );
    this.place(this.menu, x, y);
    this.menu.querySelector("button").focus({ preventScroll: true });
  }

  /** Puts an element beside a place of the picture. */
  place(element, x, y) {
    const at = new DOMPoint(x, y).matrixTransform(this.content.getScreenCTM());
    const box = this.element.getBoundingClientRect();
    const across = (at.x - box.x) / box.width;
    const down = (at.y - box.y) / box.height;
    const sideways = across > 0.5 ? "right" : "left";
    element.style[sideways] = `${100 * Math.max(0, across > 0.5 ? 1 - across : across)}%`;
    const clear = 12 + (this.preview?.getBoundingClientRect().height ?? 20) / 2;
    element.style[down > 0.6 ? "bottom" : "top"] = `${(down > 0.6 ? 1 - down : down) * box.height + clear}px`;
    this.element.append(element);
  }

  /** Shows a text beside a place of the picture until the next click. */
  say(text, { x, y }) {
    this.words?.remove();
    this.words = h("div", { class: "choices words" }, text);
    this.place(this.words, x, y);
    announce(text);
  }

  turnKey(event) {
    const by = { r: 1, R: -1 }[event.key];
    if (by && this.preview && !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.target.closest("input, select, textarea")) this.turn(by);
  }

  key(event) {
    if (event.key === "Escape" && this.reset()) {
      event.stopPropagation();
      return;
    }
    const place = event.target.closest?.(".hit")?.dataset.place;
    if (place === undefined) return;
    const chooses = event.key === "Enter" || event.key === " ";
    if (!chooses && !(event.key in ARROWS)) return;
    event.preventDefault();
    event.stopPropagation();
    if (chooses) this.choose(place);
    else this.move(place, ARROWS[event.key]);
  }

  /** Moves the focus to the nearest place in a direction. */
  move(from, direction) {
    const [dx, dy] = direction;
    const [x, y] = this.shown(this.position.places[from]);
    let best = null;
    let minimum = Infinity;
    for (const name of this.hits.keys()) {
      const [toX, toY] = this.shown(this.position.places[name]);
      const along = (toX - x) * dx + (toY - y) * dy;
      const across = Math.abs((toX - x) * dy) + Math.abs((toY - y) * dx);
      const cost = along + 2.5 * across;
      if (along > 1 && across <= 2 * along && cost < minimum) {
        best = name;
        minimum = cost;
      }
    }
    if (best === null) return;
    this.hidePreview();
    this.hits.get(from).setAttribute("tabindex", -1);
    this.hits.get(best).setAttribute("tabindex", 0);
    this.focused = best;
    this.hits.get(best).focus();
  }
}
