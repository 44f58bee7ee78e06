import { randomUUID } from 'node:crypto';
import type { ParleyError } from '@parley/core/domain/errors';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { BackendSettings } from '@parley/shared/ports/backend';
import { type TenantQuotas, withTenantQuotas } from '@parley/shared/runs/tenant-quotas';
import { describe, expect, it } from 'vitest';
import { ROOMY } from '../../harness/engines/settings.ts';
import { talk } from '../../harness/turns/setup.ts';
import { modelOf, SURE, worldOn } from '../../harness/turns/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const model = modelOf(({ userText, results }) =>
  userText === 'ask' && results.length === 0 ? { calls: [SURE] } : { text: 'Done.' },
);

function limited(settings: Partial<BackendSettings> = {}) {
  const refused: string[] = [];
  const onRefused = (limit: string) => void refused.push(limit);
  return { ...worldOn(model, { onRefused }, createMemoryBackend({ ...ROOMY, ...settings })), refused };
}

const ROOMY_TENANT: TenantQuotas = { turns: 1e6, tokens: 1e9, storedBytes: 1e9 };

describe('a pod', () => {
  it('that runs as many turns as it may begins no more, until one of them ends', async () => {
    const { pod, refused, saying, conversation } = limited();
    const { turns } = pod({ runsMax: 1 });
    await turns.begin(saying('ask'));
    const next = saying('hello', talk());
    await expect(turns.begin(next)).rejects.toMatchObject({ code: 'pod_busy', retryAfterSeconds: 1 });
    expect(refused).toEqual(['pod-turns']);
    expect(await turns.stop(conversation)).toBe(true);
    await waitUntil(() => turns.begin(next), { what: 'a place for the next turn' });
  });

  it('that is full takes no run over; another pod does, and the full one when it has room again', async () => {
    const { pod, saying, conversation, untilOwnedBy } = limited();
    const full = pod({ runsMax: 1, pod: 'full' });
    await full.turns.begin(saying('ask'));
    const leaving = pod({ pod: 'leaving' });
    const run = await leaving.turns.begin(saying('ask', talk()));
    await leaving.turns.close();
    const other = pod({ pod: 'other' });
    await untilOwnedBy(run, 'other');
    expect(await full.turns.stop(conversation)).toBe(true);
    await other.turns.close();
    await untilOwnedBy(run, 'full');
  });

  it('begins only so many turns of one tenant', async () => {
    const { pod, refused, saying, conversation } = limited();
    const { turns } = pod({ tenantRunsMax: 1 });
    const { tenant } = conversation;
    await turns.begin(saying('ask'));
    const same = saying('ask', { ...talk(), tenant });
    await expect(turns.begin(same)).rejects.toMatchObject({ code: 'pod_busy' });
    expect(refused).toEqual(['pod-tenant-turns']);
    await turns.begin(saying('ask', { ...talk(), tenant: `${tenant}-other` }));
  });
});

it.each([
  ['turn_quota', 'user-turns', { turnsMax: 1 }],
  ['token_quota', 'user-tokens', { tokensMax: 1 }],
  ['conversation_quota', 'user-conversations', { conversationsMax: 1 }],
  ['storage_quota', 'user-storage', { storedBytesMax: 300 }],
] as const)(
  'the quotas of a person refuse a turn as %s, with a time to try again',
  async (code, limit, quotas) => {
    const world = limited({ chatQuotas: { ...ROOMY.chatQuotas, ...quotas } });
    const { turns } = world.pod();
    const first = await turns.begin(world.saying(code === 'turn_quota' ? 'ask' : 'hello'));
    if (code !== 'turn_quota') await world.ended(first);
    const next = world.saying('hello', { ...world.conversation, conversationId: 'next' });
    await expect(turns.begin(next)).rejects.toMatchObject({ code, retryAfterSeconds: expect.any(Number) });
    expect(world.refused).toEqual([limit]);
  },
);

it.each([
  ['turn_quota', 'tenant-turns', { turns: 1 }],
  ['token_quota', 'tenant-tokens', { tokens: 2 }],
  ['storage_quota', 'tenant-storage', { storedBytes: 10 }],
] as const)(
  'the quotas of a tenant refuse a turn of any of its people as %s; other tenants go on',
  async (code, limit, quotas) => {
    const { pod, backend, refused, saying, conversation, ended, events } = limited();
    const { tenant } = conversation;
    const runs = withTenantQuotas(backend.runs, backend.limits, { ...ROOMY_TENANT, ...quotas });
    const { turns } = pod({ runs });
    await ended(await turns.begin(saying('hello')));
    await expect(turns.begin(saying('hello', { ...talk(), tenant }))).rejects.toMatchObject({
      code,
      retryAfterSeconds: expect.any(Number),
    });
    expect(refused).toEqual([limit]);
    const elsewhere = await turns.begin(saying('hello', { ...talk(), tenant: `${tenant}-other` }));
    expect((await events(elsewhere))[0]).toMatchObject({ type: 'turn-started' });
  },
);

describe('the day of a tenant', () => {
  const DAY = { turns: 3 };
  const again = { repeatable: { key: 'key', digest: 'hello' } };

  it.each([
    ['that wait for a turn of their conversation', {}, {}, 'turn_running'],
    ['over a quota of their own', { turnsMax: 1 }, { conversationId: 'other' }, 'turn_quota'],
    ['that repeat one', {}, again, undefined],
  ] as const)('is not used up by requests %s, and says so when it is', async (_which, quotas, more, code) => {
    const world = limited({ chatQuotas: { ...ROOMY.chatQuotas, ...quotas } });
    const { pod, backend, saying, conversation, refused } = world;
    const { tenant } = conversation;
    const runs = withTenantQuotas(backend.runs, backend.limits, { ...ROOMY_TENANT, ...DAY });
    const { turns } = pod({ runs });
    const { conversationId = conversation.conversationId, ...repeatable } = {
      conversationId: undefined,
      ...more,
    };
    const asking = { ...saying('ask'), ...repeatable };
    const first = await turns.begin(asking);
    const same = { ...asking, conversation: { ...conversation, conversationId } };
    for (let at = 0; at < 5; at += 1) {
      const begin = turns.begin(same);
      await (code === undefined
        ? expect(begin).resolves.toMatchObject({ streamRequestId: first.streamRequestId })
        : expect(begin).rejects.toMatchObject({ code }));
    }
    const others = () => turns.begin(saying('hello', { ...talk(), tenant, userId: randomUUID() }));
    await others();
    await others();
    const error = await others().catch((refusal: unknown) => refusal);
    expect(error).toMatchObject({
      code: 'turn_quota',
      message: expect.stringMatching(/tenant.* until \d{4}-\d\d-\d\d \d\d:\d\d UTC/),
    });
    expect((error as ParleyError).retryAfterSeconds).toBeGreaterThan(86_000);
    expect(refused.at(-1)).toBe('tenant-turns');
    // A turn that has begun is found again, whatever day it is.
    if (code === undefined)
      await expect(turns.begin(same)).resolves.toMatchObject({ streamRequestId: first.streamRequestId });
  });
});
