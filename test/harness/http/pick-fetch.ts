/**
 * A `fetch` that sends each request to a random one of `urls` (base URLs, read again for every request, so the caller
 * may change the array), whatever origin the request names. The same `seed` gives the same choices.
 */
export function pickFetch(urls: readonly string[], seed?: number): typeof fetch {
  const next = seed === undefined ? Math.random : seededRandom(seed);
  return async (input, init) => {
    const base = urls[Math.floor(next() * urls.length)];
    if (base === undefined) throw new TypeError('no pod to send the request to');
    const asked = input instanceof Request ? input.url : input;
    const { pathname, search } = new URL(asked, base);
    const url = new URL(pathname + search, base);
    return input instanceof Request ? fetch(new Request(url, input), init) : fetch(url, init);
  };
}

/** A `fetch` that sends each call of an MCP tool that begins to the first of two, and everything else to the second. */
export function splitFetch(urls: readonly string[]): typeof fetch {
  const begins = (body: unknown) =>
    typeof body === 'string' && body.includes('"tools/call"') && !body.includes('"inputResponses"');
  return (input, init) => pickFetch(begins(init?.body) ? urls.slice(0, 1) : urls.slice(1))(input, init);
}

/** Mulberry32: enough to repeat a run. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
