// What the page remembers in the browser. The browser may forbid it, and what is read may be of any form.

/** Returns the remembered value of a key, or `fallback` if there is none that `isValid`. */
export function recall(key, fallback, isValid = (value) => typeof value === typeof fallback) {
  try {
    const value = JSON.parse(localStorage.getItem(key));
    return value !== null && isValid(value) ? value : fallback;
  } catch {
    return fallback;
  }
}

/** Returns the names that the people in the two seats have given themselves; empty for none. */
export function personNames() {
  return recall("names", ["", ""], (names) => Array.isArray(names) && String(names.map((name) => typeof name)) === "string,string");
}

export function remember(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // It is forgotten at the next visit.
  }
}
