import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

const PREPARED = Symbol('headers of every reply to the request');

interface PreparedResponse extends ServerResponse {
  [PREPARED]?: OutgoingHttpHeaders | undefined;
}

/**
 * Adds headers that the reply has, whatever it is. Node would keep those of `setHeader` for as long as the response lasts, beside the text
 * that it made of them: a kilobyte for each of thousands of streams.
 */
export function prepareHeaders(res: PreparedResponse, headers: OutgoingHttpHeaders): void {
  res[PREPARED] = { ...res[PREPARED], ...headers };
}

/** A header that was added so. */
export function preparedHeader(res: PreparedResponse, name: string): string | undefined {
  const value = res[PREPARED]?.[name];
  return typeof value === 'string' ? value : undefined;
}

/** Begins a reply with these headers and those that were added before. */
export function writeHead(
  res: PreparedResponse,
  status: number,
  headers: OutgoingHttpHeaders = {},
): ServerResponse {
  const prepared = res[PREPARED];
  res[PREPARED] = undefined;
  return res.writeHead(status, { ...prepared, ...headers });
}
