/**
 * Identifies the caller of a request by its bearer token. Verifying user tokens is in `token.ts`, what a caller may do is
 * decided by the routes.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isParleyError } from '@parley/core/domain/errors';
import { faultOfUserId } from '@parley/core/domain/text';
import type { ServiceKey } from '@parley/shared/config/service-keys';
import type { Caller } from '@parley/shared/domain/caller';
import { LRUCache } from 'lru-cache';
import { NEITHER, type TokenVerifier, unauthenticated } from './token.ts';

/** A caller whose token was verified. */
export interface VerifiedCaller {
  readonly caller: Caller;
  /** The OAuth client that obtained a user's token, if the token names it. */
  readonly clientId?: string | undefined;
  /** When the token expires, on this pod's clock; Infinity for a service key without expiry. */
  readonly expiresAtMs: number;
}

/** Identifies the caller by the bearer token alone. Throws `unauthenticated`. */
export type Authenticate = (req: IncomingMessage) => Promise<VerifiedCaller>;

interface AuthOptions {
  readonly serviceKeys: readonly ServiceKey[];
  /** Verifies user tokens; undefined if none are configured. */
  readonly verify: TokenVerifier | undefined;
  /** Called with the reason for a refusal, in words that contain nothing the caller sent. */
  readonly onRefused?: (reason: string) => void;
}

const TOKEN_LENGTH_MAX = 8 * 1024;
// 18 bits of a hash: enough to distinguish the few keys of a tenant, too few to confirm a guess.
const KEY_ID_LENGTH = 3;
const CACHED_TOKENS_MAX = 10_000;
// The longest time for which a verified token is trusted before it is verified again.
const CACHED_MS_MAX = 60_000;

/** Compares service keys by hashes in constant time. Every other token is verified as a user token. */
export function createAuthenticate({ serviceKeys, verify, onRefused }: AuthOptions): Authenticate {
  const services = serviceKeys.map(
    ({ secret, tenant, scopes, name, expiresAtMs = Number.POSITIVE_INFINITY }) => {
      const hash = sha256(secret);
      const keyId = name ?? hash.toString('base64url').slice(0, KEY_ID_LENGTH);
      const caller = {
        kind: 'service',
        tenant,
        keyId,
        ...(name !== undefined && { keyName: name }),
        scopes,
      } as const;
      return { hash, keyId, verified: { caller, expiresAtMs } };
    },
  );
  const verified = new LRUCache<string, VerifiedCaller>({ max: CACHED_TOKENS_MAX, ttl: CACHED_MS_MAX });

  async function callerOf(req: IncomingMessage): Promise<VerifiedCaller> {
    const token = bearerToken(req);
    const hash = sha256(token);
    const service = services.filter((candidate) => timingSafeEqual(candidate.hash, hash)).at(0);
    if (service !== undefined) {
      if (Date.now() >= service.verified.expiresAtMs)
        throw unauthenticated(`the service key ${service.keyId} has expired`);
      return service.verified;
    }
    const key = hash.toString('base64');
    const known = verified.get(key);
    if (known !== undefined) return known;
    if (verify === undefined) throw unauthenticated(NEITHER);
    const { tenant, userId, expiresAtMs, clientId } = await verify(token);
    if (faultOfUserId(userId) !== undefined)
      throw unauthenticated('the token names a user whose id cannot be one');
    const caller: VerifiedCaller = { caller: { kind: 'user', tenant, userId }, clientId, expiresAtMs };
    const ttl = Math.min(CACHED_MS_MAX, expiresAtMs - Date.now());
    if (ttl > 0) verified.set(key, caller, { ttl });
    return caller;
  }

  return async (req) => {
    try {
      return await callerOf(req);
    } catch (error) {
      if (isParleyError(error, 'unauthenticated') && error.cause instanceof Error)
        onRefused?.(error.cause.message);
      throw error;
    }
  };
}

function bearerToken(req: IncomingMessage): string {
  let header: string | undefined;
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    if (req.rawHeaders[index]?.toLowerCase() !== 'authorization') continue;
    // With two headers, a proxy and Parley could each identify a different caller.
    if (header !== undefined) throw unauthenticated('the header Authorization was sent twice');
    header = req.rawHeaders[index + 1];
  }
  // No reason is given, because many clients first call without a token.
  if (header === undefined) throw unauthenticated();
  const token = /^Bearer +([\x21-\x7e]+)$/i.exec(header)?.[1];
  if (token === undefined || token.length > TOKEN_LENGTH_MAX)
    throw unauthenticated('the header Authorization holds no bearer token of at most 8 kB');
  return token;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
