import { randomUUID } from 'node:crypto';
import type { Credential } from '@parley/shared/domain/credential';
import type { FlowRef, StagedFlow } from '@parley/shared/ports/vault';
import type { Vault } from '@parley/shared/vault/vault';
import { describe, expect, it } from 'vitest';
import { newKeys, newRef, type VaultPods, vaultsOn } from '../../../harness/vault/stores.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const HOUR_MS = 3_600_000;
const GOT: Credential = { kind: 'api_key', value: 'what the flow got' };
const BEFORE: Credential = { kind: 'api_key', value: 'what was there' };

function newFlow(): FlowRef {
  return { ...newRef(), flowId: `flow/${randomUUID()}` };
}

async function staleOf(vault: Vault, flow: FlowRef, olderThanMs = 0): Promise<StagedFlow[]> {
  const flows: StagedFlow[] = [];
  for await (const each of vault.staleFlows(olderThanMs)) if (each.flowId === flow.flowId) flows.push(each);
  return flows;
}

/** From the consent page to a usable credential. */
export function stagingContract(pods: () => VaultPods): void {
  const vaults = () => vaultsOn(pods(), newKeys());

  describe('a staged credential', () => {
    it('is not usable until it is promoted, then at once and on every pod', async () => {
      const [one, other, third] = vaults();
      const flow = newFlow();
      const before = await one.save(flow, BEFORE);
      await one.stage(flow, GOT, HOUR_MS);
      expect((await other.read(flow))?.credential.reveal()).toEqual(BEFORE);
      const version = await other.promote(flow);
      expect(version).toBeGreaterThan(before ?? 0);
      const held = await third.read(flow);
      expect([held?.version, held?.state, held?.credential.reveal()]).toEqual([version, 'usable', GOT]);
    });

    it('is promoted once, however often and from whichever pod', async () => {
      const three = vaults();
      const flow = newFlow();
      await three[0].stage(flow, GOT, HOUR_MS);
      const versions = await Promise.all(Array.from({ length: 30 }, (_, at) => three[at % 3]?.promote(flow)));
      expect(new Set(versions).size).toBe(1);
      expect((await three[1].read(flow))?.version).toBe(versions[0]);
      // A refresh of what it got is still its own.
      const refreshed = await three[2].save(flow, GOT, versions[0]);
      expect(await three[0].promote(flow)).toBe(refreshed);
      await three[2].save(flow, BEFORE);
      expect(await three[0].promote(flow)).toBeUndefined();
      expect((await three[0].read(flow))?.credential.reveal()).toEqual(BEFORE);
    });

    it('makes a refused credential usable again when it is promoted', async () => {
      const [one, other] = vaults();
      const flow = newFlow();
      await one.markReconnect(flow, (await one.save(flow, BEFORE)) ?? 0);
      await one.stage(flow, GOT, HOUR_MS);
      expect((await other.read(flow))?.state).toBe('reconnect_required');
      await other.promote(flow);
      expect((await one.read(flow))?.state).toBe('usable');
    });

    it('is returned when it is dropped, and does not change the stored credential', async () => {
      const [one, other] = vaults();
      const flow = newFlow();
      await one.save(flow, BEFORE);
      await one.stage(flow, GOT, HOUR_MS);
      expect((await other.drop(flow))?.reveal()).toEqual(GOT);
      expect(await one.drop(flow)).toBeUndefined();
      expect(await one.promote(flow)).toBeUndefined();
      expect((await one.read(flow))?.credential.reveal()).toEqual(BEFORE);
    });

    it('is never returned for revocation once it is in use', async () => {
      const [one, other] = vaults();
      const flow = newFlow();
      await one.stage(flow, GOT, HOUR_MS);
      await one.promote(flow);
      expect(await other.drop(flow)).toBeUndefined();
      expect((await one.read(flow))?.credential.reveal()).toEqual(GOT);
    });

    it('is either promoted or dropped when both are requested at once', async () => {
      const [one, other] = vaults();
      for (let round = 0; round < 30; round += 1) {
        const flow = newFlow();
        await one.stage(flow, GOT, HOUR_MS);
        const early = round % 2 === 0 ? undefined : other.drop(flow);
        const promoting = one.promote(flow);
        const [version, dropped] = await Promise.all([promoting, early ?? other.drop(flow)]);
        expect([version !== undefined, dropped !== undefined].filter(Boolean)).toHaveLength(1);
        expect((await one.read(flow))?.version).toBe(version);
      }
    });

    it('is separate for each flow', async () => {
      const [one, other] = vaults();
      const flow = newFlow();
      const second = { ...flow, flowId: 'second' };
      await one.stage(flow, GOT, HOUR_MS);
      await one.stage(second, BEFORE, HOUR_MS);
      expect((await other.drop(flow))?.reveal()).toEqual(GOT);
      await other.promote(second);
      expect((await one.read(flow))?.credential.reveal()).toEqual(BEFORE);
    });

    it('expires', async () => {
      const [one, other] = vaults();
      const flow = newFlow();
      await one.stage(flow, GOT, 50);
      const [store] = pods().stores;
      await waitUntil(async () => (await store.readStaged(flow)) === undefined, { what: 'it to lapse' });
      expect(await other.promote(flow)).toBeUndefined();
      expect(await other.read(flow)).toBeUndefined();
    });
  });

  describe('the sweep of flows', () => {
    it('finds unfinished flows by their age', async () => {
      const [one, other] = vaults();
      const flow = newFlow();
      const { tenant, userId, toolId, connectorId, flowId } = flow;
      await one.stage(flow, GOT, HOUR_MS);
      expect(await staleOf(other, flow)).toEqual([
        { tenant, userId, toolId, connectorId, flowId, stagedAt: expect.any(Number) },
      ]);
      expect(await staleOf(other, flow, HOUR_MS)).toEqual([]);
    });

    it('finds no flow that was promoted or dropped, expired or not', async () => {
      const [one, other] = vaults();
      const [store] = pods().stores;
      for (const finish of [one.promote, one.drop]) {
        const flow = newFlow();
        await one.stage(flow, GOT, HOUR_MS);
        await finish(flow);
        expect(await staleOf(other, flow)).toEqual([]);
        await one.stage(flow, GOT, 50);
        await waitUntil(async () => (await store.readStaged(flow)) === undefined, { what: 'it to lapse' });
        expect(await staleOf(other, flow)).toHaveLength(1);
        await finish(flow);
        expect(await staleOf(other, flow)).toEqual([]);
      }
    });

    it('finds all of them, even when it ends some in the meantime', async () => {
      const [one, other] = vaults();
      const owner = newRef();
      const flows = Array.from({ length: 250 }, (_, at) => ({ ...owner, flowId: `flow ${at}` }));
      await Promise.all(flows.map((flow) => one.stage(flow, GOT, HOUR_MS)));
      const found: string[] = [];
      for await (const flow of other.staleFlows(0)) {
        found.push(flow.flowId);
        if (found.length % 2 === 0) await other.drop(flow);
      }
      expect(found.sort()).toEqual(flows.map(({ flowId }) => flowId).sort());
    });
  });
}
