import { LOOPBACK_HOSTS } from '@parley/core/domain/url';
import type { RequestHead } from '../../../http/route.ts';

/**
 * True if a request may come from its `Origin`. Programs send none. A page must have a listed origin: otherwise a page could
 * reach a pod in the browser's own network through a rebound name (DNS rebinding).
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
