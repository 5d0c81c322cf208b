// Importing game records from a file.

import { ApiError, post } from "./api.js";
import { count, h, toast } from "./dom.js";

/** Largest request that the server accepts, with a margin, and largest number of records in one. */
const MAX_BYTES = 900_000;
const MAX_RECORDS = 200;

/** Returns the texts of requests that import the records of a file. Lines keep their numbers, for errors. */
function partsOf(text) {
  const parts = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (!line.trim()) continue;
    const size = new Blob([JSON.stringify(line)]).size + 2;
    let part = parts.at(-1);
    if (!part || part.records === MAX_RECORDS || part.size + size > MAX_BYTES) {
      part = { text: "\n".repeat(index), next: index, records: 0, size: 2 * index };
      parts.push(part);
    }
    part.text += "\n".repeat(index - part.next) + line;
    part.next = index;
    part.records += 1;
    part.size += size;
  }
  return parts.length ? parts.map((part) => part.text) : [text];
}

/** Returns a button that imports a file of records; `imported` is called with the new games. */
export function importButton(imported) {
  const file = h("input", {
    type: "file",
    accept: ".jsonl,.json,.txt",
    class: "unseen",
    id: "import-file",
    onchange: async () => {
      const [chosen] = file.files;
      const text = await chosen.text();
      file.value = "";
      const games = [];
      const known = [];
      for (const part of partsOf(text)) {
        const answer = await post("import", { text: part }).catch((error) => {
          throw new ApiError(`${chosen.name}: ${error.message}`, error.status);
        });
        games.push(...answer.games);
        known.push(...answer.known);
      }
      toast(`${count(games.length, "game")} imported${known.length ? `; ${known.length} here already` : ""}`);
      await imported([...games, ...known]);
    },
  });
  return h("span", { class: "import" }, h("label", { class: "button", for: "import-file" }, "Import records"), file);
}
