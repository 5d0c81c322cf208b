// Keeps what pages have loaded for when there is no network.

const NAME = "stoneworks";

addEventListener("activate", (event) => event.waitUntil(clients.claim()));

addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || !event.request.url.startsWith(registration.scope)) return;
  const kept = caches.open(NAME);
  const answer = fetch(event.request).catch(async (error) => {
    const found = await (await kept).match(event.request, { ignoreSearch: true });
    if (found) return found;
    throw error;
  });
  event.respondWith(answer.then((response) => response.clone()));
  const keep = async () => {
    const response = await answer;
    if (response.ok) await (await kept).put(event.request, response);
  };
  event.waitUntil(keep().catch(() => {})); // a full disk, or storage that is not allowed
});
