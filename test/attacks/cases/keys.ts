import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectProblem, type Request } from '../../harness/attacks/call.ts';
import { openStream } from '../../harness/attacks/stream.ts';
import {
  newPerson,
  type Person,
  POST_ASK,
  question,
  SCOPED_KEYS,
  type World,
} from '../../harness/attacks/world.ts';
import { waitUntil } from '../../harness/wait-until.ts';

type KeyName = keyof typeof SCOPED_KEYS;

const OPERATED = [
  'overview',
  'changes',
  'person',
  'conversation',
  'questions',
  'approvals',
  'turns',
  'deliveries',
  'why',
  'takeBack',
  'stop',
] as const;

export function keyAttacks(world: () => World): void {
  const callWith = (key: KeyName, request: Request) => world().call({ ...request, token: SCOPED_KEYS[key] });

  describe('service keys with scopes', () => {
    let owner: Person;
    let asked: Elicitation;

    beforeAll(async () => {
      owner = await newPerson();
      asked = await world().ask(owner);
    });

    const calls = (): Record<string, Request> => ({
      ask: { ...POST_ASK, body: question(owner.userId) },
      read: { path: `/v1/elicitations/${asked.elicitationId}` },
      list: { path: `/v1/elicitations?userId=${owner.userId}` },
      wait: { path: `/v1/elicitations/${asked.elicitationId}/wait?timeoutSeconds=0` },
      complete: { method: 'POST', path: `/v1/elicitations/${asked.elicitationId}/complete` },
      withdraw: { method: 'DELETE', path: `/v1/elicitations/${asked.elicitationId}` },
      follow: { path: `/v1/streams/${asked.streamRequestId}/events?userId=${owner.userId}` },
      link: { method: 'POST', path: `/v1/elicitations/${asked.elicitationId}/answer-link` },
      unlink: { method: 'DELETE', path: `/v1/elicitations/${asked.elicitationId}/answer-link` },
      overview: { path: '/v1/admin/overview' },
      changes: { path: '/v1/admin/events' },
      installation: { path: '/v1/admin/installation' },
      person: { path: '/v1/admin/people/u' },
      conversation: { path: '/v1/admin/conversations/c?userId=u' },
      questions: { path: '/v1/admin/elicitations' },
      approvals: { path: '/v1/admin/approvals' },
      turns: { path: '/v1/admin/turns' },
      deliveries: { path: '/v1/admin/deliveries' },
      why: { path: `/v1/admin/elicitations/${asked.elicitationId}/why` },
      takeBack: { method: 'DELETE', path: `/v1/admin/elicitations/${asked.elicitationId}` },
      stop: { method: 'POST', path: '/v1/admin/turns/sr_x/stop?userId=u' },
      letters: { path: '/v1/webhooks/dead-letters' },
      redrive: { method: 'POST', path: '/v1/webhooks/dead-letters/msg_el_x/redrive' },
    });

    it.each([
      ['asker', ['ask', 'read', 'wait', 'complete', 'withdraw', 'redrive']],
      ['reader', ['read', 'list', 'wait', 'follow', 'letters']],
      ['talker', []],
      ['linker', ['link', 'unlink']],
      ['operator', ['letters', 'redrive', ...OPERATED]],
      [
        'chief',
        [
          ...['ask', 'read', 'list', 'wait', 'complete', 'withdraw', 'follow'],
          ...['link', 'unlink', 'installation', 'letters', 'redrive', ...OPERATED],
        ],
      ],
    ] as const)('%s may make only the calls of its scopes', async (name, allowed) => {
      asked = await world().ask(owner);
      for (const [what, request] of Object.entries(calls())) {
        const reply = await callWith(name, request);
        if ((allowed as readonly string[]).includes(what)) {
          expect([401, 403], `${what}: ${reply.text}`).not.toContain(reply.status);
          continue;
        }
        expect(expectProblem(reply, 403, 'forbidden').detail).toContain('scope');
      }
    });

    it('gives one reply to a key without the scope, whether the elicitation exists or not', async () => {
      const texts = await Promise.all(
        [asked.elicitationId, 'el_none', '%00'].map(async (id) => {
          const reply = await callWith('talker', { path: `/v1/elicitations/${id}` });
          return `${reply.status} ${reply.text}`;
        }),
      );
      expect(new Set(texts).size).toBe(1);
    });

    it('refuses a key after its expiry as it refuses an unknown key', async () => {
      const path = calls().read?.path ?? '';
      const [expired, unknown] = [
        await callWith('expired', { path }),
        await world().call({ path, token: 'a-key-that-nobody-was-given' }),
      ];
      expectProblem(expired, 401, 'unauthenticated');
      expect(expired.text).toBe(unknown.text);
    });

    it('names the key in the log of what it did, and never its secret', async () => {
      const reply = await callWith('asker', { ...POST_ASK, body: question(owner.userId) });
      const { elicitationId } = reply.json as Elicitation;
      await callWith('asker', { method: 'DELETE', path: `/v1/elicitations/${elicitationId}` });
      const lines = () =>
        world().pods.flatMap((pod) => pod.lines.filter((line) => line.includes(elicitationId)));
      await waitUntil(() => lines().length >= 2, { what: 'the log lines' });
      expect(lines().map((line) => JSON.parse(line))).toMatchObject([
        { msg: 'elicitation asked', askedBy: 'asker' },
        { msg: 'elicitation withdrawn', askedBy: 'asker', settledBy: 'asker' },
      ]);
      const all = world()
        .pods.flatMap(({ lines: every, stderr }) => [...every, ...stderr])
        .join('\n');
      for (const secret of Object.values(SCOPED_KEYS)) expect(all).not.toContain(secret);
    });

    it('is named to nobody outside where a question names its agent', async () => {
      const context = { trigger: 'agent', agent: 'Helper' };
      const reply = await callWith('asker', { ...POST_ASK, body: { ...question(owner.userId), context } });
      const { elicitationId, streamRequestId } = reply.json as Elicitation;
      const stream = await openStream(world().pods[1], `/v1/streams/${streamRequestId}/events`, owner.token);
      const body = { reason: 'superseded' };
      await callWith('asker', { method: 'DELETE', path: `/v1/elicitations/${elicitationId}`, body });
      await stream.event(1);
      stream.close();
      const read = await world().call({ path: `/v1/elicitations/${elicitationId}`, token: owner.token });
      for (const text of [reply.text, read.text, stream.text()]) expect(text).not.toContain('asker');
    });
  });
}
