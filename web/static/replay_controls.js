// The controls of a replay: stepping and playing through the positions of a game. A standalone replay has them inline.

/** Returns the controls; `h` makes elements, `speeds` are seconds by name, and `show(number)` shows a position. */
export function replayControls(h, speeds, show) {
  let [at, last, timer] = [0, 0, null];
  const slider = h("input", { type: "range", min: "0", "aria-label": "Position", oninput: () => go(slider.valueAsNumber) });
  const counter = h("output", {});
  const moves = h("ol", { class: "moves", tabindex: "0", "aria-label": "Moves" });
  const play = h("button", { type: "button", onclick: toggle }, "Play");
  const speed = h("select", { "aria-label": "Speed" }, ...Object.entries(speeds).map(([name, seconds]) => h("option", { value: String(seconds) }, name)));
  speed.value = String(speeds.normal);
  const step = (text, label, to) => h("button", { type: "button", "aria-label": label, onclick: () => go(to()) }, text);
  const row = h(
    "div",
    { class: "row" },
    step("«", "First position", () => 0),
    step("‹", "Previous position", () => at - 1),
    play,
    step("›", "Next position", () => at + 1),
    step("»", "Last position", () => last),
    speed,
  );

  /** Begins the replay of a game at a position; each of its turns is a list of actions and a mark before them. */
  function begin(turns, first) {
    stop();
    last = 0;
    const move = (number, action) => h("button", { type: "button", class: "move", "data-at": String(number), onclick: () => go(number) }, action);
    moves.replaceChildren(...turns.map(({ mark, actions }) => h("li", {}, mark, ...actions.map((action) => move(++last, action)))));
    slider.max = String(last);
    return go(first);
  }

  function go(number) {
    at = Math.max(0, Math.min(number, last));
    slider.value = String(at);
    counter.textContent = `${at} of ${last}`;
    moves.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const current = moves.querySelector(`[data-at="${at}"]`);
    current?.setAttribute("aria-current", "true");
    moves.scrollTop = current ? current.offsetTop - moves.offsetTop - moves.clientHeight / 2 : 0;
    return show(at);
  }

  function stop() {
    clearTimeout(timer);
    timer = null;
    play.textContent = "Play";
  }

  async function tick() {
    if (at >= last || !play.isConnected) return stop();
    const own = timer;
    await go(at + 1);
    if (timer === own) timer = setTimeout(tick, 1000 * Number(speed.value));
  }

  function toggle() {
    if (timer !== null) return stop();
    play.textContent = "Pause";
    if (at >= last) at = -1;
    timer = setTimeout(tick, 0);
  }

  const to = { ArrowLeft: () => at - 1, ArrowRight: () => at + 1, Home: () => 0, End: () => last };
  /** Goes where an arrow key, Home or End leads; returns whether the key is one of these. */
  const press = (key) => key in to && (go(to[key]()), true);

  return { begin, press, slider, counter, moves, row };
}
