/** A `fetch` that sends requests with this method to another server. */
export function routing(method: string, origin: string): typeof globalThis.fetch {
  return (input, init) => {
    const url = new URL(String(input));
    return fetch(init?.method === method ? new URL(url.pathname + url.search, origin) : url, init);
  };
}
