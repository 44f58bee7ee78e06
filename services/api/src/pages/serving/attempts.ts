import { isIPv6 } from 'node:net';
import type { Limits } from '@parley/shared/ports/limits';
import type { PageStore } from '@parley/shared/ports/page-store';
import type { RequestHead } from '../../http/route.ts';
import type { PageView } from '../views/view.ts';
import type { Visit } from './visit.ts';

/** Counts the requests of an address on all pods. */
export interface Attempts {
  /** For how many more seconds the address is blocked; undefined if it is not. */
  blocked(address: string): Promise<number | undefined>;
  /** Counts one failure. Returns for how many seconds the address is now blocked; undefined if it is not. */
  failed(address: string): Promise<number | undefined>;
  /** Counts one posted form. Returns after how many seconds the next form is accepted; undefined if this one is. */
  posted(address: string): Promise<number | undefined>;
}

interface AttemptsDeps {
  readonly store: PageStore;
  readonly limits: Pick<Limits, 'take'>;
  /** The maximum number of failures in ten minutes. */
  readonly failuresMax: number;
  /** The maximum number of forms in ten minutes. Many people may share one address. */
  readonly postsMax: number;
}

const WINDOW_SECONDS = 600;
/** A tenant that no real user has. */
const UNKNOWN_TENANT = '\u0000connect';

export function createAttempts(deps: AttemptsDeps): Attempts {
  const { store, limits, failuresMax, postsMax } = deps;
  const nameOf = (address: string) => ({ family: 'blocked', id: address }) as const;
  return {
    async blocked(address) {
      // The entry blocks the address while it exists. The store expires it, so the pods' clocks do not matter.
      const entry = await store.read(nameOf(address));
      return entry === undefined ? undefined : Number(entry.value);
    },
    async failed(address) {
      const rate = { points: failuresMax, windowSeconds: WINDOW_SECONDS };
      const verdict = await limits.take(
        'connect-failures',
        { tenant: UNKNOWN_TENANT, userId: address },
        rate,
      );
      if (verdict.allowed) return undefined;
      const seconds = verdict.retryAfterSeconds;
      await store.put(nameOf(address), String(seconds), seconds * 1000);
      return seconds;
    },
    async posted(address) {
      const rate = { points: postsMax, windowSeconds: WINDOW_SECONDS };
      const verdict = await limits.take('connect-posts', { tenant: UNKNOWN_TENANT, userId: address }, rate);
      return verdict.allowed ? undefined : verdict.retryAfterSeconds;
    },
  };
}

/**
 * The client's address, if `proxyHops` of the deployment's proxies each add to X-Forwarded-For. For IPv6 only the /64 network
 * counts, because one client has many addresses in one network.
 */
export function addressOf({ headers, remoteAddress }: RequestHead, proxyHops: number): string {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  const forwardedFor = proxyHops === 0 ? undefined : forwarded.at(-proxyHops)?.trim();
  const address =
    forwardedFor === undefined || forwardedFor === '' ? remoteAddress : withoutPort(forwardedFor);
  return isIPv6(address) && !address.includes('.') ? networkOf(address) : address.slice(0, 64);
}

/** Some proxies add the port of the connection, which differs each time, and write IPv6 addresses in brackets. */
function withoutPort(forwardedFor: string): string {
  const [, inBrackets, plain] = /^"?(?:\[([^\]]*)\](?::\d*)?|([^:]*):\d*)"?$/.exec(forwardedFor) ?? [];
  return inBrackets ?? plain ?? forwardedFor;
}

function networkOf(address: string): string {
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}

/** Counts a failure of this address. Returns the page to show instead if the address has too many failures. */
export async function countFailure(
  { attempts }: { readonly attempts: Attempts },
  { address }: Visit,
): Promise<PageView | undefined> {
  const seconds = await attempts.failed(address);
  return seconds === undefined ? undefined : { page: 'too-many', retryAfterSeconds: seconds };
}
