import { setTimeout as sleep } from 'node:timers/promises';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import { silentObserver } from '@parley/shared/observe/observer';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { callOutcome, readEntries } from '../../../harness/engines/observe.ts';
import {
  answerQuestion,
  askOnStream,
  QUESTIONS,
  send,
  serviceOf,
} from '../../../harness/engines/questions.ts';
import { COLUMNS } from '../../../harness/tables/elicitation-transitions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

/** Exactly one terminal state, whichever callers race for it. */
export function racingContract(contract: Contract): void {
  describe('a race', () => {
    it('of all commands ends in one state, with one event', async () => {
      const { pods } = contract;
      const settled: string[] = [];
      const observer = { ...silentObserver, settled: ({ id }: { id: string }) => void settled.push(id) };
      const engines = [engineOn(pods.backend, { observer }), engineOn(pods.second, { observer })];
      const kind = 'url, server completion';
      const ids = await Promise.all(
        Array.from({ length: 12 }, async () => {
          const { stream, row } = await askOnStream(contract.first, QUESTIONS[kind]);
          const racers = [...COLUMNS, ...COLUMNS].filter(
            (column) => column !== 'other' && column !== 'wrong',
          );
          await Promise.all(
            racers.map((column, at) =>
              callOutcome(send(engines[at % 2] ?? contract.first, stream, row.id, kind, column)),
            ),
          );
          const statuses = (await readEntries(pods.backend.feed, stream)).map(
            ({ event }) => 'status' in event && event.status,
          );
          const after = (await contract.second.read(serviceOf(stream), row.id)).row;
          expect(isTerminal(after.status)).toBe(true);
          expect(statuses).toEqual(
            after.revision === 3 ? ['pending', 'opened', after.status] : ['pending', after.status],
          );
          return row.id;
        }),
      );
      expect(settled.sort()).toEqual(ids.sort());
    });

    it('between answer and deadline has one outcome, never both', async () => {
      const { first, second, pods } = contract;
      await Promise.all(
        Array.from({ length: 24 }, async (_, at) => {
          const { stream, row, now } = await askOnStream(first, { timeoutSeconds: 0.25 });
          await sleep(row.expiresAt - now - 12 + at);
          const given = callOutcome(answerQuestion(second, stream, row.id, 'accept', { colour: 'red' }));
          await waitUntil(async () => ['expired', 'ended'].includes((await first.expire(row.id)).type), {
            what: 'the end',
            everyMs: 1,
          });
          const end = await given;
          const after = (await first.read(serviceOf(stream), row.id)).row;
          const { settledAt = Number.NaN } = after;
          if ('value' in end) {
            expect(end.value.row).toEqual(after);
            expect(after.status).toBe('accepted');
            expect(settledAt).toBeLessThan(after.expiresAt);
          } else {
            expect(end.refusal).toMatchObject({ code: 'expired', elicitation: { status: 'expired' } });
            expect(after.status).toBe('expired');
            expect(settledAt).toBeGreaterThanOrEqual(after.expiresAt);
          }
          expect(await readEntries(pods.backend.feed, stream)).toHaveLength(2);
        }),
      );
    });
  });
}
