import type { Credential, CredentialRef } from '@parley/shared/domain/credential';
import type { VaultStore } from '@parley/shared/ports/vault';
import { credentialIdentity } from '@parley/shared/vault/records';
import { seal } from '@parley/shared/vault/seal';
import { createVault } from '@parley/shared/vault/vault';
import { describe, expect, it } from 'vitest';
import { newKeys, newRef, ringOf, type VaultPods, vaultsOn } from '../../../harness/vault/stores.ts';

const KINDS: readonly Credential[] = [
  {
    kind: 'oauth2',
    accessToken: 'token',
    refreshToken: 'refresh',
    tokenType: 'DPoP',
    expiresAt: 1,
    scope: 'a b',
  },
  { kind: 'oauth2', accessToken: '', tokenType: 'Bearer' },
  { kind: 'api_key', value: 'key é 🦜 \u0000\n"\\' },
  { kind: 'nango', connectionId: 'c', providerConfigKey: 'p' },
];
const API_KEY: Credential = { kind: 'api_key', value: 'a key' };

/** Reading, saving, marking and removing. */
export function storingContract(pods: () => VaultPods): void {
  const vaults = () => vaultsOn(pods(), newKeys());

  describe('a credential', () => {
    it.each(KINDS)('is read unchanged on another pod: $kind', async (credential) => {
      const [one, other] = vaults();
      const ref = newRef();
      expect(await other.read(ref)).toBeUndefined();
      const version = await one.save(ref, credential);
      const held = await other.read(ref);
      expect(held?.credential.reveal()).toEqual(credential);
      expect(held).toMatchObject({ version, state: 'usable', savedAt: expect.any(Number) });
    });

    it('is separate for each tenant, user, tool and connector, however their names are spelled', async () => {
      const [one, other] = vaults();
      const ref = newRef();
      const refs: CredentialRef[] = [
        ref,
        {
          ...ref,
          tenant: `${ref.tenant}/user@example.com`,
          userId: 'issues',
          toolId: 'github',
          connectorId: '',
        },
        { ...ref, userId: 'user@example.com/issues', toolId: 'github', connectorId: '' },
        { ...ref, userId: 'User@example.com' },
        { ...ref, toolId: 'issues/github', connectorId: '' },
        { ...ref, toolId: 'issues%2Fgithub', connectorId: '' },
        { ...ref, connectorId: 'git{hub}:é*\n' },
      ];
      for (const [at, each] of refs.entries()) await one.save(each, { kind: 'api_key', value: `key ${at}` });
      for (const [at, each] of refs.entries())
        expect((await other.read(each))?.credential.reveal()).toEqual({
          kind: 'api_key',
          value: `key ${at}`,
        });
    });

    it('is replaced by only one of several writers that read the same version', async () => {
      const three = vaults();
      const ref = newRef();
      const version = await three[0].save(ref, API_KEY);
      const written = await Promise.all(
        Array.from({ length: 30 }, (_, at) =>
          three[at % 3]?.save(ref, { kind: 'api_key', value: `key ${at}` }, version),
        ),
      );
      const won = written.flatMap((each, at) => (each === undefined ? [] : [{ version: each, at }]));
      expect(won).toHaveLength(1);
      const held = await three[1].read(ref);
      expect(held?.version).toBe(won[0]?.version);
      expect(held?.credential.reveal()).toEqual({ kind: 'api_key', value: `key ${won[0]?.at}` });
    });

    it('is created only once', async () => {
      const [one, other] = vaults();
      const ref = newRef();
      const versions = await Promise.all([one.save(ref, API_KEY, 0), other.save(ref, API_KEY, 0)]);
      expect(versions.filter((version) => version !== undefined)).toHaveLength(1);
    });

    it('has rising versions, across a removal too', async () => {
      const [one, other] = vaults();
      const ref = newRef();
      const versions = [await one.save(ref, API_KEY), await other.save(ref, API_KEY)];
      expect((await other.remove(ref))?.reveal()).toEqual(API_KEY);
      expect(await one.save(ref, API_KEY, versions[1])).toBeUndefined();
      expect(await one.read(ref)).toBeUndefined();
      versions.push(await one.save(ref, API_KEY));
      expect(await one.save(ref, API_KEY, versions[1])).toBeUndefined();
      expect(versions).toEqual([...versions].sort((a = 0, b = 0) => a - b));
      expect(new Set(versions).size).toBe(3);
    });

    it('that a provider refuses is marked in that version only, until another is saved', async () => {
      const [one, other] = vaults();
      const ref = newRef();
      expect(await one.markReconnect(ref, 1)).toBe(false);
      const old = (await one.save(ref, API_KEY)) ?? 0;
      const version = (await one.save(ref, API_KEY)) ?? 0;
      expect(await other.markReconnect(ref, old)).toBe(false);
      expect((await one.read(ref))?.state).toBe('usable');
      expect(await other.markReconnect(ref, version)).toBe(true);
      expect(await other.markReconnect(ref, version)).toBe(true);
      expect(await one.read(ref)).toMatchObject({ state: 'reconnect_required', version });
      expect(await one.save(ref, API_KEY, version)).toBeGreaterThan(version);
      expect((await other.read(ref))?.state).toBe('usable');
    });
  });

  describe('a sealed record', () => {
    it('does not open under another name', async () => {
      const [one] = vaults();
      const [store] = pods().stores;
      const ref = newRef();
      await one.save(ref, API_KEY);
      for (const part of ['tenant', 'userId', 'toolId', 'connectorId'] as const) {
        const other = { ...ref, [part]: `${ref[part]}-2` };
        await store.write(other, await sealedOf(store, ref));
        await expect(one.read(other)).rejects.toMatchObject({ name: 'SealError', fault: 'not_authentic' });
      }
    });

    it('of a staged credential does not open as a stored one, nor the reverse', async () => {
      const [one] = vaults();
      const [store] = pods().stores;
      const flow = { ...newRef(), flowId: 'flow' };
      await one.save(flow, API_KEY);
      await store.stage(flow, await sealedOf(store, flow), 60_000);
      await expect(one.promote(flow)).rejects.toMatchObject({ fault: 'not_authentic' });
      await one.stage(flow, API_KEY, 60_000);
      await store.write(flow, (await store.readStaged(flow)) ?? '');
      await expect(one.read(flow)).rejects.toMatchObject({ fault: 'not_authentic' });
    });

    it('names the key it needs when the key ring lacks it', async () => {
      const [store] = pods().stores;
      const ref = newRef();
      await createVault({ store, keys: ringOf('one') }).save(ref, API_KEY);
      const without = createVault({ store, keys: ringOf('two') });
      await expect(without.read(ref)).rejects.toMatchObject({
        fault: 'unknown_key',
        message: expect.stringContaining('`one`'),
      });
    });

    it.each(['{"kind":"password"}', '{"kind":"oauth2"}', 'not JSON', ''])(
      'that contains %j is not a credential',
      async (text) => {
        const keys = newKeys();
        const [store] = pods().stores;
        const ref = newRef();
        await store.write(ref, seal(keys, credentialIdentity(ref), text));
        await expect(createVault({ store, keys }).read(ref)).rejects.toMatchObject({
          fault: 'not_a_credential',
        });
      },
    );

    it('that does not open can be removed and overwritten', async () => {
      const [one] = vaults();
      const [store] = pods().stores;
      const ref = newRef();
      await store.write(ref, 'v1.other.AAAA.AAAA');
      expect(await one.remove(ref)).toBeUndefined();
      expect(await one.read(ref)).toBeUndefined();
      await store.write(ref, 'v1.other.AAAA.AAAA');
      await one.save(ref, API_KEY);
      expect((await one.read(ref))?.credential.reveal()).toEqual(API_KEY);
    });
  });

  describe('a write that is sent twice', () => {
    it('is done once', async () => {
      const [store, other] = pods().stores;
      const flow = { ...newRef(), flowId: 'flow' };
      const before = await store.write(flow, 'one');
      const version = (await store.write(flow, 'two', before)) ?? 0;
      expect(await other.write(flow, 'two', before)).toBe(version);
      expect((await store.read(flow))?.version).toBe(version);
      const record = { kind: 'credential', ref: flow, sealed: 'two' } as const;
      for (const each of [store, other]) expect(await each.rewrap(record, 'two, rewrapped')).toBe(true);
      for (const each of [store, other]) expect(await each.rewrap(record, 'three')).toBe(false);
      await store.stage(flow, 'staged', 60_000);
      const promoted = await store.promote(flow, 'staged', 'four');
      expect(promoted).toBeGreaterThan(version);
      expect(await other.promote(flow, 'staged', 'four')).toBe(promoted);
      for (const each of [store, other]) expect(await each.remove(flow, Number(promoted))).toBe(true);
    });
  });
}

async function sealedOf(store: VaultStore, ref: CredentialRef): Promise<string> {
  const stored = await store.read(ref);
  if (stored === undefined) throw new Error('Nothing is stored there.');
  return stored.sealed;
}
