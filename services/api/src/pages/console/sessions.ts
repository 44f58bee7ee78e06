import { parsed } from '@parley/core/domain/parsed';
import type { PageStore } from '@parley/shared/ports/page-store';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { type Browser, mintBrowserId } from '../serving/browser.ts';
import type { Operator } from './identity.ts';
import { OPERATOR_ROLES } from './roles.ts';

const OperatorSession = z.object({
  userId: z.string(),
  name: z.string(),
  tenants: z.array(z.object({ tenant: z.string(), roles: z.array(z.enum(OPERATOR_ROLES)) })),
  /** When the session ends, on the clock of the pod that signed the operator in. The store ends it by its own clock. */
  endsAtMs: z.number(),
});
type OperatorSession = z.infer<typeof OperatorSession>;

/** The operators who are signed in to the console, by browser, on all pods. */
export interface ConsoleSessions {
  find(browser: Browser): Promise<OperatorSession | undefined>;
  /** Signs in under a new browser id, which it returns. An id that an attacker planted is then useless. */
  signIn(browser: Browser, operator: Operator): Promise<string>;
  signOut(browser: Pick<Browser, 'id'>): Promise<void>;
}

interface ConsoleSessionsDeps {
  readonly store: PageStore;
  /** How long a session lasts without a request. */
  readonly idleMs: number;
  /** The maximum duration of a session. */
  readonly sessionMs: number;
}

const SEEN_MAX = 10_000;
const SEEN_MS_MAX = 30_000;

/**
 * A session is an entry that is written once and expires at its absolute end. A second entry marks it as in use. Pods renew
 * only the second entry, so an ended session is never written again.
 */
export function createConsoleSessions({ store, idleMs, sessionMs }: ConsoleSessionsDeps): ConsoleSessions {
  const nameOf = (id: string) => ({ family: 'operator', id }) as const;
  const seenOf = (id: string) => ({ family: 'operator-seen', id }) as const;
  const renewed = new LRUCache<string, true>({ max: SEEN_MAX, ttl: Math.min(SEEN_MS_MAX, idleMs / 4) });

  async function note(id: string): Promise<void> {
    if (renewed.has(id)) return;
    renewed.set(id, true);
    await store.put(seenOf(id), '', idleMs);
  }

  return {
    async find({ id, isNew }) {
      if (isNew) return undefined;
      const [entry, seen] = await Promise.all([store.read(nameOf(id)), store.read(seenOf(id))]);
      const session =
        entry === undefined || seen === undefined ? undefined : parsed(OperatorSession, entry.value);
      if (session !== undefined) await note(id);
      return session;
    },
    async signIn(browser, { userId, name, tenants }) {
      const id = mintBrowserId();
      const session = { userId, name, tenants, endsAtMs: Date.now() + sessionMs };
      // The session belongs to the person in each tenant, so that an erasure in any tenant ends it.
      const owners = tenants.map(({ tenant }) => ({ tenant, userId }));
      await store.put(nameOf(id), JSON.stringify(session), sessionMs, ...owners);
      await note(id);
      await store.drop(nameOf(browser.id));
      return id;
    },
    async signOut({ id }) {
      await store.drop(nameOf(id));
      await store.drop(seenOf(id));
    },
  };
}
