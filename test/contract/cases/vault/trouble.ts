import { ParleyError } from '@parley/core/domain/errors';
import {
  createRefresher,
  InvalidGrantError,
  type RefreshCall,
  type RefreshDeps,
} from '@parley/shared/vault/refresh';
import { describe, expect, it } from 'vitest';
import { createGate } from '../../../harness/vault/gate.ts';
import { endedTokens, newRef, type VaultPods } from '../../../harness/vault/stores.ts';
import { waitUntil } from '../../../harness/wait-until.ts';
import { setUpRefreshes, shown } from './refreshing.ts';

const HOUR_MS = 3_600_000;
const outage: RefreshCall = async () => {
  throw new Error('connect ECONNREFUSED');
};

/** Refreshes that do not go well: dead pods, dead grants, servers that are unavailable. */
export function failingRefreshContract(pods: () => VaultPods): void {
  const setUp = (more: Pick<RefreshDeps, 'settings' | 'onRefresh'> = {}) => setUpRefreshes(pods(), more);

  describe('a pod that dies while it refreshes', () => {
    it('is replaced by another pod once its lease has ended', async () => {
      const { vault, ref, server, fresh } = setUp();
      const [, store] = pods().stores;
      await vault.save(ref, endedTokens());
      expect(await store.lease(ref, 'a pod that is dead', 1_000)).toBe(true);
      const results = await Promise.all([
        fresh[0](ref, server.refresh),
        fresh[1](ref, server.refresh),
        fresh[2](ref, server.refresh),
      ]);
      expect(results.map(shown)).toEqual(['access 1', 'access 1', 'access 1']);
      expect([server.calls, server.revoked]).toEqual([1, false]);
    });

    it('after the server has issued new tokens loses the grant, once', async () => {
      const { vault, ref, server, fresh } = setUp();
      const version = await vault.save(ref, endedTokens());
      await server.refresh(endedTokens(), new AbortController().signal);
      expect(await fresh[0](ref, server.refresh)).toEqual({ status: 'reconnect_required', version });
      expect(server.calls).toBe(2);
      for (const each of fresh) expect(shown(await each(ref, server.refresh))).toBe('reconnect_required');
      expect(server.calls).toBe(2);
      expect((await vault.read(ref))?.state).toBe('reconnect_required');
    });
  });

  describe('a lease', () => {
    it('belongs to its holder until the holder releases it, and no other process can release it', async () => {
      const [one, other] = pods().stores;
      const ref = newRef();
      const got = await Promise.all(
        Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? one : other).lease(ref, `pod ${at}`, HOUR_MS)),
      );
      expect(got.filter(Boolean)).toHaveLength(1);
      const holder = `pod ${got.indexOf(true)}`;
      await other.release(ref, 'a stranger');
      expect(await other.lease(ref, 'a stranger', HOUR_MS)).toBe(false);
      expect(await other.lease(ref, holder, HOUR_MS)).toBe(true);
      await one.release(ref, holder);
      expect(await other.lease({ ...ref, toolId: 'other' }, 'a stranger', HOUR_MS)).toBe(true);
      expect(await other.lease(ref, 'a stranger', HOUR_MS)).toBe(true);
    });
  });

  describe('a call to the authorization server that does not end', () => {
    it('does not keep callers waiting, is aborted, and its late result is saved', async () => {
      const { vault, ref, server, one } = setUp({ settings: { callMs: 50 } });
      const gate = createGate();
      const signals: AbortSignal[] = [];
      await vault.save(ref, endedTokens());
      const result = await one(ref, async (tokens, signal) => {
        signals.push(signal);
        await gate.opened;
        return server.refresh(tokens, signal);
      });
      expect(shown(result)).toBe('unavailable');
      expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      gate.open();
      await waitUntil(async () => shown(await one(ref, server.refresh)) === 'access 1', {
        what: 'the late tokens',
      });
      expect([server.calls, server.revoked]).toEqual([1, false]);
    });

    it('is superseded by another pod, whose tokens stay', async () => {
      const outcomes: string[] = [];
      const {
        vault,
        ref,
        server,
        fresh: [slow, next],
      } = setUp({
        settings: { callMs: 50, leaseMs: 200 },
        onRefresh: (outcome) => outcomes.push(outcome),
      });
      const gate = createGate();
      await vault.save(ref, endedTokens());
      const late = async () => {
        await gate.opened;
        return { ...endedTokens(), accessToken: 'late' };
      };
      expect(shown(await slow(ref, late))).toBe('unavailable');
      await waitUntil(async () => shown(await next(ref, server.refresh)) === 'access 1', {
        what: 'the other pod to refresh',
      });
      gate.open();
      await waitUntil(() => outcomes.includes('overtaken'), { what: 'the late call to end' });
      expect((await vault.read(ref))?.credential.reveal()).toMatchObject({ accessToken: 'access 1' });
      expect(server.calls).toBe(1);
    });
  });

  describe('a grant that is over', () => {
    it('has to be granted again, and the server is not called again', async () => {
      const { vault, ref, fresh } = setUp();
      let calls = 0;
      const refuse: RefreshCall = async () => {
        calls += 1;
        throw new InvalidGrantError();
      };
      const version = await vault.save(ref, endedTokens());
      const results = await Promise.all(fresh.map((each) => each(ref, refuse)));
      expect(results).toEqual(results.map(() => ({ status: 'reconnect_required', version })));
      expect(shown(await fresh[0](ref, refuse, { rejected: version ?? 0 }))).toBe('reconnect_required');
      expect(calls).toBe(1);
      await vault.save(ref, { ...endedTokens(), expiresAt: Date.now() + HOUR_MS });
      expect(shown(await fresh[1](ref, refuse))).toBe('access 0');
    });

    it('does not matter when the user has connected again in the meantime', async () => {
      const { vault, ref, one } = setUp();
      await vault.save(ref, endedTokens());
      const result = await one(ref, async () => {
        await vault.save(ref, {
          ...endedTokens(),
          accessToken: 'connected',
          expiresAt: Date.now() + HOUR_MS,
        });
        throw new InvalidGrantError();
      });
      expect(shown(result)).toBe('connected');
      expect((await vault.read(ref))?.state).toBe('usable');
    });

    it('is detected without a call where there is no refresh token', async () => {
      const { vault, ref, server, one } = setUp();
      const { refreshToken: _, ...ended } = endedTokens();
      const version = await vault.save(ref, ended);
      expect(await one(ref, server.refresh)).toEqual({ status: 'reconnect_required', version });
      const other = newRef();
      const rejected = (await vault.save(other, { kind: 'api_key', value: 'x' })) ?? 0;
      expect(shown(await one(other, server.refresh, { rejected }))).toBe('reconnect_required');
      expect((await vault.read(other))?.state).toBe('reconnect_required');
      expect(server.calls).toBe(0);
    });
  });

  describe('an authorization server that is unavailable', () => {
    it('does not prevent the use of a token that is still valid', async () => {
      const { vault, ref, server } = setUp();
      const failures: unknown[] = [];
      const fresh = createRefresher({
        leases: pods().stores[0],
        // As if it had been saved long ago: it is valid, and due.
        vault: {
          ...vault,
          async read(each) {
            const held = await vault.read(each);
            return held && { ...held, savedAt: held.savedAt - 10 * HOUR_MS };
          },
        },
        settings: { skewMs: HOUR_MS },
        onRefresh: (outcome, _ref, error) => failures.push([outcome, String(error)]),
      });
      await vault.save(ref, { ...endedTokens(), expiresAt: Date.now() + HOUR_MS / 2 });
      expect(shown(await fresh(ref, outage))).toBe('access 0');
      expect(failures).toEqual([['failed', 'Error: connect ECONNREFUSED']]);
      expect(shown(await fresh(ref, server.refresh))).toBe('access 1');
    });

    it('makes an expired or refused token unavailable and removes nothing', async () => {
      const { vault, ref, server, fresh } = setUp();
      await vault.save(ref, endedTokens());
      const results = await Promise.all(fresh.map((each) => each(ref, outage)));
      expect(results.map(shown)).toEqual(['unavailable', 'unavailable', 'unavailable']);
      expect((await vault.read(ref))?.state).toBe('usable');
      expect(shown(await fresh[2](ref, server.refresh))).toBe('access 1');
      const rejected = (await vault.read(ref))?.version ?? 0;
      expect(shown(await fresh[1](ref, outage, { rejected }))).toBe('unavailable');
      expect(shown(await fresh[1](ref, outage))).toBe('access 1');
    });
  });

  it('a short outage of the store does not lose the new tokens', async () => {
    const { vault, ref, server } = setUp();
    let away = 2;
    const fresh = createRefresher({
      leases: pods().stores[0],
      vault: {
        ...vault,
        async save(...args) {
          if (away-- > 0) throw new ParleyError('unavailable', 'away');
          return vault.save(...args);
        },
      },
    });
    await vault.save(ref, endedTokens());
    expect(shown(await fresh(ref, server.refresh))).toBe('access 1');
    expect((await vault.read(ref))?.credential.reveal()).toMatchObject({ refreshToken: 'refresh 1' });
  });
}
