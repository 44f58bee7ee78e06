/** Stores answer links, so that one browser can use each. The calls that make links are in `link-routes.ts`. */

import { randomBytes } from 'node:crypto';
import { parsed } from '@parley/core/domain/parsed';
import type { PageEntryName, PageStore } from '@parley/shared/ports/page-store';
import { sha256 } from '@parley/shared/records/digest';
import { z } from 'zod';
import { equalSecrets } from '../../accounts/oauth/secret-text.ts';
import { type Browser, fingerprintOf } from '../serving/browser.ts';

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
/** How long the browser that opened a link can take at least for its answer, in ms. */
const ANSWERING_MS = 60 * 60_000;
/** The maximum time during which a link can be opened. */
export const LINK_SECONDS_MAX = 86_400;
/** The maximum time during which a browser has access through a link. */
export const ACCESS_SECONDS_MAX = LINK_SECONDS_MAX + ANSWERING_MS / 1_000;

/** Stored in place of a revoked link. It opens nothing. */
const REVOKED = 'revoked';

const Current = z.object({
  digest: z.string(),
  /** In ms on the Redis clock. */
  opensUntil: z.number(),
});

/** Links with which one browser may answer one question without signing in. A question has at most one valid link. */
export interface AnswerLinks {
  /** Makes a link that can be opened until `opensUntil`, and revokes the previous one. Returns its token of 256 random bits. */
  issue(elicitationId: string, at: { readonly now: number; readonly opensUntil: number }): Promise<string>;
  /** Revokes the link, also for the browser that opened it. Returns false if there was none. */
  revoke(elicitationId: string): Promise<boolean>;
  /**
   * Gives this browser access to the question; no other browser can get it afterwards. Returns false if the token is wrong,
   * revoked or too old, or if another browser has used it. The same browser may repeat the call.
   */
  open(
    elicitationId: string,
    token: string,
    at: { browser: Pick<Browser, 'id'>; now: number },
  ): Promise<boolean>;
  /** True if the question has a link, or had one until recently, so that a browser may get access through it. */
  isIssued(elicitationId: string): Promise<boolean>;
  /** True if this browser has access to the question. */
  isOpen(elicitationId: string, browser: Browser): Promise<boolean>;
}

/** The store contains only digests, so reading it does not give access to a question. */
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
      // This record stays, so that a person who still has the link is told that it was revoked instead of being asked to sign
      // in.
      await store.put(nameOf(id), REVOKED, ACCESS_SECONDS_MAX * 1_000);
      await store.drop(browserOf(id, link.digest));
      return true;
    },
    isIssued: async (id) => (await store.read(nameOf(id))) !== undefined,
    async open(id, token, { browser, now }) {
      const link = TOKEN.test(token) ? await current(id) : undefined;
      if (link === undefined || !equalSecrets(digestOf(id, token), link.digest)) return false;
      const name = browserOf(id, link.digest);
      // After that time, only the browser that opened the link in time has access.
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

/** The digest covers the question, so a token opens no other question. */
function digestOf(elicitationId: string, token: string): string {
  return sha256(`answer link ${elicitationId} ${token}`);
}
