import type { Credential } from '@parley/shared/domain/credential';
import type { KeyRing } from '@parley/shared/vault/key-ring';
import {
  createRefresher,
  type FreshCredential,
  type FreshCredentialOf,
  InvalidGrantError,
  type RefreshDeps,
} from '@parley/shared/vault/refresh';
import { createVault } from '@parley/shared/vault/vault';
import { describe, expect, it } from 'vitest';
import { createGate } from '../../../harness/vault/gate.ts';
import { endedTokens, newKeys, newRef, type VaultPods, vaultsOn } from '../../../harness/vault/stores.ts';
import { waitUntil } from '../../../harness/wait-until.ts';
import { createRotatingServer } from './authorization.ts';

const CALLERS = 50;

/** A refresher on each pod. */
function refreshersOn(
  { stores }: VaultPods,
  keys: KeyRing,
  more: Pick<RefreshDeps, 'settings' | 'onRefresh'> = {},
): readonly [FreshCredentialOf, FreshCredentialOf, FreshCredentialOf] {
  const [first, second, third] = stores;
  return [
    createRefresher({ vault: createVault({ store: first, keys }), leases: first, ...more }),
    createRefresher({ vault: createVault({ store: second, keys }), leases: second, ...more }),
    createRefresher({ vault: createVault({ store: third, keys }), leases: third, ...more }),
  ];
}

/** What a caller would send along; the status where there is nothing to send. */
export function shown(result: FreshCredential): string {
  if (result.status !== 'usable') return result.status;
  const credential = result.credential.reveal();
  return credential.kind === 'oauth2' ? credential.accessToken : credential.kind;
}

/** A vault, a refresher on each pod, an authorization server, and the name of a credential. */
export function setUpRefreshes(pods: VaultPods, more: Pick<RefreshDeps, 'settings' | 'onRefresh'> = {}) {
  const keys = newKeys();
  const [vault] = vaultsOn(pods, keys);
  const fresh = refreshersOn(pods, keys, more);
  return { keys, vault, fresh, one: fresh[0], server: createRotatingServer(), ref: newRef() };
}

/** Refreshes that go well. */
export function refreshingContract(pods: () => VaultPods): void {
  const setUp = (more: Pick<RefreshDeps, 'settings' | 'onRefresh'> = {}) => setUpRefreshes(pods(), more);

  describe('a credential that has to be refreshed', () => {
    it('is refreshed once for all callers on all pods, who all get the new one', async () => {
      const { vault, fresh, server, ref } = setUp();
      await vault.save(ref, endedTokens());
      const results = await Promise.all(
        Array.from({ length: CALLERS }, (_, at) => fresh[at % 3]?.(ref, server.refresh)),
      );
      expect(new Set(results.map((result) => result && shown(result)))).toEqual(new Set(['access 1']));
      expect([server.calls, server.revoked]).toEqual([1, false]);
      expect((await vault.read(ref))?.credential.reveal()).toMatchObject({ refreshToken: 'refresh 1' });
    });

    it('is refreshed once each time that a provider refuses a version', async () => {
      const { vault, fresh, server, ref } = setUp();
      await vault.save(ref, { ...server.latest });
      for (let round = 1; round <= 3; round += 1) {
        const rejected = (await vault.read(ref))?.version ?? 0;
        const results = await Promise.all(
          Array.from({ length: CALLERS }, (_, at) => fresh[at % 3]?.(ref, server.refresh, { rejected })),
        );
        expect(new Set(results.map((result) => result && shown(result)))).toEqual(
          new Set([`access ${round}`]),
        );
        expect(server.calls).toBe(round);
      }
      expect(server.revoked).toBe(false);
    });

    it('is obtained once for all callers on all pods where no person is needed, and again when it is refused', async () => {
      const { vault, fresh, ref } = setUp();
      let calls = 0;
      const obtain = async () => {
        calls += 1;
        return { kind: 'oauth2', accessToken: `access ${calls}`, tokenType: 'Bearer' } as const;
      };
      for (const round of [1, 2]) {
        const rejected = (await vault.read(ref))?.version;
        const options = rejected === undefined ? {} : { rejected };
        const results = await Promise.all(
          Array.from({ length: CALLERS }, (_, at) => fresh[at % 3]?.(ref, { obtain }, options)),
        );
        expect(new Set(results.map((result) => result && shown(result)))).toEqual(
          new Set([`access ${round}`]),
        );
        expect(calls).toBe(round);
      }
      const refuse = { obtain: () => Promise.reject(new InvalidGrantError()) };
      const rejected = (await vault.read(ref))?.version ?? 0;
      expect(shown(await fresh[0](ref, refuse, { rejected }))).toBe('reconnect_required');
      expect(shown(await fresh[1](newRef(), refuse))).toBe('absent');
      const fail = { obtain: () => Promise.reject(new Error('down')) };
      expect(shown(await fresh[1](newRef(), fail))).toBe('unavailable');
      // A refusal is not the end: the client may have been mended since.
      expect(shown(await fresh[2](ref, { obtain }))).toBe('access 3');
    });

    it('is not refreshed again for a caller who was refused an older version', async () => {
      const { vault, one, server, ref } = setUp();
      const rejected = (await vault.save(ref, endedTokens())) ?? 0;
      await one(ref, server.refresh);
      expect(shown(await one(ref, server.refresh, { rejected }))).toBe('access 1');
      expect(server.calls).toBe(1);
    });

    it('keeps its refresh token and scope where the server leaves them out', async () => {
      const { vault, one, ref } = setUp();
      await vault.save(ref, { ...endedTokens('only one'), scope: 'read' });
      const after = { kind: 'oauth2', accessToken: 'new', tokenType: 'Bearer' } as const;
      expect(shown(await one(ref, async () => after))).toBe('new');
      expect((await vault.read(ref))?.credential.reveal()).toEqual({
        ...after,
        refreshToken: 'only one',
        scope: 'read',
      });
    });

    it('whose tokens expire at once is refreshed once by concurrent callers, and used', async () => {
      const { vault, keys, ref } = setUp();
      const server = createRotatingServer(0);
      let attempts = 0;
      const gate = createGate();
      const fresh = pods().stores.map((store, at) =>
        createRefresher({
          vault: createVault({ store, keys }),
          leases: {
            release: store.release,
            async lease(...args) {
              attempts += 1;
              // One asks for the lease only once another has refreshed and gone.
              if (at === 2) await gate.opened;
              return store.lease(...args);
            },
          },
        }),
      );
      await vault.save(ref, endedTokens());
      const results = await Promise.all(
        fresh.map(async (each) => {
          const result = await each(ref, async (tokens, signal) => {
            await waitUntil(() => attempts >= 3, { what: 'all pods to have looked' });
            return server.refresh(tokens, signal);
          });
          gate.open();
          return result;
        }),
      );
      expect(results.map(shown)).toEqual(['access 1', 'access 1', 'access 1']);
      expect([server.calls, server.revoked]).toEqual([1, false]);
    });

    it('takes one lease for all callers in a process', async () => {
      const keys = newKeys();
      const [store] = pods().stores;
      const vault = createVault({ store, keys });
      const server = createRotatingServer();
      const ref = newRef();
      let attempts = 0;
      const lease: typeof store.lease = async (...args) => {
        attempts += 1;
        return store.lease(...args);
      };
      const fresh = createRefresher({ vault, leases: { lease, release: store.release } });
      await vault.save(ref, endedTokens());
      const results = await Promise.all(Array.from({ length: CALLERS }, () => fresh(ref, server.refresh)));
      expect(new Set(results.map(shown))).toEqual(new Set(['access 1']));
      expect(attempts).toBe(1);
    });

    it('stays removed when it is removed during the refresh', async () => {
      const { vault, one, server, ref } = setUp();
      await vault.save(ref, endedTokens());
      const result = await one(ref, async (tokens, signal) => {
        await vault.remove(ref);
        return server.refresh(tokens, signal);
      });
      expect(shown(result)).toBe('absent');
      expect(await vault.read(ref)).toBeUndefined();
    });

    it('is replaced by an account connected during the refresh', async () => {
      const outcomes: string[] = [];
      const { vault, one, server, ref } = setUp({ onRefresh: (outcome) => outcomes.push(outcome) });
      await vault.save(ref, endedTokens());
      const flow = { ...ref, flowId: 'flow' };
      const result = await one(ref, async (tokens, signal) => {
        await vault.stage(
          flow,
          { ...endedTokens(), accessToken: 'connected', expiresAt: Date.now() + 1e7 },
          1e6,
        );
        await vault.promote(flow);
        return server.refresh(tokens, signal);
      });
      expect([shown(result), outcomes]).toEqual(['connected', ['overtaken']]);
    });
  });

  describe('a credential that need not be refreshed', () => {
    const KINDS: readonly (readonly [string, Credential])[] = [
      ['an API key', { kind: 'api_key', value: 'x' }],
      ['a connection elsewhere', { kind: 'nango', connectionId: 'c', providerConfigKey: 'p' }],
      ['tokens without an end', { kind: 'oauth2', accessToken: 'a', refreshToken: 'r', tokenType: 'Bearer' }],
      ['tokens for a while', { ...endedTokens(), expiresAt: Date.now() + 3_600_000 }],
    ];

    it.each(KINDS)('is used unchanged: %s', async (_title, credential) => {
      const { vault, one, server, ref } = setUp();
      const version = await vault.save(ref, credential);
      const result = await one(ref, server.refresh);
      expect(result).toMatchObject({ status: 'usable', version });
      expect(result.status === 'usable' && result.credential.reveal()).toEqual(credential);
      expect(server.calls).toBe(0);
    });

    it('may be missing', async () => {
      const [fresh] = refreshersOn(pods(), newKeys());
      expect(await fresh(newRef(), createRotatingServer().refresh)).toEqual({ status: 'absent' });
    });
  });
}
