import { randomUUID } from 'node:crypto';
import { mintStreamRequestId, type Owner } from '@parley/core/domain/ids';
import type { Message } from '@parley/shared/domain/runs/run';
import type { ChatQuotas } from '@parley/shared/ports/backend';
import type { NewRun, RunWrite } from '@parley/shared/ports/runs/runs';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { answerQuestion, askQuestion, newOwner } from '../../../harness/engines/questions.ts';
import { ROOMY } from '../../../harness/engines/settings.ts';
import { textWrite, turnOf } from '../../../harness/engines/turn-writes.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const A_DAY_MS = 86_400_000;
const BEGUN = { type: 'begun' };

function saying(owner: Owner, conversationId: string, content: string): NewRun {
  return { ...turnOf(owner, conversationId), input: [{ role: 'user', content }] };
}

function endWith(messages: readonly Message[] = []): RunWrite {
  return textWrite(2, 2, { end: { status: 'finished', messages } });
}

function overQuota(quota: string) {
  return { type: 'over-quota', of: 'user', quota, retryInMs: expect.any(Number) };
}

/** What the chats of one person may use. */
export function quotaContract(contract: Contract): void {
  const openWith = (
    quotas: Partial<ChatQuotas>,
    more: { retentionMs?: number; conversationTtlMs?: number } = {},
  ) => contract.openWith({ ...more, chatQuotas: { ...ROOMY.chatQuotas, ...quotas } });

  describe('the quotas of a person', () => {
    it('are read with what is used of them', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      const [first, other] = [saying(owner, 'one', 'x'.repeat(100)), saying(owner, 'two', 'y')];
      for (const turn of [first, other]) await backend.runs.begin(turn);
      const use = await second.conversations.usage(owner);
      expect(use).toEqual({ turns: 2, tokens: 0, conversations: 2, storedBytes: expect.any(Number) });
      expect(use.storedBytes).toBeGreaterThan(100);
      await backend.runs.write(first, endWith());
      expect(await second.conversations.usage(owner)).toMatchObject({ turns: 1, conversations: 2 });
      const nothing = { turns: 0, tokens: 0, conversations: 0, storedBytes: 0 };
      expect(await second.conversations.usage(newOwner())).toEqual(nothing);
    });

    it('bound the turns at once, over two pods, until one of them ends', async () => {
      const { backend, second } = await openWith({ turnsMax: 5 });
      const owner = newOwner();
      const turns = Array.from({ length: 20 }, (_, at) => turnOf(owner, `talk-${at}`));
      const results = await Promise.all(
        turns.map((turn, at) => (at % 2 === 0 ? backend : second).runs.begin(turn)),
      );
      const begun = turns.filter((_, at) => results[at]?.type === 'begun');
      expect(begun).toHaveLength(5);
      const next = turnOf(owner, 'next');
      expect(await second.runs.begin(next)).toEqual(overQuota('turns'));
      const [first] = begun as [NewRun];
      // The same call again gets its turn, and other people and turns of nobody are not concerned.
      expect(await backend.runs.begin(first)).toMatchObject(BEGUN);
      expect(await backend.runs.begin(turnOf(newOwner()))).toMatchObject(BEGUN);
      const unattended = { form: false, url: false, unattended: true } as const;
      expect(await backend.runs.begin({ ...turnOf(owner, 'nobody'), support: unattended })).toMatchObject(
        BEGUN,
      );
      const { streamRequestId } = first;
      const delegate = { ...turnOf(owner, 'delegate'), parent: { streamRequestId, toolCallId: 'call' } };
      expect(await backend.runs.begin(delegate)).toMatchObject(BEGUN);
      expect(await second.runs.begin(next)).toEqual(overQuota('turns'));
      expect(await second.runs.write(first, endWith())).toBe('written');
      expect(await backend.runs.begin(next)).toMatchObject(BEGUN);
      expect(await backend.runs.begin(turnOf(owner, 'one more'))).toEqual(overQuota('turns'));
    });

    it('count no turn that is detached, and count it again when it is resumed', async () => {
      const { backend, second } = await openWith({ turnsMax: 1 });
      const engine = engineOn(backend);
      const waiting = turnOf(newOwner());
      await backend.runs.begin(waiting);
      const { row } = await askQuestion(engine, waiting);
      const detach = { questions: [row.id], runs: [] };
      const events = [{ type: 'turn-detached' }] as const;
      expect(await backend.runs.write(waiting, { term: 1, firstSeq: 2, events, detach })).toBe('written');
      const next = turnOf(waiting, 'next');
      expect(await second.runs.begin(next)).toMatchObject(BEGUN);
      await second.runs.write(next, endWith());
      await answerQuestion(engine, waiting, row.id, 'decline');
      // The end of the wait may have queued it already.
      await second.runs.takeOver(waiting, 2, 'pod-b');
      expect((await backend.runs.standing(waiting))?.term).toBe(3);
      expect(await backend.runs.begin(turnOf(waiting, 'third'))).toEqual(overQuota('turns'));
      const end = { ...endWith(), term: 3, firstSeq: 3 };
      expect(await second.runs.write(waiting, end)).toBe('written');
    });

    it('bound the tokens of models in a day: a turn that runs goes on, the next is refused', async () => {
      const { backend, second } = await openWith({ tokensMax: 100 });
      const owner = newOwner();
      const turn = turnOf(owner, 'talk-1');
      await backend.runs.begin(turn);
      const step = { messages: [], finishReason: 'stop', inputTokens: 50, outputTokens: 30 };
      const taking = (number: number): RunWrite => ({
        term: 1,
        number,
        firstSeq: 2,
        events: [],
        notes: [{ type: 'step', index: number, step }],
      });
      expect(await backend.runs.write(turn, taking(1))).toBe('written');
      // The same write, sent again.
      expect(await backend.runs.write(turn, taking(1))).toBe('written');
      expect(await second.runs.begin(turnOf(owner, 'talk-2'))).toMatchObject(BEGUN);
      expect(await backend.runs.write(turn, taking(2))).toBe('written');
      const refused = await second.runs.begin(turnOf(owner, 'talk-3'));
      expect(refused).toEqual(overQuota('tokens'));
      const { retryInMs } = refused as { retryInMs: number };
      expect(retryInMs).toBeGreaterThan(A_DAY_MS - 600_000);
      expect(retryInMs).toBeLessThanOrEqual(A_DAY_MS);
      expect(await backend.runs.begin(turnOf(newOwner()))).toMatchObject(BEGUN);
    });

    it.each([
      ['tokensMax', 'tokens'],
      ['storedBytesMax', 'storage'],
      ['turnsMax', undefined],
    ] as const)(
      'refuse before a turn of the same conversation does, as that may end for this one: %s',
      async (quota, refused) => {
        const { backend, second } = await openWith({ [quota]: quota === 'turnsMax' ? 1 : 1_000 });
        const running = turnOf(newOwner(), 'talk');
        await backend.runs.begin(running);
        const step = { messages: [], finishReason: 'stop', inputTokens: 1_000 };
        const notes = [{ type: 'step', index: 0, step }] as const;
        await backend.runs.write(running, { ...textWrite(2, 2), notes });
        const next = saying(running, 'talk', 'x'.repeat(1_000));
        const { streamRequestId } = running;
        expect(await second.runs.begin(next)).toMatchObject(
          refused === undefined ? { type: 'running', streamRequestId } : overQuota(refused),
        );
      },
    );

    it('count an estimate where a model reports no tokens, and only there', async () => {
      const { backend } = await openWith({ tokensMax: 100 });
      const step = { messages: [], finishReason: 'stop', estimatedTokens: 100 };
      const begunAfter = async (more: object) => {
        const owner = newOwner();
        const turn = turnOf(owner, 'talk-1');
        await backend.runs.begin(turn);
        const notes = [{ type: 'step', index: 1, step: { ...step, ...more } } as const];
        const write: RunWrite = { term: 1, number: 1, firstSeq: 2, events: [], notes };
        expect(await backend.runs.write(turn, write)).toBe('written');
        return backend.runs.begin(turnOf(owner, 'talk-2'));
      };
      expect(await begunAfter({})).toEqual(overQuota('tokens'));
      expect(await begunAfter({ outputTokens: 3 })).toMatchObject(BEGUN);
    });

    it('bound the stored conversations, and admit turns in those that exist', async () => {
      const { backend, second } = await openWith({ conversationsMax: 2 });
      const owner = newOwner();
      for (const conversationId of ['one', 'two']) {
        const turn = turnOf(owner, conversationId);
        await backend.runs.begin(turn);
        await backend.runs.write(turn, endWith());
      }
      expect(await second.runs.begin(turnOf(owner, 'three'))).toEqual(overQuota('conversations'));
      expect(await second.runs.begin(turnOf(owner, 'two'))).toMatchObject(BEGUN);
    });

    it('count an unlisted turn, its tokens and its bytes, but no conversation', async () => {
      const quotas = { turnsMax: 1, tokensMax: 100, conversationsMax: 1, storedBytesMax: 50_000 };
      const { backend, second } = await openWith(quotas);
      const owner = newOwner();
      const task = (content = 'Hello') =>
        ({ ...saying(owner, randomUUID(), content), unlisted: true }) as const;
      const chat = saying(owner, 'chat', 'Hello');
      await backend.runs.begin(chat);
      const tasks = [task(), task(), task()] as const;
      expect(await backend.runs.begin(tasks[0])).toEqual(overQuota('turns'));
      await backend.runs.write(chat, endWith());
      for (const one of tasks.slice(0, 2)) {
        expect(await backend.runs.begin(one)).toMatchObject(BEGUN);
        expect(await second.runs.begin(saying(owner, 'chat', 'Hello'))).toEqual(overQuota('turns'));
        await second.runs.write(one, endWith([{ role: 'assistant', content: 'x'.repeat(20_000) }]));
      }
      expect(await second.runs.begin(saying(owner, 'other', 'Hello'))).toEqual(overQuota('conversations'));
      expect(await backend.runs.begin(task('x'.repeat(15_000)))).toEqual(overQuota('storage'));
      expect(await backend.runs.begin(tasks[2])).toMatchObject(BEGUN);
      const step = { messages: [], finishReason: 'stop', inputTokens: 100 };
      await backend.runs.write(tasks[2], { ...endWith(), notes: [{ type: 'step', index: 0, step }] });
      expect(await second.runs.begin(task())).toEqual(overQuota('tokens'));
    });

    it('bound the stored bytes: inputs, records, feeds and histories', async () => {
      const { backend, second } = await openWith({ storedBytesMax: 100_000 });
      const owner = newOwner();
      const long = 'x'.repeat(30_000);
      expect(await backend.runs.begin(saying(owner, 'huge', long.repeat(4)))).toEqual(overQuota('storage'));
      const turn = saying(owner, 'one', long);
      expect(await backend.runs.begin(turn)).toMatchObject(BEGUN);
      const step = { messages: [{ role: 'assistant', content: long } as const], finishReason: 'stop' };
      const notes = [{ type: 'step', index: 0, step }] as const;
      await backend.runs.write(turn, { ...textWrite(2, 3), notes });
      // The same note again takes no further space.
      await backend.runs.write(turn, { ...textWrite(4, 4), notes });
      await backend.runs.write(turn, { ...endWith(), firstSeq: 5 });
      expect(await second.runs.begin(saying(owner, 'two', long))).toMatchObject(BEGUN);
      expect(await second.runs.begin(saying(owner, 'three', long))).toEqual(overQuota('storage'));
      expect(await second.runs.begin(saying(newOwner(), 'three', long))).toMatchObject(BEGUN);
    });

    it('count what a conversation still remembers', async () => {
      const pods = await contract.openWith({
        historyMessagesMax: 2,
        chatQuotas: { ...ROOMY.chatQuotas, storedBytesMax: 100_000 },
      });
      const owner = newOwner();
      const message: Message = { role: 'assistant', content: 'x'.repeat(20_000) };
      for (let round = 0; round < 6; round += 1) {
        const turn = { ...turnOf(owner), streamRequestId: mintStreamRequestId() };
        expect(await pods.backend.runs.begin(turn)).toMatchObject(BEGUN);
        await pods.backend.runs.write(turn, endWith([message]));
      }
      expect(await pods.second.runs.begin(saying(owner, 'two', 'x'.repeat(55_000)))).toMatchObject(BEGUN);
      expect(await pods.second.runs.begin(saying(owner, 'three', 'x'.repeat(5_000)))).toEqual(
        overQuota('storage'),
      );
    });

    it('are free again when what is stored expires', async () => {
      const times = { retentionMs: 3_000, conversationTtlMs: 3_000 };
      const { backend, second } = await openWith({ storedBytesMax: 50_000, conversationsMax: 1 }, times);
      const owner = newOwner();
      const turn = saying(owner, 'one', 'x'.repeat(30_000));
      await backend.runs.begin(turn);
      await backend.runs.write(turn, endWith());
      const next = saying(owner, 'two', 'x'.repeat(30_000));
      expect(await second.runs.begin(next)).toEqual(overQuota('conversations'));
      await waitUntil(async () => (await second.runs.begin(next)).type === 'begun', {
        what: 'the first conversation to expire',
      });
    });
  });
}
