// Importing game records from a file.

import { ApiError, post } from "./api.js";
import { count, h, toast } from "./dom.js";

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
      const { games, known } = await post("import", { text }).catch((error) => {
        throw new ApiError(`${chosen.name}: ${error.message}`, error.status);
      });
      toast(`${count(games.length, "game")} imported${known.length ? `; ${known.length} here already` : ""}`);
      await imported([...games, ...known]);
    },
  });
  return h("span", { class: "import" }, h("label", { class: "button", for: "import-file" }, "Import records"), file);
}
