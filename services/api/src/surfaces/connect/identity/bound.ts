import type { BoundIdentity } from './identity.ts';

/** Session binding: the deployer's own page at `url` knows its people. */
export function createBoundIdentity(url: string): BoundIdentity {
  return { type: 'bound', url };
}

/** Where the browser goes to be known. The id says nothing and opens nothing without the owner's token. */
export function bindingUrlOf({ url }: BoundIdentity, session: string): string {
  const target = new URL(url);
  target.searchParams.set('session', session);
  return target.href;
}
