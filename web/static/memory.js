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

export function remember(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // It is forgotten at the next visit.
  }
}
