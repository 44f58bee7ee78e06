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

/** The value of a header that `prepareHeaders` added. */
export function preparedHeader(res: PreparedResponse, name: string): string | undefined {
  const value = res[PREPARED]?.[name];
  return typeof value === 'string' ? value : undefined;
}

/** Begins a reply with these headers and those that were added before, which it then forgets. Names are in lower case. */
export function writeHead(
  res: PreparedResponse,
  status: number,
  headers: OutgoingHttpHeaders = {},
): ServerResponse {
  const begun = res.writeHead(status, { ...res[PREPARED], ...headers });
  // A head that Node refused is followed by the head of an error, which needs them, too.
  res[PREPARED] = undefined;
  return begun;
}
