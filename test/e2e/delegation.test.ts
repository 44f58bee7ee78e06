import { CallRecord } from '@parley/shared/domain/runs/run';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptedReply, Turn } from '../../stand-ins/scripted-model/script.ts';
import {
  type Asked,
  createChatClient,
  person,
  questionsIn,
  SECRET,
  textOf,
  type Watched,
} from '../harness/chat/client.ts';
import { openSite, type Site, type SitePod } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';

let site: Site;
let config: string;
let pods: SitePod[] = [];
let redis: Redis;

const CHATS = 6;

const AGENTS = `
  lead:
    title: Lead
    model: scripted
    instructions: lead
    delegates: [{ agent: scout, description: Looks around. }, { agent: buyer, description: Buys things. }]
  scout:
    title: Scout
    model: scripted
    instructions: scout
    delegates: [{ agent: local, description: Knows the place. }]
  local: { title: Local guide, model: scripted, instructions: local, elicit: true }
  buyer: { title: Buyer, model: scripted, instructions: buyer, elicit: true }
`;

/** The lead delegates to two agents at once, one of which delegates further; the last agents ask. */
function line({ system, results }: Turn): ScriptedReply {
  if (results.length > 0) return { text: `${system}(${results.map(({ text }) => text).join(' ')})` };
  const to = (agent: string) => ({ name: `delegate_to_${agent}`, arguments: { task: 'Help out.' } });
  if (system === 'lead') return { calls: [to('scout'), to('buyer')] };
  if (system === 'scout') return { calls: [to('local')] };
  return { calls: [{ name: 'elicit', arguments: { kind: 'text', message: `What does ${system} need?` } }] };
}

beforeAll(async () => {
  site = await openSite();
  redis = new Redis(site.redis.url);
  config = site.agents(
    (await site.model({ script: [line] })).url,
    `agents:${AGENTS}
defaultAgent: lead
`,
  );
});
afterAll(async () => {
  redis?.disconnect();
  await site?.stop();
});

const { say, resume, post } = createChatClient((pod) => pods[pod]?.url ?? '');

/** Waits until a chat shows both questions as open; returns them by the title of the asking agent. */
async function untilBothAsk({ seen }: Watched): Promise<Readonly<Record<string, Asked>>> {
  const open = () => questionsIn(seen.message).filter(({ status }) => status === 'pending');
  await waitUntil(() => open().length === 2, { what: 'both questions' });
  return Object.fromEntries(open().map((asked) => [asked.context.agent, asked]));
}

/** The pods that work on a turn and on its delegates, at any depth. */
async function podsOf(streamRequestId: string): Promise<string[]> {
  const [key] = await redis.keys(`parley:{*}:run:*/${streamRequestId}`);
  const { owner = '', ...fields } = await redis.hgetall(key ?? '');
  const calls = Object.keys(fields).filter((name) => name.startsWith('call:'));
  const delegated = calls.flatMap((name) => CallRecord.parse(JSON.parse(fields[name] ?? '')).run ?? []);
  return [owner, ...(await Promise.all(delegated.map(podsOf))).flat()];
}

describe.each([
  ['same-pod', 2],
  ['any-pod', 3],
] as const)('agents that delegate (%s), over %i pods', (place, count) => {
  beforeAll(async () => {
    // A pod on a busy machine must not be mistaken for a dead one.
    const lease = { PARLEY_LEASE_MS: '10000' };
    const env = { ...lease, PARLEY_CONFIG: config, PARLEY_JWT_SECRET: SECRET, PARLEY_DELEGATES: place };
    pods = await Promise.all(Array.from({ length: count }, () => site.pod(env)));
  });
  afterAll(() => site.clear());

  it('run where they are placed, each once, and every answer reaches its asker', async () => {
    const chats = await Promise.all(
      Array.from({ length: CHATS }, async (_, at) => {
        const { authorization } = await person();
        const chatId = `many-${at}`;
        const chat = await say({ authorization, text: 'go', chatId, pod: at % count });
        const asked = await untilBothAsk(chat);
        for (const [agent, { elicitationId }] of Object.entries(asked)) {
          const answer = {
            conversationId: chatId,
            elicitationId,
            action: 'accept',
            content: { answer: agent },
          };
          expect(
            (await post((at + 1) % count, '/run/api/elicitation-responses', authorization, answer)).status,
          ).toBe(200);
        }
        const text = textOf(await chat.done);
        return { text, pods: await podsOf(asked.Buyer?.streamRequestId ?? '') };
      }),
    );
    for (const { text, pods: workers } of chats) {
      expect(text).toMatch(/^lead\(scout\(local\(.*Local guide.*\)\) buyer\(.*Buyer.*\)\)$/);
      expect(workers).toHaveLength(4);
    }
    const moved = chats.filter(({ pods: [own, ...others] }) => others.some((pod) => pod !== own));
    if (place === 'same-pod') expect(moved).toEqual([]);
    else expect(moved.length).toBeGreaterThan(0);
    expect(new Set(chats.flatMap((chat) => chat.pods)).size).toBe(count);
  });

  // Those that stay on one pod do the same with less between them.
  if (place === 'same-pod') return;

  it('ask concurrently on the stream of their turn, and accept answers in any order from any pod', async () => {
    const { authorization } = await person();
    const chat = await say({ authorization, text: 'go', chatId: 'c1', pod: 0 });
    const asked = await untilBothAsk(chat);
    const reader = await resume(2, authorization, 'c1');
    if (reader === undefined) throw new Error('No turn runs.');
    expect(Object.keys(await untilBothAsk(reader)).sort()).toEqual(['Buyer', 'Local guide']);
    for (const [pod, agent] of [
      [1, 'Buyer'],
      [2, 'Local guide'],
    ] as const) {
      const answer = {
        conversationId: 'c1',
        elicitationId: asked[agent]?.elicitationId,
        action: 'accept',
        content: { answer: `${agent} on ${pod}` },
      };
      const reply = await post(pod, '/run/api/elicitation-responses', authorization, answer);
      expect(reply.status).toBe(200);
    }
    for (const watched of [chat, reader]) {
      const message = await watched.done;
      expect(textOf(message)).toMatch(
        /^lead\(scout\(local\(.*Local guide on 2.*\)\) buyer\(.*Buyer on 1.*\)\)$/,
      );
      expect(questionsIn(message).map(({ status }) => status)).toEqual(['accepted', 'accepted']);
    }
  });

  it('end together when the turn is stopped on another pod, and their questions are withdrawn', async () => {
    const { authorization } = await person();
    const chat = await say({ authorization, text: 'go', chatId: 'c1', pod: 0 });
    await untilBothAsk(chat);
    expect(await (await post(1, '/run/api/chat/c1/stop', authorization)).json()).toEqual({ stopped: true });
    const message = await chat.done;
    expect(questionsIn(message).map(({ status }) => status)).toEqual(['withdrawn', 'withdrawn']);
    const open = await fetch(`${pods[2]?.url}/v1/elicitations?status=pending`, {
      headers: { authorization },
    });
    expect(await open.json()).toMatchObject({ elicitations: [] });
    expect(await resume(2, authorization, 'c1')).toBeUndefined();
  });

  it('fall back to text for a client that cannot show questions', async () => {
    const { authorization } = await person();
    const chat = await say({ authorization, text: 'go', chatId: 'c1', pod: 1, supports: 'url' });
    const message = await chat.done;
    expect(questionsIn(message)).toEqual([]);
    expect(textOf(message).match(/cannot show questions/g)).toHaveLength(2);
  });
});
