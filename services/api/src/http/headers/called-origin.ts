import type { RequestHead } from '../route.ts';

const HOST = /^[A-Za-z0-9.-]+(?::\d{1,5})?$|^\[[0-9A-Fa-f:]+\](?::\d{1,5})?$/;

/** The origin that a client calls, according to the header `Host`; the origin of this machine if the header names no host. */
export function calledOrigin({ headers: { host = '' } }: Pick<RequestHead, 'headers'>): string {
  const origin = `http://${host}`;
  return HOST.test(host) && URL.canParse(origin) ? origin : 'http://localhost';
}
