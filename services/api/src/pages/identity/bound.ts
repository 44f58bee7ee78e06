import type { BoundIdentity } from './identity.ts';

/** Session binding: the deployer's own page at `url` identifies the person. */
export function createBoundIdentity(url: string): BoundIdentity {
  return { type: 'bound', url };
}

/** The address of that page for one session. The session id is useless without the owner's token. */
export function bindingUrlOf({ url }: BoundIdentity, session: string): string {
  const target = new URL(url);
  target.searchParams.set('session', session);
  return target.href;
}
