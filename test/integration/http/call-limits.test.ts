import type { Owner } from '@parley/shared/domain/ids';
import type { Caller } from '@parley/shared/elicitations/caller';
import { createMemoryLimits } from '@parley/shared/memory/limits';
import { describe, expect, it } from 'vitest';
import { problemOf } from '../../../services/api/src/http/problem.ts';
import { newOwner } from '../../contract/support/questions.ts';
import { callLimitsOn } from './call-limits.ts';

/** How a call of this user is refused; nothing where it is admitted. */
async function refusalOf(call: Promise<void>) {
  try {
    await call;
  } catch (error) {
    const { status, headers, body } = problemOf(error);
    return { status, code: body.code, retryAfter: headers['retry-after'] };
  }
  return undefined;
}

const REFUSED = { status: 429, code: 'read_quota', retryAfter: expect.stringMatching(/^[1-9]\d*$/) };

describe('the reads of a user', () => {
  it('have a budget of their own', async () => {
    const refused: string[] = [];
    const settings = { userReads: 3 };
    const limits = callLimitsOn(createMemoryLimits(), settings, {
      onRefused: (limit) => refused.push(limit),
    });
    const user = { kind: 'user', ...newOwner() } as const;
    const read = () => refusalOf(limits.call(user, false));
    expect([await read(), await read(), await read()]).toEqual([undefined, undefined, undefined]);
    expect(await read()).toEqual(REFUSED);
    expect(refused).toEqual(['user-reads']);
    expect(await refusalOf(limits.call(user, true))).toBeUndefined();
    expect(await refusalOf(limits.call({ ...user, userId: 'other' }, false))).toBeUndefined();
  });

  it('have a budget of bytes: the reply that exceeds it is sent, the next read is refused', async () => {
    const refused: string[] = [];
    const limits = callLimitsOn(
      createMemoryLimits(),
      { userReadBytes: 100_000 },
      { onRefused: (limit) => refused.push(limit) },
    );
    const user = { kind: 'user', ...newOwner() } as const;
    const read = () => refusalOf(limits.call(user, false));
    expect([await read(), await limits.sent(user, 90_000)]).toEqual([undefined, 0]);
    expect([await read(), await limits.sent(user, 90_000)]).toEqual([undefined, 0]);
    expect(await read()).toEqual(REFUSED);
    expect(refused).toEqual(['user-read-bytes']);
    expect(await limits.sent(user, 2_000)).toBeGreaterThan(0);
    expect(await refusalOf(limits.call(user, true))).toBeUndefined();
    expect(await refusalOf(limits.call({ ...user, userId: 'other' }, false))).toBeUndefined();
    expect(await limits.sent({ kind: 'service', tenant: user.tenant }, 1e6)).toBe(0);
  });

  it.each([
    ['a user', 'user-write-bytes', (owner: Owner): Caller => ({ kind: 'user', ...owner })],
    [
      'a service key',
      'service-write-bytes',
      ({ tenant }: Owner): Caller => ({ kind: 'service', tenant, keyId: 'k' }),
    ],
  ] as const)(
    'bound the bytes of large bodies of %s, and leave small ones free',
    async (_who, limit, callerOf) => {
      const refused: string[] = [];
      const limits = callLimitsOn(
        createMemoryLimits(),
        { userWriteBytes: 500_000, serviceWriteBytes: 500_000 },
        { onRefused: (name) => refused.push(name) },
      );
      const owner = newOwner();
      const send = (bytes: number, of = owner) => refusalOf(limits.body(callerOf(of), bytes));
      for (let small = 0; small < 100; small += 1) expect(await send(16 * 1024)).toBeUndefined();
      expect([await send(250_000), await send(250_000)]).toEqual([undefined, undefined]);
      expect(await send(250_000)).toMatchObject({ code: 'rate_limited' });
      expect(refused).toEqual([limit]);
      expect(await send(250_000, newOwner())).toBeUndefined();
    },
  );

  it('count for their tenant, too', async () => {
    const limits = callLimitsOn(createMemoryLimits(), { tenantReads: 2 });
    const user = { kind: 'user', ...newOwner() } as const;
    const read = (userId: string) => refusalOf(limits.call({ ...user, userId }, false));
    expect([await read('ada'), await read('bob')]).toEqual([undefined, undefined]);
    expect(await read('cleo')).toEqual(REFUSED);
    expect(await refusalOf(limits.call({ ...user, tenant: `${user.tenant}-other` }, false))).toBeUndefined();
  });
});
