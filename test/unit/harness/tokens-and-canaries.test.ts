import fc from 'fast-check';
import { jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { canary, findCanary } from '../../harness/canary.ts';
import { forgedTokens } from '../../harness/tokens.ts';

describe('canary', () => {
  it('is found in every form, wherever it stands', () => {
    const marker = canary('answer');
    const around = fc.string({ unit: 'binary', maxLength: 20 });
    const wrap = fc.constantFrom(
      (text: string) => text,
      (text: string) => JSON.stringify({ text }),
      (text: string) => encodeURIComponent(text.toWellFormed()),
      (text: string) => text.toUpperCase(),
      (text: string) => Buffer.from(text).toString('hex'),
      (text: string) => Buffer.from(text).toString('base64'),
      (text: string) => `token=${Buffer.from(text).toString('base64url')}.x`,
    );
    fc.assert(
      fc.property(around, around, wrap, (before, after, write) => {
        expect(
          findCanary(marker, ['clean', write(before + marker + after)]).map(({ index }) => index),
        ).toContain(1);
      }),
    );
    expect(findCanary(marker, ['clean', canary('answer')])).toEqual([]);
  });
});

describe('tokens', () => {
  const options = { secret: 'a-secret-of-at-least-32-characters!!', userId: 'ada', tenant: 'acme' };
  const key = new TextEncoder().encode(options.secret);

  it('signs correctly where the fault is elsewhere', async () => {
    const accepted: string[] = [];
    for (const { name, token } of forgedTokens(options)) {
      await jwtVerify(token, key, { currentDate: new Date(0) }).then(
        () => accepted.push(name),
        () => undefined,
      );
    }
    expect(accepted).toEqual(
      expect.arrayContaining(['missing sub', 'empty sub', 'typ of another kind of token']),
    );
    expect(accepted).not.toContain('wrong secret');
  });
});
