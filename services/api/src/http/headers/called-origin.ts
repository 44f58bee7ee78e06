import type { RequestHead } from '../route.ts';

const HOST = /^[A-Za-z0-9.-]+(?::\d{1,5})?$|^\[[0-9A-Fa-f:]+\](?::\d{1,5})?$/;

/** The origin that a client calls, by the header `Host`; that of this machine where the header names no host. */
export function calledOrigin({ headers: { host = '' } }: Pick<RequestHead, 'headers'>): string {
  const origin = `http://${host}`;
  return HOST.test(host) && URL.canParse(origin) ? origin : 'http://localhost';
}
