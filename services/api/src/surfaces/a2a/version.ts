import type { RequestHead } from '../../http/route.ts';

/** The version of clients that do not name one. */
export const LEGACY = '0.3';
const NAME = 'A2A-Version';
const PATCH = /^(\d+\.\d+)\.\d+$/;

/**
 * The version of A2A in a request's header or query; undefined if it names none. Patch numbers are ignored (A2A 1.0, section
 * 3.6).
 */
export function namedVersion({ url, headers }: Pick<RequestHead, 'url' | 'headers'>): string | undefined {
  const header = headers[NAME.toLowerCase()];
  const text = header || new URLSearchParams(url.split('?')[1] ?? '').get(NAME) || undefined;
  return typeof text === 'string' ? text.trim().replace(PATCH, '$1') : undefined;
}

export function versionOf(head: Pick<RequestHead, 'url' | 'headers'>): string {
  return namedVersion(head) ?? LEGACY;
}
