import type { LapsingValue, SealedRecord } from '@parley/shared/ports/sealed';
import { connectCommands } from '@parley/shared/redis/client/connect';
import { createRedisSealedState } from '@parley/shared/redis/sealed/state-store';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { newOwner } from '../../../harness/engines/questions.ts';
import { turnOf } from '../../../harness/engines/turn-writes.ts';

const HOUR_MS = 3_600_000;

type Found = SealedRecord | LapsingValue;

/** What is sealed outside of the vault. */
export function sealedStateContract(contract: Contract): void {
  const { location } = contract;
  if (location === undefined) return;

  describe('what is sealed outside of the vault', () => {
    it('is found on every server, and replaced only as it was read', async () => {
      const { backend } = contract.pods;
      const redis = connectCommands(location);
      contract.onEnd(() => redis.disconnect());
      const store = createRedisSealedState(redis);
      const turns = Array.from({ length: 6 }, () => turnOf(newOwner()));
      for (const turn of turns) {
        const call = { toolCallId: 'call one', toolName: 'ask', step: 0, state: 'intended' } as const;
        const sealed = { ...call, round: 'v1.old.key.data', roundServer: 'tracker' };
        const remote = { ...call, toolCallId: 'remote', round: '{"taskId":"t"}' };
        await backend.runs.begin(turn);
        const notes = [sealed, remote].map((each) => ({ type: 'call', call: each }) as const);
        await backend.runs.write(turn, { term: 1, firstSeq: 2, events: [], notes });
        const name = `a2a-push/${turn.streamRequestId}/3`;
        await backend.ownerRecords.pushes.putIfAbsent(turn, name, 'v1.old.key.target', HOUR_MS);
        await backend.ownerRecords.pushes.putIfAbsent(turn, `${name} other`, 'v1.old.key.other', HOUR_MS);
        const flow = { family: 'flow', id: turn.streamRequestId } as const;
        await backend.pages.put(flow, JSON.stringify({ sealed: turn.streamRequestId }), HOUR_MS);
      }
      const found: Found[] = [];
      for await (const page of store.scan()) found.push(...page);
      for (const { tenant, userId, streamRequestId } of turns) {
        const callKey = `${streamRequestId} call one`;
        const round = {
          kind: 'round',
          ref: { tenant, userId, callKey, serverId: 'tracker' },
          sealed: 'v1.old.key.data',
        } as const;
        const push = {
          kind: 'push',
          ref: { tenant, userId, streamRequestId, slot: 3 },
          sealed: 'v1.old.key.target',
        } as const;
        expect(found.filter((each) => 'ref' in each && each.ref.userId === userId)).toEqual(
          expect.arrayContaining([round, push]),
        );
        const leftMs = found.find(({ sealed }) => sealed === streamRequestId);
        expect(leftMs).toMatchObject({ kind: 'flow', leftMs: expect.any(Number) });
        for (const record of [round, push]) {
          expect(await store.rewrap(record, 'v1.new')).toBe(true);
          expect(await store.rewrap(record, 'v1.newer')).toBe(false);
        }
        const { run } = await backend.runs.read({ tenant, userId, streamRequestId });
        expect(run?.calls.map((call) => call.round).sort()).toEqual(['v1.new', '{"taskId":"t"}']);
        const name = `a2a-push/${streamRequestId}/3`;
        expect(await backend.ownerRecords.pushes.read({ tenant, userId }, name)).toBe('v1.new');
      }
    });
  });
}
