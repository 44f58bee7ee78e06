import { expect, it } from 'vitest';
import type { AdminDeps } from '../../../services/api/src/surfaces/admin/deps.ts';
import { serviceOwner } from '../../../services/api/src/turns/principal.ts';
import { expectProblem } from '../../harness/attacks/call.ts';
import { requestApproval } from '../../harness/engines/approvals.ts';
import { describeOnRedis } from '../../harness/engines/describe-on-redis.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { askQuestion, newOwner, newStream } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { textWrite, turnOf } from '../../harness/engines/turn-writes.ts';
import { adminKeyOf, serveAdmin } from '../../harness/http/admin.ts';

const ACCOUNTS = [
  { toolId: 'tracker', service: 'Issue tracker', state: 'connected' },
] as const satisfies Awaited<ReturnType<AdminDeps['accountsOf']>>;

await describeOnRedis('people and conversations', (pods) => {
  const engine = engineOn(pods.backend);
  const { runs } = pods.backend;

  async function site() {
    const alice = { ...newOwner(), userId: 'alice/ü@example.com' };
    const stranger = newOwner();
    const asked: unknown[] = [];
    const more = {
      accountsOf: async (owner: unknown) => {
        asked.push(owner);
        return ACCOUNTS;
      },
      streamsOf: async () => ['inbox'],
      channel: { name: 'slack', isLinked: async () => true },
    };
    const served = await serveAdmin(pods.second, [alice, stranger], { more });
    const read = async (path: string, scopes = 'operate') => {
      const reply = await served.get(path, adminKeyOf(alice, scopes));
      expect(reply.status, reply.text).toBe(200);
      return { ...(reply.json as Record<string, unknown>), text: reply.text };
    };
    return { alice, stranger, asked, served, read, person: `/people/${encodeURIComponent(alice.userId)}` };
  }

  /** Two turns of a conversation: one that has ended, and one that runs. */
  async function talk(owner: { tenant: string; userId: string }) {
    const [first, second] = ['a secret wish', 'a second secret'].map((content) => ({
      ...turnOf(owner, 'trip'),
      input: [{ role: 'user' as const, content }],
      title: 'a secret title',
    }));
    if (first === undefined || second === undefined) throw new Error('There are two turns.');
    await runs.begin(first);
    const messages = [...first.input, { role: 'assistant' as const, content: 'a secret reply' }];
    await runs.write(first, textWrite(2, 2, { end: { status: 'finished', messages } }));
    await runs.begin(second);
    return [first.streamRequestId, second.streamRequestId] as const;
  }

  it('show what waits for one person, their turns, conversations, accounts and quotas, and nobody else', async () => {
    const { alice, stranger, asked, served, read, person } = await site();
    const question = await askQuestion(engine, alice, { message: 'A secret?' });
    const approval = await requestApproval(engine, newStream(alice), { arguments: { booking: 'secret' } });
    const bob = { ...alice, userId: 'bob' };
    await askQuestion(engine, bob);
    await askQuestion(engine, { ...stranger, userId: alice.userId });
    const [ended, running] = await talk(alice);
    await talk(bob);
    const { text, ...shown } = await read(person);
    const max = ROOMY.chatQuotas;
    expect(shown).toEqual({
      userId: alice.userId,
      elicitations: [expect.objectContaining({ elicitationId: question.row.id })],
      approvals: [expect.objectContaining({ approvalId: approval.row.id })],
      turns: expect.arrayContaining([
        expect.objectContaining({ streamRequestId: ended, state: 'finished', userId: alice.userId }),
        expect.objectContaining({ streamRequestId: running }),
      ]),
      conversations: [
        { conversationId: 'trip', agent: 'helper', latestTurnAt: expect.any(String), isRunning: true },
      ],
      accounts: ACCOUNTS,
      isLinked: true,
      openStreams: ['inbox'],
      quotas: {
        turns: { used: 1, max: max.turnsMax },
        tokens: { used: 0, max: max.tokensMax },
        conversations: { used: 1, max: max.conversationsMax },
        storedBytes: { used: expect.any(Number), max: max.storedBytesMax },
      },
    });
    expect(shown).toHaveProperty('turns.length', 2);
    expect(asked).toEqual([alice]);
    expect(text).not.toContain('secret');
    const whole = await read(person, 'operate+read_content');
    expect(whole).toMatchObject({ conversations: [{ title: 'a secret title' }] });
    expect(whole.text).toContain('A secret?');
    const theirs = await served.get(person, adminKeyOf(stranger, 'operate'));
    expect(theirs.json).toMatchObject({ turns: [], conversations: [], approvals: [] });
    expect(await read('/people/nobody')).toMatchObject({ elicitations: [], turns: [], conversations: [] });
    expectProblem(await served.get(`/people/${'x'.repeat(256)}`), 404, 'not_found');
    served.close();
  });

  it('show the turns of a conversation one after the other, and their texts only with the scope', async () => {
    const { alice, stranger, served, read } = await site();
    const [ended, running] = await talk(alice);
    const path = `/conversations/trip?userId=${encodeURIComponent(alice.userId)}`;
    const { text, ...shown } = await read(path);
    expect(shown).toEqual({
      conversationId: 'trip',
      turns: [
        { streamRequestId: ended, turn: expect.objectContaining({ state: 'finished' }) },
        { streamRequestId: running, turn: expect.objectContaining({ streamRequestId: running }) },
      ],
    });
    expect(text).not.toContain('secret');
    expect(await read(path, 'operate+read_content')).toMatchObject({
      turns: [
        {
          messages: [
            { role: 'user', text: 'a secret wish' },
            { role: 'assistant', text: 'a secret reply' },
          ],
        },
        { messages: [] },
      ],
    });
    const [ofKey] = await talk(serviceOwner(alice.tenant, 'key-2'));
    expect(await read('/conversations/trip?key=key-2')).toMatchObject({
      turns: [{ streamRequestId: ofKey, turn: { key: 'key-2' } }, {}],
    });
    for (const [at, token] of [
      [path, adminKeyOf(stranger, 'operate')],
      ['/conversations/trip?userId=bob', undefined],
      ['/conversations/..%2f?userId=bob', undefined],
    ] as const)
      expectProblem(await served.get(at, token), 404, 'not_found');
    expectProblem(await served.get('/conversations/trip'), 400, 'invalid_request');
    served.close();
  });
});
