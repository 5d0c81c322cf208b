// The agent of Vadus against UCT: node example.mjs
import { Play, load } from "./index.js";

const engine = await load("vadus", "quick", { agent: true });
const play = new Play(engine);
while (!play.facts.ending) {
  const found = play.facts.player === 0 ? engine.search(play.record) : engine.uct(play.record, 500);
  play.apply(found.action);
}
const { winner, ending } = play.facts;
console.log(play.texts.join(" "));
console.log(winner < 0 ? "a draw" : `${["the agent", "UCT"][winner]} wins by ${engine.board.reasons[ending - 1]}`);
