import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import { bucketOf, bucketOfElicitationId, type Owner } from '@parley/core/domain/ids';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { callOutcome, expectRefusal, readEntries } from '../../../harness/engines/observe.ts';
import {
  answerQuestion,
  askQuestion,
  inputFor,
  newOwner,
  newStream,
  QUESTIONS,
  serviceOf,
  userOf,
} from '../../../harness/engines/questions.ts';

/** What a question is once it was asked, and what cannot be asked. */
export function askingContract(contract: Contract): void {
  describe('a question', () => {
    it('can be read unchanged by its owner and its asker on every pod', async () => {
      const { first, second } = contract;
      const stream = newStream();
      const more = {
        title: 'Colours',
        description: 'Any will do.',
        sensitive: true,
        context: { trigger: 'credential_required', toolId: 'paint', extra: { deep: [1, null] } },
        onUnavailable: { content: { colour: 'white' } },
        conversationId: 'talk',
        timeoutSeconds: 90,
      };
      const { row, now, replayed } = await askQuestion(first, stream, more);
      expect(replayed).toBe(false);
      expect(row).toEqual({
        id: row.id,
        definition: { ...stream, ...QUESTIONS.form, ...more },
        status: 'pending',
        revision: 1,
        createdAt: now,
        expiresAt: now + 90_000,
      });
      expect(bucketOfElicitationId(row.id)).toBe(bucketOf(stream));
      expect((await second.read(userOf(stream), row.id)).row).toEqual(row);
      const seen = await second.read(serviceOf(stream), row.id);
      expect(seen.row).toEqual(row);
      expect(seen.now).toBeGreaterThanOrEqual(now);
    });

    it('gets a stream request and a conversation of its own when it names none', async () => {
      const owner = newOwner();
      const [{ row: one }, { row: other }] = await Promise.all([
        askQuestion(contract.first, owner),
        askQuestion(contract.first, owner),
      ]);
      expect(one.definition.streamRequestId).toMatch(/^sr_/);
      expect(one.definition.conversationId).toBe(one.definition.streamRequestId);
      expect(one.definition.streamRequestId).not.toBe(other.definition.streamRequestId);
      expect(one.id).not.toBe(other.id);
    });

    it('with a url is completed by its answer unless the asker chooses otherwise', async () => {
      const { row } = await askQuestion(contract.first, newOwner(), QUESTIONS['url, client completion']);
      expect(row.definition).toMatchObject({ mode: 'url', completion: 'client' });
    });

    it('without a url gets the connect page of its own id and is completed there', async () => {
      const owner = newOwner();
      const input = inputFor(owner, { mode: 'url', context: { trigger: 'agent', toolId: 'paint' } });
      const request = { tenant: owner.tenant, input, idempotencyKey: `connect.${owner.userId}` };
      const { row } = await contract.first.ask(request);
      const url = `https://parley.example/auth/connect/${row.id}`;
      expect(row.definition).toMatchObject({ mode: 'url', completion: 'server', url });
      const again = await contract.second.ask(request);
      expect(again.row).toEqual(row);
      expect((await answerQuestion(contract.second, owner, row.id, 'accept')).row.status).toBe('opened');
    });

    it('shows no mark of direction, blank without width or tag in the texts that people read', async () => {
      const hidden = 'a\u200e\u200b\u061c\ufeff\u{e0041}b';
      const title = hidden;
      const requestedSchema = schemaOf({ type: 'string', title, description: hidden, enum: [hidden] });
      const context = { trigger: 'agent', agent: hidden };
      const { row } = await askQuestion(contract.first, newOwner(), {
        ...{ message: hidden, title, description: hidden, requestedSchema, context },
      });
      const shown = {
        message: 'ab',
        title: 'ab',
        description: 'ab',
        context: { trigger: 'agent', agent: 'ab' },
      };
      const field = { type: 'string', title: 'ab', description: 'ab', enum: [hidden] };
      expect(row.definition).toMatchObject({ ...shown, requestedSchema: schemaOf(field) });
    });

    it.each<[string, Partial<AskInput>]>([
      ['message', { message: 'x'.repeat(10_001) }],
      ['message', { message: 'a\u0085b' }],
      ['message', { message: '\u200b' }],
      ['message', { message: 'a\u202eb' }],
      ['requestedSchema', { mode: 'form' }],
      [
        'requestedSchema.properties.a.pattern',
        { requestedSchema: schemaOf({ type: 'string', pattern: 'x' }) },
      ],
      ['url', { url: 'https://pages.example/' }],
      ['completion', { completion: 'server' }],
      ['onUnavailable.content.colour', { onUnavailable: { content: { colour: 'mauve' } } }],
      ['context', { context: { trigger: 'agent', toolName: '語'.repeat(3_000) } }],
      ['url', { mode: 'url', url: 'javascript:alert(1)' }],
      ['url', { mode: 'url' }],
      ['completion', { mode: 'url', completion: 'client', context: { trigger: 'agent', toolId: 'paint' } }],
      [
        'requestedSchema',
        { ...QUESTIONS['url, client completion'], requestedSchema: schemaOf({ type: 'string' }) },
      ],
    ])('is refused for its %s, and no question is created', async (path, more) => {
      const stream = newStream();
      const refusal = await expectRefusal(askQuestion(contract.first, stream, more));
      expect(refusal.code).toBe('invalid_request');
      expect(refusal.issues?.map((issue) => issue.path)).toEqual([path]);
      expect(await readEntries(contract.pods.backend.feed, stream)).toEqual([]);
    });

    it.each([
      ['too many are open', { openPerUserMax: 5 }, 16, 5],
      ['those that are open are too large', { openBytesPerUserMax: 28_000 }, 16, 5],
    ])(
      'is refused when %s, over two pods, and accepted once one of them ends',
      async (_, bound, count, most) => {
        const pods = await contract.openWith(bound);
        const engines = [engineOn(pods.backend), engineOn(pods.second)];
        const owner = newOwner();
        const ask = (at: number, by: Owner = owner) =>
          callOutcome(askQuestion(engines[at % 2] ?? contract.first, by, { message: 'x'.repeat(5_000) }));
        const ends = await Promise.all(Array.from({ length: count }, (_, at) => ask(at)));
        const asked = ends.flatMap((end) => ('value' in end ? [end.value.row] : []));
        expect(asked).toHaveLength(most);
        for (const end of ends) {
          if ('refusal' in end)
            expect(end.refusal).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 10 });
        }
        expect(await ask(0, { ...owner, userId: 'somebody else' })).toHaveProperty('value');
        await answerQuestion(engines[0] ?? contract.first, owner, asked[0]?.id ?? '', 'decline');
        expect(await ask(1)).toHaveProperty('value');
        expect(await ask(0)).toMatchObject({ refusal: { code: 'rate_limited' } });
      },
    );
  });

  describe('the timer of a question', () => {
    it('is armed for its deadline, armed again by a repeated ask, and disarmed when it ends', async () => {
      const calls: unknown[][] = [];
      const timers = {
        schedule: (id: string, delayMs: number) => void calls.push(['schedule', id, delayMs]),
        cancel: (id: string) => void calls.push(['cancel', id]),
      };
      const engine = engineOn(contract.pods.backend, { timers });
      const owner = newOwner();
      const request = {
        tenant: owner.tenant,
        input: { ...QUESTIONS.form, userId: owner.userId },
        idempotencyKey: 'k',
      };
      const { row } = await engine.ask(request);
      expect(calls).toEqual([['schedule', row.id, 600_000]]);
      // The process of the first ask may be gone.
      const again = await engine.ask(request);
      expect(calls.slice(1)).toEqual([['schedule', row.id, again.row.expiresAt - again.now]]);
      await answerQuestion(engine, owner, row.id, 'cancel');
      await answerQuestion(engine, owner, row.id, 'cancel');
      await engine.ask(request);
      expect(calls.slice(2)).toEqual([['cancel', row.id]]);
    });
  });
}

function schemaOf(field: Record<string, unknown>): Record<string, unknown> {
  return { type: 'object', properties: { a: field } };
}
