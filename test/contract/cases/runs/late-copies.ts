import type { CallRecord, RunRef } from '@parley/shared/domain/runs/run';
import { type Message, UNOWNED } from '@parley/shared/domain/runs/run';
import type { RunNote, RunWrite } from '@parley/shared/ports/runs/runs';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { readEntries } from '../../../harness/engines/observe.ts';
import { newOwner } from '../../../harness/engines/questions.ts';
import { textWrite, turnOf } from '../../../harness/engines/turn-writes.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const SAID: Message = { role: 'assistant', content: 'Done' };
const END = { status: 'failed', messages: [SAID] } as const;

function callNote(state: CallRecord['state']): RunNote {
  return { type: 'call', call: { toolCallId: 'call_1', toolName: 'book', step: 0, state } };
}

function write(number: number, firstSeq: number, state: CallRecord['state']): RunWrite {
  return textWrite(firstSeq, firstSeq, { number, notes: [callNote(state)] });
}

/** Commands that arrive once more, over a link that broke, after what was sent later over the next one. */
export function lateCopyContract(contract: Contract): void {
  const stateOf = async (run: RunRef) => (await contract.pods.second.runs.read(run)).run?.calls[0]?.state;

  describe('a late copy', () => {
    it('of a begin does not begin an ended turn again, and reports the known turn', async () => {
      const { backend, second } = contract.pods;
      const turn = turnOf(newOwner());
      await backend.runs.begin(turn);
      await second.runs.write(turn, textWrite(2, 2, { end: END }));
      expect(await backend.runs.begin(turn)).toEqual({ type: 'known', conversationId: 'talk' });
      expect(await second.runs.standing(turn)).toMatchObject({ status: 'failed', term: 1 });
      expect((await second.conversations.read(turn)).running).toBeUndefined();
      const next = { ...turnOf(turn), owner: 'pod-b' };
      expect(await second.runs.begin(next)).toMatchObject({ type: 'begun' });
    });

    it('of a begin for any pod does not take the turn from the pod that claimed it', async () => {
      const { backend, second } = contract.pods;
      const turn = turnOf(newOwner(), 'talk', UNOWNED);
      expect(await backend.runs.begin(turn)).toMatchObject({ type: 'begun' });
      expect(await backend.runs.begin(turn)).toMatchObject({ type: 'begun', term: 1 });
      expect(await second.runs.takeOver(turn, 1, 'pod-b')).toBe(2);
      expect(await backend.runs.begin(turn)).toEqual({ type: 'known', conversationId: 'talk' });
      expect(await second.runs.standing(turn)).toMatchObject({ status: 'running', owner: 'pod-b', term: 2 });
    });

    it('of a write changes nothing after a later write, and the last write may be repeated', async () => {
      const { backend, second } = contract.pods;
      const turn = turnOf(newOwner());
      await backend.runs.begin(turn);
      expect(await backend.runs.write(turn, write(1, 2, 'dispatched'))).toBe('written');
      expect(await backend.runs.write(turn, write(1, 2, 'dispatched'))).toBe('written');
      expect(await backend.runs.write(turn, write(2, 3, 'returned'))).toBe('written');
      expect(await backend.runs.write(turn, write(1, 2, 'dispatched'))).toBe('written');
      expect(await stateOf(turn)).toBe('returned');
      expect(await readEntries(second.feed, turn)).toHaveLength(3);
      expect(await backend.runs.write(turn, write(2, 3, 'returned'))).toBe('written');
      expect(await stateOf(turn)).toBe('returned');
      expect(await readEntries(second.feed, turn)).toHaveLength(3);
    });

    it('of a write is not confused with the first write of the next owner', async () => {
      const { backend, second } = contract.pods;
      const turn = turnOf(newOwner());
      await backend.runs.begin(turn);
      await backend.runs.write(turn, write(1, 2, 'intended'));
      await backend.runs.write(turn, write(2, 3, 'dispatched'));
      await second.runs.takeOver(turn, 1, 'pod-b');
      const first = { ...write(1, 4, 'returned'), term: 2 };
      expect(await second.runs.write(turn, first)).toBe('written');
      expect(await stateOf(turn)).toBe('returned');
      expect(await backend.runs.write(turn, write(3, 4, 'failed'))).toBe('fenced');
    });
  });

  contract.itOverTime('the conversation of a delegate is deleted with its run', async () => {
    const { backend, second } = await contract.openWith({ retentionMs: 300 });
    const owner = newOwner();
    const [root, delegate] = [turnOf(owner), turnOf(owner, 'sr_its_own')];
    const parent = { streamRequestId: root.streamRequestId, toolCallId: 'call_1' };
    await backend.runs.begin(root);
    await backend.runs.begin({ ...delegate, parent });
    for (const turn of [root, delegate])
      await backend.runs.write(turn, textWrite(2, 2, { end: { status: 'finished', messages: [] } }));
    await waitUntil(async () => (await second.conversations.read(delegate)).last === undefined, {
      what: 'the end of its conversation',
    });
    expect((await second.conversations.read(root)).last).toMatchObject({
      streamRequestId: root.streamRequestId,
    });
  });
}
