// Keeps what pages have loaded for when there is no network.

const NAME = "stoneworks";

addEventListener("activate", (event) => event.waitUntil(clients.claim()));

addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || !event.request.url.startsWith(registration.scope)) return;
  const kept = caches.open(NAME);
  const answer = fetch(event.request)
    .then(async (response) => {
      if (response.ok) await (await kept).put(event.request, response.clone());
      return response;
    })
    .catch(async (error) => {
      const found = await (await kept).match(event.request, { ignoreSearch: true });
      if (found) return found;
      throw error;
    });
  event.respondWith(answer);
});
