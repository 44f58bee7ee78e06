import { inspect } from 'node:util';
import type { Credential } from '@parley/shared/domain/credential';
import { credentialIdentity } from '@parley/shared/vault/records';
import { createRefresher } from '@parley/shared/vault/refresh';
import { seal } from '@parley/shared/vault/seal';
import { createVault } from '@parley/shared/vault/vault';
import { describe, expect, it } from 'vitest';
import { canary, findCanary } from '../../../harness/canary.ts';
import { endedTokens, newKeys, newRef, type VaultPods } from '../../../harness/vault/stores.ts';

/** Every serialised form of a value. */
function traces(value: unknown): string[] {
  const seen = [
    inspect(value, { depth: null, showHidden: true, getters: true }),
    JSON.stringify(value) ?? '',
    String(value),
  ];
  if (!(value instanceof Error)) return seen;
  return [
    ...seen,
    value.message,
    value.stack ?? '',
    ...(value.cause === undefined ? [] : traces(value.cause)),
  ];
}

/** Only the caller that requests a credential sees it. */
export function hidingContract(pods: () => VaultPods): void {
  describe('a secret', () => {
    const secret = canary('credential');
    const tokens = { ...endedTokens(secret), accessToken: secret };
    const CREDENTIALS: readonly Credential[] = [
      tokens,
      { kind: 'api_key', value: secret },
      { kind: 'nango', connectionId: secret, providerConfigKey: 'p' },
    ];

    it('is in no value of the store, at any time', async () => {
      const { stores, dump } = pods();
      const [store] = stores;
      const keys = newKeys();
      const vault = createVault({ store, keys });
      const fresh = createRefresher({ vault, leases: store });
      const ref = newRef();
      const values: string[] = [];
      for (const credential of CREDENTIALS) {
        await vault.save(newRef(), credential);
        await vault.stage({ ...newRef(), flowId: 'flow' }, credential, 60_000);
      }
      await vault.stage({ ...ref, flowId: 'flow' }, tokens, 60_000);
      await vault.promote({ ...ref, flowId: 'flow' });
      await fresh(ref, async (before) => {
        values.push(...(await dump()));
        return { ...before, accessToken: `${secret} 2` };
      });
      values.push(...(await dump()));
      expect(values.filter((value) => value.includes('v1.development-')).length).toBe(14);
      expect(findCanary(secret, values)).toEqual([]);
    });

    it('is not visible in any vault object when it is serialised or logged', async () => {
      const [store] = pods().stores;
      const keys = newKeys();
      const vault = createVault({ store, keys });
      const fresh = createRefresher({ vault, leases: store });
      const ref = newRef();
      const flow = { ...ref, flowId: 'flow' };
      const given: unknown[] = [vault, store, keys, keys.keyOf(keys.activeId), fresh];
      await vault.stage(flow, tokens, 60_000);
      given.push(await vault.drop(flow));
      await vault.save(ref, tokens);
      given.push(await vault.read(ref), await store.read(ref));
      given.push(await fresh(ref, async (before) => ({ ...before, expiresAt: Date.now() + 3_600_000 })));
      given.push(await fresh(ref, async (before) => before));
      given.push(await vault.remove(ref));
      expect(given.filter((each) => each === undefined)).toEqual([]);
      expect(findCanary(secret, given.flatMap(traces))).toEqual([]);
    });

    it('is in no error', async () => {
      const [store] = pods().stores;
      const keys = newKeys();
      const vault = createVault({ store, keys });
      const ref = newRef();
      const errors: unknown[] = [];
      const note = (error: unknown) => errors.push(error);
      const bodies = [secret, `{"kind":"${secret}"}`, `{"kind":"oauth2","accessToken":{"${secret}":1}}`];
      for (const body of bodies) {
        await store.write(ref, seal(keys, credentialIdentity(ref), body));
        await vault.read(ref).catch(note);
      }
      await vault.save(ref, tokens);
      const sealed = (await store.read(ref))?.sealed ?? '';
      for (const damaged of [sealed.slice(0, -1), `${sealed}A`, sealed.replace('v1', 'v2'), secret]) {
        await store.write(ref, damaged);
        await vault.read(ref).catch(note);
      }
      await vault.save(ref, tokens);
      await createVault({ store, keys: newKeys() }).read(ref).catch(note);
      expect(errors).toHaveLength(bodies.length + 5);
      expect(findCanary(secret, errors.flatMap(traces))).toEqual([]);
    });
  });
}
