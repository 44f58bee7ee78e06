import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

const PREPARED = Symbol('headers of every reply to the request');

interface PreparedResponse extends ServerResponse {
  [PREPARED]?: OutgoingHttpHeaders | undefined;
}

/**
 * Adds headers that the reply gets in any case. `setHeader` is not used: Node would keep its headers beside their text as long
 * as the response lasts, which is a kilobyte for each of thousands of streams.
 */
export function prepareHeaders(res: PreparedResponse, headers: OutgoingHttpHeaders): void {
  res[PREPARED] = { ...res[PREPARED], ...headers };
}

/** The value of a header that `prepareHeaders` added. */
export function preparedHeader(res: PreparedResponse, name: string): string | undefined {
  const value = res[PREPARED]?.[name];
  return typeof value === 'string' ? value : undefined;
}

/** Begins a reply with these headers and the prepared ones, which are then dropped. Names are in lower case. */
export function writeHead(
  res: PreparedResponse,
  status: number,
  headers: OutgoingHttpHeaders = {},
): ServerResponse {
  const begun = res.writeHead(status, { ...res[PREPARED], ...headers });
  // If Node refuses the head, the prepared headers stay, because the head of an error follows and needs them.
  res[PREPARED] = undefined;
  return begun;
}
