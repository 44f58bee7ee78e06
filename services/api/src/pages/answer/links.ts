import { randomBytes } from 'node:crypto';
import { parsed } from '@parley/core/domain/parsed';
import type { PageEntryName, PageStore } from '@parley/shared/ports/page-store';
import { sha256 } from '@parley/shared/records/digest';
import { z } from 'zod';
import { equalSecrets } from '../../accounts/oauth/secret-text.ts';
import { type Browser, fingerprintOf } from '../serving/browser.ts';

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** How long the browser that opened a link may take for its answer, at least, in ms. */
const ANSWERING_MS = 60 * 60_000;
/** The longest time for which a link can be opened. */
export const LINK_SECONDS_MAX = 86_400;
/** The longest time for which a browser has access by a link. */
export const ACCESS_SECONDS_MAX = LINK_SECONDS_MAX + ANSWERING_MS / 1_000;

/** In place of a link that was revoked. It opens nothing. */
const REVOKED = 'revoked';

const Current = z.object({
  digest: z.string(),
  /** ms on the Redis clock. */
  opensUntil: z.number(),
});

/** The links by which one browser may answer one question without a sign-in. A question has one valid link at most. */
export interface AnswerLinks {
  /** Makes a link that can be opened until `opensUntil`, and revokes the one before. Returns its token: 256 random bits. */
  issue(elicitationId: string, at: { readonly now: number; readonly opensUntil: number }): Promise<string>;
  /** Revokes the link, for the browser that opened it, too. False when there was none. */
  revoke(elicitationId: string): Promise<boolean>;
  /**
   * Opens the question for this browser, and for no other from then on. False when the token is wrong, revoked or too old,
   * and when another browser has used it. The same browser may repeat it.
   */
  open(
    elicitationId: string,
    token: string,
    at: { browser: Pick<Browser, 'id'>; now: number },
  ): Promise<boolean>;
  /** True when the question has a link, or had one until lately: a browser that asks for it may come by that. */
  isIssued(elicitationId: string): Promise<boolean>;
  /** True when the question is open to this browser. */
  isOpen(elicitationId: string, browser: Browser): Promise<boolean>;
}

/** The store holds digests only: reading it does not give access to a question. */
export function createAnswerLinks(store: PageStore): AnswerLinks {
  const nameOf = (id: string): PageEntryName => ({ family: 'answer-link', id });
  const browserOf = (id: string, digest: string): PageEntryName => ({
    family: 'answer-browser',
    id: JSON.stringify([id, digest]),
  });

  async function current(id: string) {
    const entry = await store.read(nameOf(id));
    return entry === undefined ? undefined : parsed(Current, entry.value);
  }

  return {
    async issue(id, { now, opensUntil }) {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const digest = digestOf(id, token);
      const lifeMs = opensUntil - now + ANSWERING_MS;
      await store.put(browserOf(id, digest), '', lifeMs);
      await store.put(nameOf(id), JSON.stringify({ digest, opensUntil }), lifeMs);
      return token;
    },
    async revoke(id) {
      const link = await current(id);
      if (link === undefined) return false;
      // A person who still has the link reads that it was revoked, instead of a request to sign in.
      await store.put(nameOf(id), REVOKED, ACCESS_SECONDS_MAX * 1_000);
      await store.drop(browserOf(id, link.digest));
      return true;
    },
    isIssued: async (id) => (await store.read(nameOf(id))) !== undefined,
    async open(id, token, { browser, now }) {
      const link = TOKEN.test(token) ? await current(id) : undefined;
      if (link === undefined || !equalSecrets(digestOf(id, token), link.digest)) return false;
      const name = browserOf(id, link.digest);
      // Later than that only the browser that opened it in time comes in again.
      if (now >= link.opensUntil && (await store.read(name))?.taken !== true) return false;
      return (await store.take(name, fingerprintOf(browser))) !== undefined;
    },
    async isOpen(id, browser) {
      const link = browser.isNew ? undefined : await current(id);
      if (link === undefined) return false;
      const name = browserOf(id, link.digest);
      if ((await store.read(name))?.taken !== true) return false;
      return (await store.take(name, fingerprintOf(browser))) !== undefined;
    },
  };
}

/** Bound to the question, so that a token opens no other. */
function digestOf(elicitationId: string, token: string): string {
  return sha256(`answer link ${elicitationId} ${token}`);
}
