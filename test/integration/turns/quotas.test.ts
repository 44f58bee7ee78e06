import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { BackendSettings } from '@parley/shared/ports/backend';
import { type TenantQuotas, withTenantQuotas } from '@parley/shared/runs/tenant-quotas';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { podOn, readEvents, saying, type TestPod, talk } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let model: ScriptedModel;
beforeAll(async () => {
  const ask = { name: 'elicit', arguments: { kind: 'confirmation', message: 'Sure?' } };
  model = await startScriptedModel({
    script: [
      ({ userText, results }) =>
        userText === 'ask' && results.length === 0 ? { calls: [ask] } : { text: 'Done.' },
    ],
  });
});
afterAll(() => model.stop());

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

function world(settings: Partial<BackendSettings> = {}) {
  const backend = createMemoryBackend({ ...ROOMY, ...settings });
  const refused: string[] = [];
  const pod = (options: TestPod = {}) => {
    const made = podOn(backend, model, { onRefused: (limit) => refused.push(limit), ...options });
    closing.push(() => made.turns.close());
    return made;
  };
  return { backend, pod, refused };
}

const ROOMY_TENANT: TenantQuotas = { turns: 1e6, tokens: 1e9, storedBytes: 1e9 };

describe('a pod', () => {
  it('that runs as many turns as it may begins no more, until one of them ends', async () => {
    const { pod, refused } = world();
    const { turns } = pod({ runsMax: 1 });
    const first = talk();
    await turns.begin(saying(first, 'ask'));
    const next = saying(talk(), 'hello');
    await expect(turns.begin(next)).rejects.toMatchObject({ code: 'pod_busy', retryAfterSeconds: 1 });
    expect(refused).toEqual(['pod-turns']);
    expect(await turns.stop(first)).toBe(true);
    await waitUntil(() => turns.begin(next), { what: 'a place for the next turn' });
  });

  it('that is full takes no run over; another pod does, and the full one when it has room again', async () => {
    const { backend, pod } = world();
    const full = pod({ runsMax: 1, pod: 'full' });
    const held = talk();
    await full.turns.begin(saying(held, 'ask'));
    const ownerOf = async (run: Parameters<typeof backend.runs.standing>[0]) =>
      (await backend.runs.standing(run))?.owner ?? '';
    const leaving = pod({ pod: 'leaving' });
    const run = await leaving.turns.begin(saying(talk(), 'ask'));
    await leaving.turns.close();
    const other = pod({ pod: 'other' });
    await waitUntil(async () => (await ownerOf(run)).startsWith('other/'), {
      what: 'the other pod to take it',
    });
    expect(await full.turns.stop(held)).toBe(true);
    await other.turns.close();
    await waitUntil(async () => (await ownerOf(run)).startsWith('full/'), {
      what: 'the free pod to take it',
    });
  });

  it('begins only so many turns of one tenant', async () => {
    const { pod, refused } = world();
    const { turns } = pod({ tenantRunsMax: 1 });
    const one = talk();
    await turns.begin(saying(one, 'ask'));
    const same = { ...talk(), tenant: one.tenant };
    await expect(turns.begin(saying(same, 'ask'))).rejects.toMatchObject({ code: 'pod_busy' });
    expect(refused).toEqual(['pod-tenant-turns']);
    await turns.begin(saying({ ...talk(), tenant: `${one.tenant}-other` }, 'ask'));
  });
});

describe('the quotas of a person', () => {
  it.each([
    ['turn_quota', 'user-turns', { turnsMax: 1 }],
    ['token_quota', 'user-tokens', { tokensMax: 1 }],
    ['conversation_quota', 'user-conversations', { conversationsMax: 1 }],
    ['storage_quota', 'user-storage', { storedBytesMax: 300 }],
  ] as const)('refuse a turn as %s, with a time to try again', async (code, limit, quotas) => {
    const { backend, pod, refused } = world({ chatQuotas: { ...ROOMY.chatQuotas, ...quotas } });
    const { turns } = pod();
    const conversation = talk('first');
    const first = await turns.begin(saying(conversation, code === 'turn_quota' ? 'ask' : 'hello'));
    if (code !== 'turn_quota')
      await waitUntil(async () => (await backend.runs.standing(first))?.status === 'finished', {
        what: 'the end of the first turn',
      });
    await expect(
      turns.begin(saying({ ...conversation, conversationId: 'next' }, 'hello')),
    ).rejects.toMatchObject({ code, retryAfterSeconds: expect.any(Number) });
    expect(refused).toEqual([limit]);
  });
});

describe('the quotas of a tenant', () => {
  it.each([
    ['turn_quota', 'tenant-turns', { turns: 1 }],
    ['token_quota', 'tenant-tokens', { tokens: 2 }],
    ['storage_quota', 'tenant-storage', { storedBytes: 10 }],
  ] as const)(
    'refuse a turn of any of its people as %s; other tenants go on',
    async (code, limit, quotas) => {
      const { backend, pod, refused } = world();
      const runs = withTenantQuotas(backend.runs, backend.limits, { ...ROOMY_TENANT, ...quotas });
      const { turns } = pod({ runs });
      const conversation = talk();
      const first = await turns.begin(saying(conversation, 'hello'));
      await waitUntil(async () => (await backend.runs.standing(first))?.status === 'finished', {
        what: 'the end of the first turn',
      });
      const colleague = { ...talk(), tenant: conversation.tenant };
      await expect(turns.begin(saying(colleague, 'hello'))).rejects.toMatchObject({
        code,
        retryAfterSeconds: expect.any(Number),
      });
      expect(refused).toEqual([limit]);
      const elsewhere = await turns.begin(
        saying({ ...talk(), tenant: `${conversation.tenant}-other` }, 'hello'),
      );
      expect((await readEvents(backend, elsewhere))[0]).toMatchObject({ type: 'turn-started' });
    },
  );
});
