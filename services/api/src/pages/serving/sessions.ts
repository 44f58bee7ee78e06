import type { Owner } from '@parley/core/domain/ids';
import { parsed } from '@parley/core/domain/parsed';
import type { PageStore } from '@parley/shared/ports/page-store';
import { z } from 'zod';
import type { Person } from '../identity/identity.ts';
import { type Browser, mintBrowserId } from './browser.ts';

const SESSION_MS = 60 * 60_000;
const Session = z.object({ tenant: z.string(), userId: z.string(), name: z.string() });

/** The signed-in people, by browser. */
export interface Sessions {
  person(browser: Browser): Promise<Person | undefined>;
  /** Signs in under a new browser id, which it returns. An id that an attacker planted is then useless. */
  signIn(browser: Browser, person: Person): Promise<string>;
  /** Signs out. Returns a new browser id, with which nobody is signed in. */
  signOut(browser: Browser): Promise<string>;
}

/** Sessions of at most an hour. `onSignOut` is called when a person signs out, before the session ends. */
export function createSessions(
  store: PageStore,
  onSignOut: (owner: Owner) => Promise<void> = async () => undefined,
): Sessions {
  const nameOf = (id: string) => ({ family: 'session', id }) as const;
  async function person(browser: Browser): Promise<Person | undefined> {
    const entry = browser.isNew ? undefined : await store.read(nameOf(browser.id));
    return entry === undefined ? undefined : parsed(Session, entry.value);
  }
  return {
    person,
    async signIn(browser, { tenant, userId, name }) {
      const id = mintBrowserId();
      await store.put(nameOf(id), JSON.stringify({ tenant, userId, name }), SESSION_MS, { tenant, userId });
      await store.drop(nameOf(browser.id));
      return id;
    },
    async signOut(browser) {
      const signedIn = await person(browser);
      if (signedIn !== undefined) await onSignOut(signedIn);
      await store.drop(nameOf(browser.id));
      return mintBrowserId();
    },
  };
}
