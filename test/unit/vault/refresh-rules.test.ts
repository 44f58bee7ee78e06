import type { OAuthCredential } from '@parley/shared/domain/credential';
import { judge, mergeRefreshed } from '@parley/shared/vault/refresh-rules';
import { createSecret } from '@parley/shared/vault/secret';
import type { OpenedCredential } from '@parley/shared/vault/vault';
import { describe, expect, it } from 'vitest';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = 1_800_000_000_000;
const TOKENS: OAuthCredential = {
  kind: 'oauth2',
  accessToken: 'a',
  refreshToken: 'r',
  tokenType: 'Bearer',
  expiresAt: NOW,
};

/** Tokens that end `leftMs` from now and were saved `ageMs` ago. */
function held(leftMs: number, ageMs: number, more: Partial<OAuthCredential> = {}): OpenedCredential {
  return {
    credential: createSecret({ ...TOKENS, expiresAt: NOW + leftMs, ...more }),
    version: 7,
    state: 'usable',
    savedAt: NOW - ageMs,
    now: NOW,
  };
}

function verdict(record: OpenedCredential, rejected?: number, isObtained?: boolean): string {
  const found = judge({ opened: record, rejected, skewMs: MINUTE, ...(isObtained && { isObtained }) });
  return 'valid' in found ? `${found.next}, ${found.valid ? 'valid' : 'not valid'}` : found.next;
}

describe('tokens with a refresh token', () => {
  it.each([
    ['far from their end', held(HOUR, 0), 'use'],
    ['just before the skew', held(MINUTE + 1, HOUR), 'use'],
    ['within the skew', held(MINUTE, HOUR), 'refresh, valid'],
    ['at their end', held(0, HOUR), 'refresh, not valid'],
    ['of a minute, in the first half', held(31_000, 29_000), 'use'],
    ['of a minute, in the second half', held(29_000, 31_000), 'refresh, valid'],
    ['that ended before they were saved', held(-HOUR, 0), 'refresh, not valid'],
  ])('%s', (_title, record, expected) => {
    expect(verdict(record)).toBe(expected);
  });

  it('that a provider refused are refreshed whatever their expiry, in that version only', () => {
    expect(verdict(held(HOUR, 0), 7)).toBe('refresh, not valid');
    expect(verdict(held(HOUR, 0), 6)).toBe('use');
  });

  it('that are known to be refused are not refreshed', () => {
    expect(verdict({ ...held(-HOUR, HOUR), state: 'reconnect_required' })).toBe('reconnect');
    expect(verdict({ ...held(HOUR, HOUR), state: 'reconnect_required' })).toBe('reconnect');
  });
});

describe('tokens without a refresh token', () => {
  const { refreshToken: _, ...bare } = TOKENS;
  const ending = (leftMs: number): OpenedCredential => ({
    ...held(0, HOUR),
    credential: createSecret({ ...bare, expiresAt: NOW + leftMs }),
  });

  it('are used until they expire', () => {
    expect(verdict(ending(1))).toBe('use');
    expect(verdict(ending(0))).toBe('reconnect');
    expect(verdict(ending(HOUR), 7)).toBe('reconnect');
  });
});

it.each([
  ['far from their end', held(HOUR, 0), undefined, 'use'],
  [
    'within the skew, without a refresh token',
    held(MINUTE, HOUR, { refreshToken: undefined }),
    undefined,
    'obtain, valid',
  ],
  ['that have ended', held(0, HOUR), undefined, 'obtain, not valid'],
  ['that the server refused', held(HOUR, 0), 7, 'obtain, not valid'],
  [
    'that are known to be refused',
    { ...held(HOUR, 0), state: 'reconnect_required' as const },
    undefined,
    'obtain, not valid',
  ],
])('tokens that need no person, %s', (_title, opened, rejected, expected) => {
  expect(verdict(opened, rejected, true)).toBe(expected);
});

describe('a refresh result', () => {
  it('keeps fields that the server omits, and uses those that it returns', () => {
    const before = { ...TOKENS, scope: 'read' };
    const after: OAuthCredential = { kind: 'oauth2', accessToken: 'new', tokenType: 'Bearer' };
    expect(mergeRefreshed(before, after)).toEqual({ ...after, refreshToken: 'r', scope: 'read' });
    const full = { ...after, refreshToken: 'new r', scope: 'write', expiresAt: 1 };
    expect(mergeRefreshed(before, full)).toEqual(full);
  });
});
