import type { LiveItem, WatchItem } from '@parley/shared/elicitations/watch';
import type { RunText } from '@parley/shared/ports/runs/runs';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { readAll, readEntries } from '../../../harness/engines/observe.ts';
import { newOwner } from '../../../harness/engines/questions.ts';
import { textWrite, turnOf } from '../../../harness/engines/turn-writes.ts';

/** Text that follows the run's event with this number. */
function textAfter(writerSeq: number, more: Partial<RunText> = {}): RunText {
  return { term: 1, writerSeq, block: 'b1', offset: 0, text: 'Good ', ...more };
}

function brief(item: WatchItem | LiveItem): string {
  if (item.type === 'live') return `live ${item.text.offset} ${item.text.text}`;
  return item.type === 'other' ? String(item.event.text ?? item.event.type) : item.type;
}

/** Text that reaches the readers of a turn before its feed holds it. */
export function liveTextContract(contract: Contract): void {
  async function begun() {
    const turn = turnOf(newOwner());
    await contract.pods.backend.runs.begin(turn);
    return turn;
  }

  /** Begins a turn, follows it, and appends its second event. */
  async function followedLive() {
    const turn = await begun();
    const reader = readAll(await contract.second.watchLive({ stream: turn, signal: contract.signal() }));
    await reader.first(1);
    await contract.pods.backend.runs.write(turn, textWrite(2, 2));
    // The reader finds it by its subscription. Before that, a text would be missed.
    await reader.first(2);
    return { turn, reader };
  }

  describe('a published text', () => {
    it('reaches followers on any pod after the events before it, and no feed', async () => {
      const { runs } = contract.pods.backend;
      const { turn, reader } = await followedLive();
      expect(await runs.publish(turn, textAfter(2))).toBe('written');
      expect(await runs.publish(turn, textAfter(2, { offset: 5, text: 'day\n🦜' }))).toBe('written');
      // A text may come after the event that begins with it, where that is there already.
      await reader.first(4);
      await runs.write(turn, textWrite(3, 3));
      const items = await reader.first(5);
      expect(items.map(brief)).toEqual(['turn-started', '2 ', 'live 0 Good ', 'live 5 day\n🦜', '3 ']);
      const [, before, live] = items;
      expect(live).toMatchObject({ after: before !== undefined && 'id' in before && before.id });
      expect(await readEntries(contract.pods.second.feed, turn)).toHaveLength(3);
    });

    it('is not delivered where only the feed is watched', async () => {
      const { runs } = contract.pods.backend;
      const turn = await begun();
      const items = await contract.second.watch({
        stream: turn,
        evenIfSilent: true,
        signal: contract.signal(),
      });
      const reader = readAll(items);
      await reader.first(1);
      await runs.publish(turn, textAfter(1));
      await runs.write(turn, textWrite(2, 2));
      expect((await reader.first(2)).map(brief)).toEqual(['turn-started', '2 ']);
    });

    it('does not come out when it follows an earlier event, or its run has another owner or an end', async () => {
      const { backend, second } = contract.pods;
      const { turn, reader } = await followedLive();
      // A copy that a broken connection delivers late.
      expect(await backend.runs.publish(turn, textAfter(1))).toBe('written');
      await second.runs.takeOver(turn, 1, 'pod-b');
      expect(await backend.runs.publish(turn, textAfter(2))).toBe('fenced');
      const own = textAfter(2, { term: 2, text: 'mine' });
      expect(await second.runs.publish(turn, own)).toBe('written');
      await reader.first(3);
      await second.runs.write(turn, {
        ...textWrite(3, 3),
        term: 2,
        end: { status: 'finished', messages: [] },
      });
      expect(await second.runs.publish(turn, { ...own, writerSeq: 3 })).toBe('fenced');
      expect((await reader.first(4)).map(brief)).toEqual(['turn-started', '2 ', 'live 0 mine', '3 ']);
      expect(await backend.runs.publish(turnOf(newOwner()), textAfter(1))).toBe('gone');
    });

    it('informs its writer of a stop', async () => {
      const { backend, second } = contract.pods;
      const turn = await begun();
      await second.runs.stop(turn);
      expect(await backend.runs.publish(turn, textAfter(1))).toBe('stopping');
    });
  });
}
