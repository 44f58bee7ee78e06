import type { Credential } from '@parley/shared/domain/credential';
import type { FlowRef } from '@parley/shared/ports/vault';
import { describe, expect, test } from 'vitest';
import { unknownFlowId } from '../../../services/api/src/accounts/flow-id.ts';
import { conclude, endFlow } from '../../../services/api/src/accounts/flows/ending.ts';
import { sweepFlows } from '../../../services/api/src/accounts/flows/sweep.ts';
import { createTestBrowser, SAYS } from '../../harness/pages/browser.ts';
import { ADA, type World } from '../../harness/pages/setup.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { pagesSuite } from './suite.ts';

const { redis, world } = pagesSuite();

const REF = { ...ADA, toolId: 'issues', connectorId: 'tracker' };
const SERVICE = { kind: 'service', tenant: ADA.tenant } as const;
const OWNER = { kind: 'user', ...ADA } as const;
const tokens = (accessToken: string): Credential => ({ kind: 'oauth2', accessToken, tokenType: 'Bearer' });
const HOUR_MS = 3_600_000;

/** A question whose credential is staged, and a pod that is no more. */
async function halfDone(more: Parameters<World['ask']>[0] = {}) {
  const here = await world();
  const { id } = await here.ask(more);
  const flow = { ...REF, flowId: id };
  await here.vault.stage(flow, tokens('staged'), HOUR_MS);
  return { here, id, flow };
}

async function heldToken({ held }: World): Promise<string | undefined> {
  const credential = (await held())?.credential.reveal();
  return credential?.kind === 'oauth2' ? credential.accessToken : undefined;
}

/** Writes a credential, later than what is staged by the store's clock. */
async function savedAfter({ vault, held }: World, accessToken: string): Promise<void> {
  const staged: number[] = [];
  for await (const { stagedAt } of vault.staleFlows(0)) staged.push(stagedAt);
  const isLater = async () => {
    await vault.save(REF, tokens(accessToken));
    return ((await held())?.savedAt ?? 0) > Math.max(...staged);
  };
  await waitUntil(isLater, { what: 'the clock to go on' });
}

/** Stages a credential, later than what is held by the store's clock. */
async function stagedAfter({ vault, held }: World, flow: FlowRef, accessToken: string): Promise<void> {
  const { savedAt = 0 } = (await held()) ?? {};
  const isLater = async () => {
    await vault.stage(flow, tokens(accessToken), HOUR_MS);
    for await (const { stagedAt } of vault.staleFlows(0)) if (stagedAt > savedAt) return true;
    return false;
  };
  await waitUntil(isLater, { what: 'the clock to go on' });
}

describe('a pod that dies on the way to a usable credential', () => {
  test('after completing: a sweep makes the credential usable, over what was connected before', async () => {
    const { here, id } = await halfDone();
    await here.vault.save(REF, tokens('old'));
    const flow = { ...REF, flowId: id };
    await stagedAfter(here, flow, 'new');
    await here.engine.complete({ caller: SERVICE, id, surface: 'connect' });
    await here.sweep();
    expect(await heldToken(here)).toBe('new');
    expect(await here.staged()).toBe(0);
  });

  test('while the question is withdrawn: the credential is kept', async () => {
    const { here, id } = await halfDone();
    await here.engine.withdraw({ caller: SERVICE, id, reason: 'run_stopped' });
    await here.sweep();
    expect(await heldToken(here)).toBe('staged');
    expect(await here.status(id)).toBe('withdrawn');
    expect(here.events).toMatchObject([{ type: 'completed', kept: true }]);
  });

  test('while the user is erased: it is dropped and revoked', async () => {
    const { here, id, flow } = await halfDone();
    await here.engine.withdraw({ caller: SERVICE, id, reason: 'user_erased' });
    expect(await conclude(here.deps, flow, id)).toEqual({ type: 'dropped', status: 'withdrawn' });
    expect(await heldToken(here)).toBeUndefined();
    expect(await here.staged()).toBe(0);
    expect(here.tracker.revocations()).toBe(1);
  });

  test('while the question expires: the credential is kept', async () => {
    const { here, id } = await halfDone({ timeoutSeconds: 1 });
    await here.expired(id);
    await here.sweep();
    expect(await heldToken(here)).toBe('staged');
    expect(await here.status(id)).toBe('expired');
  });

  test.each(['decline', 'cancel'] as const)(
    'while the user answers %s: it is dropped and revoked',
    async (action) => {
      const { here, id } = await halfDone();
      await here.engine.answer({ caller: OWNER, id, response: { action }, surface: 'chat' });
      await here.sweep();
      expect(await heldToken(here)).toBeUndefined();
      expect(await here.staged()).toBe(0);
      expect(here.tracker.revocations()).toBe(1);
    },
  );

  test('after completing, while the user connects by another question: the newer one stays', async () => {
    const { here, id } = await halfDone();
    await here.engine.complete({ caller: SERVICE, id, surface: 'connect' });
    await savedAfter(here, 'newer');
    await here.sweep();
    expect(await heldToken(here)).toBe('newer');
    expect(await here.staged()).toBe(0);
    expect(here.tracker.revocations()).toBe(0);
  });

  test('after staging, while the previous credential is refreshed: the question is completed, and the new credential is used', async () => {
    const { here, id } = await halfDone();
    await savedAfter(here, 'old, refreshed');
    expect(await here.sweep()).toBe(1);
    expect(await here.status(id)).toBe('accepted');
    expect(await heldToken(here)).toBe('staged');
    expect(await here.staged()).toBe(0);
  });

  test('and whose question was deleted by retention: it is dropped and revoked', async () => {
    const { here, id } = await halfDone();
    const [name] = (await redisCommand(redis().port, 'KEYS', `*elicitation:${id}`)) as string[];
    await redisCommand(redis().port, 'DEL', name ?? '');
    await here.sweep();
    expect(await heldToken(here)).toBeUndefined();
    expect(here.tracker.revocations()).toBe(1);
    expect(await here.staged()).toBe(0);
  });

  test('has its grace period before a sweep takes over', async () => {
    const { here, id } = await halfDone();
    expect(await here.sweep(HOUR_MS)).toBe(0);
    expect(await here.status(id)).toBe('pending');
    expect(await here.staged()).toBe(1);
  });

  test('at any step of a real flow loses nothing, because a sweep finds it', async () => {
    for (const dies of ['stage', 'complete'] as const) {
      await redisCommand(redis().port, 'FLUSHALL');
      const here = await world();
      const { id } = await here.ask();
      const gone = new Error('the pod is gone');
      const { deps } = here;
      const dead: typeof deps = {
        ...deps,
        vault: { ...deps.vault, promote: () => Promise.reject(gone) },
        engine: dies === 'stage' ? { ...deps.engine, complete: () => Promise.reject(gone) } : deps.engine,
      };
      await expect(endFlow(dead, { ...REF, flowId: id }, id, tokens(dies))).rejects.toBe(gone);
      expect(await heldToken(here)).toBeUndefined();
      await here.sweep();
      expect(await heldToken(here)).toBe(dies);
      expect(await here.status(id)).toBe('accepted');
    }
  });
});

describe('sweeps', () => {
  test('at the same time end each flow once', async () => {
    const { here, id } = await halfDone();
    await Promise.all([here.sweep(), here.sweep(), here.sweep()]);
    expect(await heldToken(here)).toBe('staged');
    expect(await here.status(id)).toBe('accepted');
    expect(await here.staged()).toBe(0);
  });

  test('never promote a credential that was not bound, whatever the outcome of the question', async () => {
    const here = await world();
    const { id } = await here.ask();
    await here.vault.stage({ ...REF, flowId: unknownFlowId(id) }, tokens('of a stranger'), HOUR_MS);
    await here.engine.complete({ caller: SERVICE, id, surface: 'connect' });
    expect(await here.sweep()).toBe(0);
    expect(await here.sweep(0, 0)).toBe(1);
    expect(await heldToken(here)).toBeUndefined();
    expect(here.tracker.revocations()).toBe(1);
    expect(await here.staged()).toBe(0);
  });

  test('stop between two flows when aborted', async () => {
    const { here, id } = await halfDone();
    const other = await here.ask({ owner: { ...ADA, userId: 'bob' } });
    await here.vault.stage({ ...REF, userId: 'bob', flowId: other.id }, tokens('second'), HOUR_MS);
    const stop = new AbortController();
    here.onNext(() => stop.abort());
    expect(await here.sweep(0, 0, stop.signal)).toBe(1);
    expect([await here.status(id), await here.status(other.id)].sort()).toEqual(['accepted', 'pending']);
    expect(await here.sweep(0, 0, stop.signal)).toBe(0);
    expect(await here.sweep()).toBe(1);
  });

  test('continue after a flow that cannot be ended', async () => {
    const { here, id } = await halfDone();
    const other = await here.ask({ owner: { ...ADA, userId: 'bob' } });
    await here.vault.stage({ ...REF, userId: 'bob', flowId: other.id }, tokens('second'), HOUR_MS);
    const faults: unknown[] = [];
    const broken = new Error('broken');
    const deps = {
      ...here.deps,
      vault: here.vault,
      engine: {
        ...here.engine,
        complete: (input: Parameters<World['engine']['complete']>[0]) =>
          input.id === id ? Promise.reject(broken) : here.engine.complete(input),
      },
      onFault: (error: unknown) => void faults.push(error),
    };
    expect(await sweepFlows(deps, 0)).toBe(1);
    expect(faults).toEqual([broken]);
    expect(await here.status(other.id)).toBe('accepted');
  });
});

test('a pending revocation survives a lost reply', async () => {
  const { here, id, flow } = await halfDone();
  await here.engine.answer({ caller: OWNER, id, response: { action: 'decline' }, surface: 'chat' });
  const lost = new Error('the reply was lost');
  const vault = {
    ...here.vault,
    drop: (ref: typeof flow) => here.vault.drop(ref).then(() => Promise.reject(lost)),
  };
  await expect(conclude({ ...here.deps, vault }, flow, id)).rejects.toBe(lost);
  await here.sweep();
  expect(here.tracker.revocations()).toBe(1);
  expect(await here.staged()).toBe(0);
});

test('an unavailable store fails a callback without ending the flow, and the user can try again', async () => {
  const here = await world();
  const { path, id } = await here.ask();
  const browser = createTestBrowser(here);
  const consent = await browser.enter(path, 'ada');
  redis().pause();
  const away = await browser.open(path).finally(() => redis().resume());
  expect([away.status, away.forms.size]).toEqual([503, 0]);
  expect(away.html).not.toContain('Redis');
  // A client that was cut off reconnects in a moment; its next call may reach either pod.
  await here.healthy();
  const done = await browser.connect(consent);
  expect(done.heading).toBe(SAYS.connected());
  expect(await here.status(id)).toBe('accepted');
});
