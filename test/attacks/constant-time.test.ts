import { createHmac, timingSafeEqual } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { parseServiceKeys } from '@parley/shared/config/service-keys';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  readNangoWebhook,
  SIGNATURE_HEADER,
} from '../../services/api/src/accounts/connectors/nango-webhook.ts';
import { equalSecrets } from '../../services/api/src/accounts/oauth/secret-text.ts';
import { createAuthenticate } from '../../services/api/src/http/auth.ts';

/**
 * The comparison in constant time is replaced here by one whose verdict the test decides. A secret that is also
 * compared in another way, before or after it, is accepted or refused against that verdict.
 */
vi.mock('node:crypto', async (original) => ({
  ...(await original<typeof import('node:crypto')>()),
  timingSafeEqual: vi.fn(),
}));

const compare = vi.mocked(timingSafeEqual);
const VERDICTS = [true, false];
const KEYS = ['first-key', 'second-key', 'third-key'];
const GUESSES = [...KEYS, 'unknown', 'first-ke', 'first-key-and-more'];

beforeEach(() => void compare.mockReset());

function bearer(token: string): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.rawHeaders.push('Authorization', `Bearer ${token}`);
  return request;
}

describe('S25 secrets are compared in constant time, and in no other way', () => {
  it.each(GUESSES)(
    'the service key %s is compared with every key, as a digest of fixed length',
    async (guess) => {
      const authenticate = createAuthenticate({
        serviceKeys: parseServiceKeys(KEYS.map((key) => `acme:${key}`)).keys,
        verify: undefined,
      });
      compare.mockReturnValue(false);
      await expect(authenticate(bearer(guess))).rejects.toMatchObject({ code: 'unauthenticated' });
      expect(compare).toHaveBeenCalledTimes(KEYS.length);
      compare.mockReturnValue(true);
      await expect(authenticate(bearer(guess))).resolves.toMatchObject({
        caller: { kind: 'service', tenant: 'acme' },
      });
      // The first match does not end the comparing either: the time would tell which key it was.
      expect(compare).toHaveBeenCalledTimes(2 * KEYS.length);
      for (const [one, other] of compare.mock.calls)
        expect([one.byteLength, other.byteLength]).toEqual([32, 32]);
    },
  );

  it.each(VERDICTS)(
    'the secrets of a browser and of a flow are equal when that comparison says %s',
    (verdict) => {
      compare.mockReturnValue(verdict);
      for (const guess of GUESSES) expect(equalSecrets('first-key', guess)).toBe(verdict);
      expect(compare).toHaveBeenCalledTimes(GUESSES.length);
      for (const [one, other] of compare.mock.calls)
        expect([one.byteLength, other.byteLength]).toEqual([32, 32]);
    },
  );

  it.each(VERDICTS)('a webhook is genuine when that comparison of its signature says %s', (verdict) => {
    compare.mockReturnValue(verdict);
    const raw = Buffer.from('{"type":"other"}');
    const right = createHmac('sha256', 'signing-key').update(raw).digest('hex');
    for (const signature of [right, '0'.repeat(64)]) {
      const options = { signingKey: 'signing-key', integration: 'tracker' };
      const { type } = readNangoWebhook(raw, { [SIGNATURE_HEADER]: signature }, options);
      expect(type).toBe(verdict ? 'ignored' : 'refused');
    }
    expect(compare).toHaveBeenCalledTimes(2);
  });
});
