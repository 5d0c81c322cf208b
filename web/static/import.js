// Importing game records from a file.

import { post } from "./api.js";
import { h, toast } from "./dom.js";

/** Returns a button that imports a file of records; `imported` is called with the new games. */
export function importButton(imported) {
  const file = h("input", {
    type: "file",
    accept: ".jsonl,.json,.txt",
    class: "unseen",
    id: "import-file",
    onchange: async () => {
      const text = await file.files[0].text();
      file.value = "";
      const { games } = await post("import", { text });
      toast(`${games.length} ${games.length === 1 ? "game" : "games"} imported`);
      await imported(games);
    },
  });
  return h("span", { class: "import" }, h("label", { class: "button", for: "import-file" }, "Import records"), file);
}
