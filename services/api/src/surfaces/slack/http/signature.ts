import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { ParleyError } from '@parley/core/domain/errors';
import type { Claims } from '@parley/shared/ports/elicitations/claims';
import type { VerifySignature } from '../../../http/route.ts';

/** How far the time of a request may differ from now, in either direction. */
const WINDOW_SECONDS = 300;

interface SignatureDeps {
  readonly signingSecret: string;
  readonly claims: Pick<Claims, 'claim'>;
  /** Returns ms since 1970. */
  readonly now: () => number;
}

/**
 * Verifies Slack's signature over the raw body, and the time of the request, and that no pod has accepted the request before.
 * Slack signs each retry anew, so retries are accepted. Throws `unauthenticated`.
 */
export function createVerifier({ signingSecret, claims, now }: SignatureDeps): VerifySignature<true> {
  return async (body, { headers }): Promise<true> => {
    const time = headers['x-slack-request-timestamp'];
    const signature = headers['x-slack-signature'];
    if (Array.isArray(time) || Array.isArray(signature)) throw refused();
    if (signature === undefined || !/^\d{1,12}$/.test(time ?? '')) throw refused();
    if (Math.abs(now() / 1_000 - Number(time)) > WINDOW_SECONDS) throw refused();
    const expected = `v0=${createHmac('sha256', signingSecret).update(`v0:${time}:`).update(body).digest('hex')}`;
    const [given, right] = [Buffer.from(signature), Buffer.from(expected)];
    if (given.length !== right.length || !timingSafeEqual(given, right)) throw refused();
    const own = randomUUID();
    const name = { family: 'slack', tenant: '', name: signature } as const;
    if ((await claims.claim(name, own, 2 * WINDOW_SECONDS * 1_000)) !== own) throw refused();
    return true;
  };
}

function refused(): ParleyError {
  return new ParleyError('unauthenticated', 'This is no new request that Slack has signed.');
}
