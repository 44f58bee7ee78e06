import fc from 'fast-check';
import { jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import { canary, findCanary } from '../../harness/canary.ts';
import { freePort, listenOnFreePort } from '../../harness/free-port.ts';
import { forgedTokens, userToken } from '../../harness/tokens.ts';
import { waitUntil } from '../../harness/wait-until.ts';

describe('waitUntil', () => {
  it('returns the first truthy value, and treats a throw as not yet', async () => {
    let calls = 0;
    const value = await waitUntil(
      () => {
        calls += 1;
        if (calls < 3) throw new Error('not yet');
        return calls === 5 && 'five';
      },
      { what: 'five', everyMs: 1 },
    );
    expect(value).toBe('five');
  });

  it('reports what was awaited and the last value seen', async () => {
    const never = waitUntil(() => ({ rows: 0 }).rows, { what: 'a row', timeoutMs: 20, everyMs: 5 });
    await expect(never).rejects.toThrow(/waiting for a row; last: 0/);
    const failing = waitUntil(() => Promise.reject(new Error('refused')), {
      what: 'x',
      timeoutMs: 20,
      everyMs: 5,
    });
    await expect(failing).rejects.toThrow(/last: Error: refused/);
  });

  it('stops waiting for a probe that never settles', async () => {
    await expect(waitUntil(() => new Promise(() => undefined), { what: 'x', timeoutMs: 20 })).rejects.toThrow(
      'for x',
    );
  });
});

describe('listenOnFreePort', () => {
  it('returns a port that can be used again after a close', async () => {
    const { createServer } = await import('node:net');
    const server = createServer();
    const port = await listenOnFreePort(server);
    expect(await freePort()).not.toBe(port);
    await new Promise((resolve) => server.close(resolve));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    server.close();
  });
});

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
  const verify = async (token: string) => {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ['HS256'],
      typ: 'JWT',
      requiredClaims: ['sub'],
    });
    if (typeof payload.sub !== 'string' || payload.sub === '') throw new Error('no user');
    return payload;
  };

  it('creates a valid token, and an expired one', async () => {
    const good = await verify(await userToken({ ...options, claims: { role: 'x' } }));
    expect(good).toMatchObject({ sub: 'ada', tenant: 'acme', role: 'x' });
    await expect(verify(await userToken({ ...options, expiresInSeconds: -60 }))).rejects.toThrow('exp');
  });

  it.each(forgedTokens(options))('forges a token that a correct server refuses: $name', async ({ token }) => {
    await expect(verify(token)).rejects.toThrow();
  });

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
