import { mintElicitationId, mintRecordId, type Owner } from '@parley/core/domain/ids';
import { type Caller, operatorCaller } from '@parley/shared/domain/caller';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { createMemoryLimits } from '@parley/shared/memory/limits';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAuthenticate } from '../../../services/api/src/http/auth.ts';
import { problemOf } from '../../../services/api/src/http/problem.ts';
import { elicitationRoutes } from '../../../services/api/src/surfaces/rest/elicitations.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { askQuestion, newOwner } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';

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

// The budgets are those of ten seconds, which do not pass within a test.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => vi.useRealTimers());

const REFUSED = { status: 429, code: 'read_quota', retryAfter: expect.stringMatching(/^[1-9]\d*$/) };

it.each([
  ['an elicitation', mintElicitationId, 'rate_limited'],
  ['an approval', (owner: Owner) => mintRecordId('ap', owner), 'rate_limited'],
  ['what cannot exist', () => 'el_none', undefined],
] as const)('the answers to %s have a budget where there can be one', async (_what, mint, code) => {
  const limits = callLimitsOn(createMemoryLimits(), { elicitationAnswers: 2 });
  const user = { kind: 'user', ...newOwner() } as const;
  const id = mint(user);
  const calls = [limits.answer(user, id), limits.call(user, true, id), limits.answer(user, id)];
  const refusals = await Promise.all(calls.map(refusalOf));
  expect(refusals.map((refusal) => refusal?.code)).toEqual([undefined, undefined, code]);
  expect(await refusalOf(limits.answer(newOwner(), id))).toBeUndefined();
});

describe('the reads of a user', () => {
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
  });

  it('of a service key have a budget of bytes, which costs its reads no round trip', async () => {
    const taken: string[] = [];
    const budgets = createMemoryLimits();
    const limits = callLimitsOn(
      {
        ...budgets,
        take: (limit, ...rest) => {
          taken.push(limit);
          return budgets.take(limit, ...rest);
        },
      },
      { serviceReadBytes: 100_000 },
    );
    const key = { kind: 'service', tenant: newOwner().tenant, keyId: 'k' } as const;
    const read = (of: Caller = key) => refusalOf(limits.call(of, false));
    expect([await read(), await read(), await read()]).toEqual([undefined, undefined, undefined]);
    expect(taken).toEqual(['service-calls', 'service-calls', 'service-calls']);
    expect([await limits.sent(key, 90_000), await limits.sent(key, 90_000)]).toEqual([0, 0]);
    expect(await limits.sent(key, 2_000)).toBeGreaterThan(0);
    expect(await read()).toEqual(REFUSED);
    expect(await refusalOf(limits.call(key, true))).toBeUndefined();
    expect(await read({ ...key, keyId: 'other' })).toBeUndefined();
  });

  it('of an operator have a budget of calls and of bytes that is that of one person', async () => {
    const limits = callLimitsOn(createMemoryLimits(), { operatorCalls: 3, userReadBytes: 100_000 });
    const { tenant } = newOwner();
    const of = (name: string) => operatorCaller(tenant, name, ['operate']);
    const codes: unknown[] = [];
    const note = async (call: Promise<void>) => codes.push((await refusalOf(call))?.code);
    await note(limits.call(of('ada'), false));
    await note(limits.call(of('ada'), true));
    await note(limits.opening(of('ada')));
    await note(limits.call(of('ada'), false));
    await note(limits.call(of('bob'), false));
    expect(codes).toEqual([undefined, undefined, undefined, 'rate_limited', undefined]);
    for (const bytes of [90_000, 90_000, 2_000]) await limits.sent(of('bob'), bytes);
    expect(await refusalOf(limits.call(of('bob'), false))).toEqual(REFUSED);
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

  it('are refused before anything is read, as are answers', async () => {
    const owner = newOwner();
    const backend = createMemoryBackend(ROOMY);
    const engine = engineOn(backend);
    const begun: string[] = [];
    const counting = <A extends unknown[], R>(name: string, call: (...given: A) => R) => {
      return (...given: A): R => {
        begun.push(name);
        return call(...given);
      };
    };
    const counted: typeof engine = {
      ...engine,
      list: counting('list', engine.list),
      read: counting('read', engine.read),
      answer: counting('answer', engine.answer),
    };
    const served = await serveSurfaces({
      surfaces: [{ routes: elicitationRoutes({ engine: counted, hasConnectPage: () => false }) }],
      authenticate: createAuthenticate({
        serviceKeys: [],
        verify: async () => ({ ...owner, expiresAtMs: Date.now() + 600_000 }),
      }),
      limits: callLimitsOn(backend.limits, { userReads: 2, userWrites: 2, elicitationAnswers: 3 }),
    });
    onTestFinished(() => served.close());
    const url = `${served.url}/v1/elicitations`;
    const { row } = await askQuestion(engine, owner);
    const headers = { authorization: 'Bearer a.b.c', 'content-type': 'application/json' };
    const statusesOf = async (path: string, request: RequestInit = {}) => {
      const statuses = [];
      for (let call = 0; call < 4; call += 1)
        statuses.push((await fetch(`${url}${path}`, { ...request, headers })).status);
      return statuses;
    };
    const admitted = [200, 200, 429, 429];
    expect(await statusesOf('?conversationId=none')).toEqual(admitted);
    await backend.limits.reset('user-reads', owner);
    expect(await statusesOf(`/${row.id}`)).toEqual(admitted);
    const answer = { method: 'POST', body: '{"action":"decline"}' };
    expect(await statusesOf(`/${row.id}/response`, answer)).toEqual(admitted);
    expect(begun).toEqual(['list', 'list', 'read', 'read', 'answer', 'answer']);
    // Refused calls took nothing from the budget of the answers: one of three is left.
    await backend.limits.reset('user-writes', owner);
    expect(await statusesOf(`/${row.id}/response`, answer)).toEqual([200, 429, 429, 429]);
  });

  it('count for their tenant, too', async () => {
    const limits = callLimitsOn(createMemoryLimits(), { tenantReads: 2 });
    const user = { kind: 'user', ...newOwner() } as const;
    const read = (userId: string) => refusalOf(limits.call({ ...user, userId }, false));
    expect([await read('ada'), await read('bob')]).toEqual([undefined, undefined]);
    expect(await read('cleo')).toEqual(REFUSED);
    expect(await refusalOf(limits.call({ ...user, tenant: `${user.tenant}-other` }, false))).toBeUndefined();
  });
});
