import type { Status } from '@parley/core/domain/elicitations/status';
import { eventNumberOf, parseFeedPosition } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { WatchInput, WatchItem } from '@parley/shared/elicitations/watch';
import type { Feed } from '@parley/shared/ports/elicitations/feed';
import { describe, expect, it } from 'vitest';
import { decideAs, requestApproval } from '../../../harness/engines/approvals.ts';
import type { Contract } from '../../../harness/engines/contract.ts';
import { busWithoutAsks, deafEngineOn, engineOn } from '../../../harness/engines/engines.ts';
import { expectCode, type Reader, readAll } from '../../../harness/engines/observe.ts';
import {
  answerQuestion,
  askQuestion,
  newStream,
  QUESTIONS,
  send,
  serviceOf,
} from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

function brief(item: WatchItem): string {
  return item.type === 'elicitation' ? `${item.event} ${item.elicitation.status}` : item.type;
}

/** How records end that a reader has seen. `begin` returns the id of the record. */
const ENDS: Readonly<Record<string, End>> = {
  accepted: answeredBy('accept', { colour: 'red' }),
  declined: answeredBy('decline'),
  cancelled: answeredBy('cancel'),
  withdrawn: {
    ...answeredBy('cancel'),
    end: (engine, stream, id) => engine.withdraw({ caller: serviceOf(stream), id, reason: 'gone' }),
  },
  expired: {
    begin: async (engine, stream) => (await askQuestion(engine, stream, { timeoutSeconds: 1 })).row.id,
    end: (engine, _stream, id) =>
      waitUntil(async () => (await engine.expire(id)).type === 'expired', { what: 'the deadline' }),
  },
  approved: decidedBy({ decision: 'approve' }),
  denied: decidedBy({ decision: 'deny', reason: 'not today' }),
};

interface End {
  readonly begin: (engine: Engine, stream: StreamRef) => Promise<string>;
  readonly end: (engine: Engine, stream: StreamRef, id: string) => Promise<unknown>;
}

function answeredBy(action: 'accept' | 'decline' | 'cancel', content?: Record<string, string>): End {
  return {
    begin: async (engine, stream) => (await askQuestion(engine, stream)).row.id,
    end: (engine, stream, id) => answerQuestion(engine, stream, id, action, content),
  };
}

function decidedBy(response: ApprovalInput): End {
  return {
    begin: async (engine, stream) => (await requestApproval(engine, stream)).row.id,
    end: (engine, stream, id) => decideAs(engine, stream, id, response),
  };
}

/** Following a stream request from any pod. */
export function watchContract(contract: Contract): void {
  async function follow(
    engine: Engine,
    stream: StreamRef,
    more: Partial<WatchInput> = {},
  ): Promise<Reader<WatchItem>> {
    return readAll(await engine.watch({ stream, evenIfSilent: false, signal: contract.signal(), ...more }));
  }

  describe('a reader of a stream', () => {
    it('gets past and new events from any pod, each as it was at that time', async () => {
      const { first, second } = contract;
      const stream = newStream();
      const kind = 'url, server completion';
      const { row } = await askQuestion(first, stream, QUESTIONS[kind]);
      await send(first, stream, row.id, kind, 'accept');
      const readers = [await follow(first, stream), await follow(second, stream)];
      for (const reader of readers) await reader.first(2);
      await send(second, stream, row.id, kind, 'complete');
      await askQuestion(first, stream);
      for (const reader of readers) {
        const items = await reader.first(4);
        expect(items.map(brief)).toEqual([
          'elicitation-request pending',
          'elicitation-updated opened',
          'elicitation-resolved accepted',
          'elicitation-request pending',
        ]);
        const [asked, , resolved] = items.map((item) =>
          item.type === 'elicitation' ? item.elicitation : undefined,
        );
        expect(asked).toMatchObject({
          elicitationId: row.id,
          message: row.definition.message,
          url: row.definition.url,
        });
        expect(asked).not.toHaveProperty('settledAt');
        expect(resolved).toMatchObject({ action: 'accept', settledBy: { surface: 'test' } });
        expect(resolved?.settledAt).toBeDefined();
        expect(asked).not.toHaveProperty('tenant');
      }
    });

    it('continues after any position that it names', async () => {
      const { first, second } = contract;
      const stream = newStream();
      for (let count = 0; count < 3; count += 1) {
        const { row } = await askQuestion(first, stream);
        await answerQuestion(second, stream, row.id, 'decline');
      }
      const all = await (await follow(first, stream)).first(6);
      for (const [at, item] of all.entries()) {
        const after = item.type === 'reset' ? undefined : parseFeedPosition(item.id);
        if (after === undefined) throw new Error('An item has no position.');
        const reader = await follow(second, stream, { after });
        await reader.first(5 - at);
        expect(reader.seen.map(strip)).toEqual(all.slice(at + 1).map(strip));
      }
    });

    it('gets a reset and then every event when its position is of another feed', async () => {
      const stream = newStream();
      await askQuestion(contract.first, stream);
      for (const after of [
        { epoch: '1', seq: 1 },
        { epoch: '9999999999999999999', seq: 4 },
      ]) {
        const reader = await follow(contract.second, stream, { after });
        expect((await reader.first(2)).map(brief)).toEqual(['reset', 'elicitation-request pending']);
      }
    });

    it('gets a long feed in order, each event once', async () => {
      const { first, second } = contract;
      const stream = newStream();
      await askQuestion(first, stream);
      const reader = await follow(second, stream);
      await Promise.all(
        Array.from({ length: 249 }, (_, at) => askQuestion(at % 2 === 0 ? first : second, stream)),
      );
      const late = await follow(first, stream);
      for (const items of [await reader.first(250), await late.first(250)]) {
        const positions = items.map((item) =>
          item.type === 'reset' ? undefined : parseFeedPosition(item.id),
        );
        expect(positions.map((position) => position && eventNumberOf(position))).toEqual(
          Array.from({ length: 250 }, (_, at) => at + 1),
        );
      }
    });

    it('gets an end from its wake without a read, as a replay tells it', async () => {
      const { first, pods } = contract;
      const { feed } = pods.second;
      let reads = 0;
      const counted: Feed = {
        ...feed,
        read(...args) {
          reads += 1;
          return feed.read(...args);
        },
      };
      const second = engineOn(pods.second, { feed: counted });
      for (const [name, end] of Object.entries(ENDS)) {
        const stream = newStream();
        const id = await end.begin(first, stream);
        const readers = [await follow(second, stream), await follow(second, stream)];
        for (const reader of readers) await reader.first(1);
        // With the event of this question, the readers have surely subscribed.
        await askQuestion(first, stream);
        for (const reader of readers) await reader.first(2);
        reads = 0;
        await end.end(first, stream, id);
        for (const reader of readers) await reader.first(3);
        expect(reads, name).toBe(0);
        // The next event is read, after the end of which the wake told.
        await askQuestion(first, stream);
        const replay = (await (await follow(first, stream)).first(4)).map(strip);
        for (const reader of readers)
          expect((await reader.first(4)).slice(2).map(strip), name).toEqual(replay.slice(2));
      }
    });

    it('reads an ending that only a newer build knows, with all its fields', async () => {
      const { first, pods } = contract;
      const stream = newStream();
      const { row } = await askQuestion(first, stream);
      const reader = await follow(contract.second, stream);
      await reader.first(1);
      const status = 'delegated' as Status;
      const fields = { elicitationId: row.id, revision: 2, status, votes: [1, 2] };
      const event = { type: 'elicitation-resolved', ...fields } as const;
      await pods.backend.elicitations.commit(row, { status, settlement: {}, event, guard: 'open' });
      expect((await reader.first(2))[1]).toMatchObject({ type: 'other', event });
    });

    it('reads what it has missed where the wake before that of an end was lost', async () => {
      const { first, pods } = contract;
      const { wakes } = pods.second;
      let isLost = false;
      const losing = busWithoutAsks(wakes, () => isLost);
      const stream = newStream();
      const { row } = await askQuestion(first, stream);
      const reader = await follow(engineOn(pods.second, { wakes: losing }), stream);
      await reader.first(1);
      await askQuestion(first, stream);
      await reader.first(2);
      isLost = true;
      await askQuestion(first, stream);
      await answerQuestion(first, stream, row.id, 'decline');
      expect((await reader.first(4)).map(brief)).toEqual([
        ...Array.from({ length: 3 }, () => 'elicitation-request pending'),
        'elicitation-resolved declined',
      ]);
    });

    it('of a stream without questions waits if it may, and else gets a refusal', async () => {
      const { first, second } = contract;
      const stream = newStream();
      await expectCode(first.watch({ stream, evenIfSilent: false }), 'not_found');
      const reader = await follow(first, stream, { evenIfSilent: true });
      await askQuestion(second, stream);
      expect((await reader.first(1)).map(brief)).toEqual(['elicitation-request pending']);
      const other = { ...stream, userId: 'other' };
      await expectCode(first.watch({ stream: other, evenIfSilent: false }), 'not_found');
    });

    it('finds by polling events whose wake was lost', async () => {
      const stream = newStream();
      await askQuestion(contract.first, stream);
      const reader = await follow(deafEngineOn(contract.pods.second), stream);
      await reader.first(1);
      await askQuestion(contract.first, stream);
      expect(await reader.first(2)).toHaveLength(2);
    });

    it('is released when it disconnects, even when it had disconnected before it began', async () => {
      const stream = newStream();
      await askQuestion(contract.first, stream);
      const stop = new AbortController();
      const reader = await follow(contract.second, stream, { signal: stop.signal });
      await reader.first(1);
      const reason = new Error('gone');
      stop.abort(reason);
      expect(await reader.ended()).toBe(reason);
      const late = await follow(contract.second, stream, { signal: stop.signal });
      expect(await late.ended()).toBe(reason);
    });

    it('ends when the retention of the feed ends', async () => {
      const pods = await contract.openWith({ retentionMs: 3_000 });
      const stream = newStream();
      await askQuestion(engineOn(pods.backend), stream, { timeoutSeconds: 0.05 });
      const reader = await follow(engineOn(pods.second, { settings: { recheckMs: 50 } }), stream);
      expect(await reader.ended()).toBe('done');
      expect(reader.seen.map(brief)).toEqual(['elicitation-request pending']);
    });
  });
}

/** An item without the time of its reading. */
function strip(item: WatchItem): WatchItem {
  if (item.type === 'elicitation') return { ...item, elicitation: { ...item.elicitation, serverTime: '' } };
  return item.type === 'approval' ? { ...item, approval: { ...item.approval, serverTime: '' } } : item;
}
