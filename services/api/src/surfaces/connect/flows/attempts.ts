import { isIPv6 } from 'node:net';
import type { ConnectStore } from '@parley/shared/ports/connect-store';
import type { Limits } from '@parley/shared/ports/limits';
import type { RequestHead } from '../../../http/route.ts';

/** What comes from an address, counted over all pods. */
export interface Attempts {
  /** For how many seconds more nothing is taken from this address; nothing when it may go on. */
  blocked(address: string): Promise<number | undefined>;
  /** Counts one failure; for how long the address is blocked when that was one too many. */
  failed(address: string): Promise<number | undefined>;
  /** Counts one form that was sent; for how many seconds none is taken when that was one too many. */
  posted(address: string): Promise<number | undefined>;
}

export interface AttemptsDeps {
  readonly store: ConnectStore;
  readonly limits: Pick<Limits, 'take'>;
  /** Failures in ten minutes. */
  readonly failuresMax: number;
  /** Forms in ten minutes. Many people may be behind one address. */
  readonly postsMax: number;
}

const WINDOW_SECONDS = 600;
/** A tenant that nobody can have. */
const NOBODYS = '\u0000connect';

export function createAttempts(deps: AttemptsDeps): Attempts {
  const { store, limits, failuresMax, postsMax } = deps;
  const nameOf = (address: string) => ({ family: 'blocked', id: address }) as const;
  return {
    async blocked(address) {
      // That it is there decides: it leaves by the store's clock, and pods have clocks of their own.
      const entry = await store.read(nameOf(address));
      return entry === undefined ? undefined : Number(entry.value);
    },
    async failed(address) {
      const rate = { points: failuresMax, windowSeconds: WINDOW_SECONDS };
      const verdict = await limits.take('connect-failures', { tenant: NOBODYS, userId: address }, rate);
      if (verdict.allowed) return undefined;
      const seconds = verdict.retryAfterSeconds;
      await store.put(nameOf(address), String(seconds), seconds * 1000);
      return seconds;
    },
    async posted(address) {
      const rate = { points: postsMax, windowSeconds: WINDOW_SECONDS };
      const verdict = await limits.take('connect-posts', { tenant: NOBODYS, userId: address }, rate);
      return verdict.allowed ? undefined : verdict.retryAfterSeconds;
    },
  };
}

/**
 * The address of a request, behind so many proxies of ours that each add to X-Forwarded-For. Of IPv6 the network alone,
 * for everybody has a great many addresses of one.
 */
export function addressOf({ headers, remoteAddress }: RequestHead, proxyHops: number): string {
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
  const told = proxyHops === 0 ? undefined : forwarded.at(-proxyHops)?.trim();
  const address = told === undefined || told === '' ? remoteAddress : told;
  return isIPv6(address) && !address.includes('.') ? networkOf(address) : address.slice(0, 64);
}

function networkOf(address: string): string {
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0');
  return [...left, ...zeros, ...right].slice(0, 4).join(':');
}
