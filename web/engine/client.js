// What pages ask the worker.

export class Client {
  constructor() {
    this.worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.open = new Map();
    this.worker.onmessage = ({ data: { id, answer, analysis, error } }) => {
      if (id === this.analysis?.id) return this.analysis.show(error === undefined ? analysis : { error });
      if (!this.open.has(id)) return; // of an analysis before
      const { resolve, reject } = this.open.get(id);
      this.open.delete(id);
      if (error === undefined) resolve(answer);
      else reject(new Error(error));
    };
    this.worker.onerror = (event) => {
      for (const { reject } of this.open.values()) reject(new Error(event.message ?? "the games cannot be loaded"));
    };
    this.number = 0;
  }

  ask(kind, given = {}) {
    const id = (this.number += 1);
    return new Promise((resolve, reject) => {
      this.open.set(id, { resolve, reject });
      this.worker.postMessage({ id, kind, ...given });
    });
  }

  /** Calls `show` with analyses of a position, ever deeper ones, until it is called again, or without a position. */
  analyze(given = null, show = null) {
    const id = (this.number += 1);
    this.analysis = given && { id, show };
    this.worker.postMessage({ id, kind: given ? "analyze" : "stop", ...given });
  }
}
