import { LOOPBACK_HOSTS } from '@parley/core/domain/url';
import type { RequestHead } from '../../../http/route.ts';

/**
 * True when a request may come from where its `Origin` says. Programs send none. A page may call from a listed origin
 * only: otherwise a page could reach a pod in the browser's own network by a rebound name (DNS rebinding).
 */
export function isOriginAllowed({ headers }: Pick<RequestHead, 'headers'>, origins: ReadonlySet<string>) {
  const { origin } = headers;
  return (
    origin === undefined ||
    origins.has(origin.toLowerCase()) ||
    (origins.has('loopback') && isLoopback(origin))
  );
}

function isLoopback(origin: string): boolean {
  return URL.canParse(origin) && LOOPBACK_HOSTS.has(new URL(origin).hostname);
}
