export interface Facts { player: number; ending: number; winner: number; truncated: number; firstColor: number }
export interface Found { action: number; value?: number; simulations?: number; ranked?: { action: number; visits: number; value?: number; share?: number }[] }

/** The machine code of a game with the records of one board. Positions are records, actions are indices. */
export class Engine {
  readonly board: { game: string; name: string; colors: string[]; reasons: string[]; texts: string[]; num_actions: number };
  readonly initial: Uint8Array;
  seed(value: bigint): void;
  legal(record: Uint8Array): number[];
  after(record: Uint8Array, action: number): Uint8Array | null;
  facts(record: Uint8Array): Facts;
  say(record: Uint8Array, question: "describe_turn" | "describe_supplies" | "explain_result" | "explain_illegal", action?: number): { text: string; marked: number[] };
  playOut(record: Uint8Array): Uint8Array;
  greedy(record: Uint8Array): Found;
  alphaBeta(record: Uint8Array, depth: number): Found;
  uct(record: Uint8Array, simulations: number, options?: { exploration?: number; played?: number[] | null }): Found;
  search(record: Uint8Array): Found;
  evaluate(record: Uint8Array): { logits: Float32Array; value: number };
}

export interface Analysis {
  player: number;
  /** Of the best action, for the player to move, in [-1, 1]. */
  value: number | null;
  /** The proven result. */
  proven: number | null;
  simulations: number;
  seconds: number;
  line: string[];
  line_ends_game: boolean;
  lines: string[][];
  actions: { action: string; policy: number; prior?: number; visits: number; win: number | null }[];
}

/** Searches a position, by the agent if it is loaded, else by UCT, and yields what is known after each part of the search. */
export function analyze(engine: Engine, record: Uint8Array): Generator<Analysis, void>;

export class IllegalActionError extends Error {}

/** A game in play. */
export class Play {
  constructor(engine: Engine, actions?: (string | number)[]);
  readonly record: Uint8Array;
  readonly facts: Facts;
  readonly legal: number[];
  readonly texts: string[];
  apply(action: string | number): this;
  back(number?: number): Play;
  svg(): string;
}

type Read = (name: string) => Promise<Uint8Array>;
export function games(read?: Read): Promise<{ name: string; title: string; rules: string[]; boards: { board: string; game: string; name: string; file: string }[] }[]>;
export function load(game: string, board?: string, options?: { agent?: boolean; read?: Read }): Promise<Engine>;
