// Requests to the server. Errors carry the server's message.

export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function checked(asked) {
  const response = await asked.catch((error) => {
    if (isAbort(error)) throw error;
    throw new ApiError("The server does not answer. Is it still running?", 0);
  });
  if (response.ok) return response;
  const body = await response.json().catch(() => null);
  throw new ApiError(body?.error?.message ?? `the server answered ${response.status}`, response.status);
}

async function answer(asked) {
  const response = await checked(asked);
  return response.headers.get("content-type")?.includes("application/json") ? response.json() : null;
}

/** Returns the response to a download. */
export async function download(path) {
  return checked(fetch(`api/${path}`));
}

export async function get(path, query = {}, signal) {
  const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== "" && value !== undefined));
  const search = new URLSearchParams(given).toString();
  return answer(fetch(`api/${path}${search ? `?${search}` : ""}`, { signal }));
}

function send(path, fields, signal) {
  const headers = { "content-type": "application/json" };
  return fetch(`api/${path}`, { method: "POST", headers, body: JSON.stringify(fields), signal });
}

export async function post(path, fields = {}, signal) {
  return answer(send(path, fields, signal));
}

let isStarting = false;

/** Creates a game and goes to it, by default to play it. Does nothing while another one is created: a button was pressed twice. */
export async function startGame(fields, go, addressOf = (id) => `play/${id}`) {
  if (isStarting) return;
  isStarting = true;
  try {
    const { id } = await post("games", fields);
    await go(addressOf(id));
  } finally {
    isStarting = false;
  }
}

/** Posts a request that is answered by events, and calls `onEvent` with the fields of each. */
export async function stream(path, fields, signal, onEvent) {
  const response = await checked(send(path, fields, signal));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = (text + part.value).split("\n\n");
    text = events.pop();
    for (const event of events) {
      const found = JSON.parse(event.slice("data: ".length));
      if (found.error) throw new ApiError(found.error, 500);
      onEvent(found);
    }
  }
}

let known;

/** Returns the games with their options, and the limits; fetched once. */
export async function info() {
  known ??= get("info").catch((error) => {
    known = undefined;
    throw error;
  });
  return known;
}

const bots = new Map();

/** Returns the bots for a game. Concurrent requests for the same game share one answer. */
export async function botsFor(game) {
  if (!bots.has(game)) bots.set(game, get("bots", { game }).finally(() => bots.delete(game)));
  return (await bots.get(game)).bots;
}

/** Returns the name of the bot whose level is easy, if bots of the board are rated. */
export function easyOf(bots) {
  return bots.find((bot) => bot.level?.startsWith("Easy"))?.name;
}

/** Returns a bot that was typed by name; an error says why there is none. */
export async function botNamed(game, name) {
  return get("bot", { game, name });
}

/** Returns whether an error only says that a request was given up. */
export function isAbort(error) {
  return error?.name === "AbortError";
}
