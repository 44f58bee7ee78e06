import { ParleyError } from '@parley/core/domain/errors';
import type { Credential } from '@parley/shared/domain/credential';
import { type RekeyReport, rekey } from '@parley/shared/vault/rekey';
import { createVault } from '@parley/shared/vault/vault';
import { describe, expect, it } from 'vitest';
import { newRef, ringOf, type VaultPods, vaultsOn } from '../../../harness/vault/stores.ts';

const HOUR_MS = 3_600_000;
const OLD = ringOf('old');
const BOTH = ringOf('new', 'old');
const NEW = ringOf('new');
const keyOf = (at: number): Credential => ({ kind: 'api_key', value: `key ${at}` });

/** A change of master keys. */
export function rekeyingContract(pods: () => VaultPods): void {
  const seed = async (count: number) => {
    const [vault] = vaultsOn(pods(), OLD);
    const refs = Array.from({ length: count }, newRef);
    const versions = await Promise.all(refs.map((ref, at) => vault.save(ref, keyOf(at))));
    return { refs, versions };
  };

  describe('a change of keys', () => {
    it('seals every record with the new key, so the old one may be removed', async () => {
      const [store, other] = pods().stores;
      const { refs, versions } = await seed(120);
      const flow = { ...newRef(), flowId: 'flow' };
      const [first = newRef()] = refs;
      const old = createVault({ store, keys: OLD });
      await old.stage(flow, keyOf(-1), HOUR_MS);
      await old.markReconnect(first, versions[0] ?? 0);
      const progress: RekeyReport[] = [];
      const report = await rekey(
        { stores: [store], keys: BOTH },
        { onProgress: (each) => progress.push(each) },
      );
      expect(report).toEqual({
        seen: expect.any(Number),
        rewrapped: 121,
        changed: 0,
        unreadable: 0,
        missingKeys: [],
        lapsing: 0,
        lapsedInMs: 0,
        done: true,
      });
      expect(report.seen).toBeGreaterThanOrEqual(121);
      expect(progress.at(-1)).toMatchObject({ rewrapped: 121 });
      const vault = createVault({ store: other, keys: NEW });
      const held = await Promise.all(refs.map((ref) => vault.read(ref)));
      expect(held.map((each) => each?.version)).toEqual(versions);
      expect(held.map((each) => each?.credential.reveal())).toEqual(refs.map((_, at) => keyOf(at)));
      expect(held.map((each) => each?.state === 'usable')).toEqual(refs.map((_, at) => at > 0));
      await vault.promote(flow);
      expect((await vault.read(flow))?.credential.reveal()).toEqual(keyOf(-1));
    });

    it('changes nothing the second time', async () => {
      const [store] = pods().stores;
      await seed(20);
      await rekey({ stores: [store], keys: BOTH });
      expect(await rekey({ stores: [store], keys: BOTH })).toMatchObject({ rewrapped: 0, done: true });
      expect(await rekey({ stores: [store], keys: NEW })).toMatchObject({ rewrapped: 0, done: true });
    });

    it('continues where it was interrupted', async () => {
      const [store] = pods().stores;
      const { refs } = await seed(50);
      let left = 20;
      const failing = {
        scan: store.scan,
        async rewrap(...args: Parameters<typeof store.rewrap>) {
          if (left-- <= 0) throw new ParleyError('unavailable', 'away');
          return store.rewrap(...args);
        },
      };
      await expect(rekey({ stores: [failing], keys: BOTH })).rejects.toMatchObject({ code: 'unavailable' });
      expect(await rekey({ stores: [store], keys: BOTH })).toMatchObject({ rewrapped: 30, done: true });
      const vault = createVault({ store, keys: NEW });
      for (const ref of refs) expect(await vault.read(ref)).toBeDefined();
    });

    it('stops when its signal is aborted', async () => {
      const [store] = pods().stores;
      await seed(5);
      const reason = new Error('stopped');
      const signal = AbortSignal.abort(reason);
      await expect(rekey({ stores: [store], keys: BOTH }, { signal })).rejects.toBe(reason);
    });

    it('loses no concurrent write of a pod', async () => {
      const three = vaultsOn(pods(), BOTH);
      const { refs, versions } = await seed(30);
      let writing = true;
      const writers = refs.map(async (ref, at) => {
        const vault = three[at % 3] ?? three[0];
        let version = versions[at];
        let writes = 0;
        while (writing || writes === 0) {
          version = await vault.save(ref, keyOf(writes), version);
          if (version === undefined) throw new Error('a write was lost');
          writes += 1;
        }
        return { version, value: keyOf(writes - 1) };
      });
      const report = await rekey({ stores: [pods().stores[0]], keys: BOTH });
      writing = false;
      const written = await Promise.all(writers);
      expect(report).toMatchObject({ unreadable: 0 });
      expect(await rekey({ stores: [pods().stores[1]], keys: BOTH })).toMatchObject({ done: true });
      const [vault] = vaultsOn(pods(), NEW);
      for (const [at, ref] of refs.entries()) {
        const held = await vault.read(ref);
        expect([held?.version, held?.credential.reveal()]).toEqual([
          written[at]?.version,
          written[at]?.value,
        ]);
      }
    });

    it('is not complete while a record cannot be opened', async () => {
      const [store] = pods().stores;
      await seed(3);
      await createVault({ store, keys: ringOf('third') }).save(newRef(), keyOf(0));
      expect(await rekey({ stores: [store], keys: BOTH })).toMatchObject({
        rewrapped: 3,
        unreadable: 1,
        missingKeys: ['third'],
        done: false,
      });
      const ref = newRef();
      await store.write(ref, 'no record at all');
      expect(await rekey({ stores: [store], keys: ringOf('new', 'old', 'third') })).toMatchObject({
        rewrapped: 1,
        unreadable: 1,
        missingKeys: [],
        done: false,
      });
    });

    it('is not complete while a pod still writes with the old key', async () => {
      const [store] = pods().stores;
      await seed(3);
      const behind = createVault({ store, keys: OLD });
      const ref = newRef();
      const onProgress = () => void behind.save(ref, keyOf(0));
      const lagging = {
        rewrap: store.rewrap,
        async *scan() {
          await behind.save(ref, keyOf(0));
          yield* store.scan();
        },
      };
      expect(await rekey({ stores: [lagging], keys: BOTH }, { onProgress })).toMatchObject({ done: false });
    });
  });
}
