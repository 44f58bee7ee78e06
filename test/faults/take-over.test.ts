import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ScriptedModel, startScriptedModel } from '../../infra/demo/stand-ins/scripted-model.ts';
import type { ScriptedReply, Turn } from '../../infra/demo/stand-ins/scripted-model-script.ts';
import { createChatClient, person, questionsIn, SECRET, textOf, type Watched } from '../e2e/chat-client.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { type BookingTools, startBookingTools } from './booking-tools.ts';
import { openSite, type Site, type SitePod } from './site.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const CONVERSATIONS = process.env.PARLEY_PROOF_SIZE === 'full' ? 500 : 50;
// So that at any end of a pod some are at each of their points.
const BETWEEN_MS = 300;
const ENDS_MS = 1_000;

let site: Site;
let model: ScriptedModel;
let tools: BookingTools;
let folder: string;
let redis: Redis;
let env: Record<string, string>;
let pods: SitePod[];

/** Books, looks and asks at once, then looks again, then says what it heard. */
function line({ userText, results }: Turn): ScriptedReply {
  const call = (name: string) => ({ name: `bookings__${name}`, arguments: { name: userText } });
  const ask = { name: 'elicit', arguments: { kind: 'text', message: `Which seat, ${userText}?` } };
  if (results.length === 0)
    return { text: `Let me see, ${userText}. `, calls: [call('book'), call('look'), ask] };
  if (results.length === 3) return { text: 'Looking again. ', calls: [call('look')] };
  return { text: `Done: ${results.map(({ text }) => text).join(' / ')}` };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-take-over-'));
  [site, model, tools] = await Promise.all([
    openSite(),
    startScriptedModel({ script: [line], delayMs: 20 }),
    startBookingTools({ workMs: 50 }),
  ]);
  const config = join(folder, 'agents.yaml');
  writeFileSync(
    config,
    `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.url}", model: scripted }
mcpServers:
  bookings: { title: Bookings, transport: http, credentialScope: none, url: "${tools.url}" }
agents:
  helper: { title: Helper, model: scripted, instructions: Help., elicit: true, tools: [{ server: bookings }] }
defaultAgent: helper
`,
  );
  env = {
    PARLEY_CONFIG: config,
    PARLEY_JWT_SECRET: SECRET,
    PARLEY_LEASE_MS: '1000',
    PARLEY_TAKE_OVER_MS: '250',
    PARLEY_DRAIN_MS: '8000',
  };
  redis = new Redis(site.redis.url);
  await site.worker(env);
  pods = await Promise.all([0, 1, 2].map(() => site.pod(env)));
});
afterAll(async () => {
  redis?.disconnect();
  await site?.stop();
  await Promise.all([model?.stop(), tools?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

const { say, resume, post } = createChatClient((pod) => pods[pod]?.url ?? '');

interface Finished {
  readonly name: string;
  readonly text: string;
  readonly questions: readonly string[];
}

/** A person who says one thing, answers what they are asked, and reads on wherever somebody still tells it. */
async function converse(name: string): Promise<Finished> {
  const { authorization, userId } = await person();
  const anyPod = () => Math.floor(Math.random() * pods.length);
  let watched = await begin(name, authorization, anyPod);
  const asked = new Set<string>();
  for (;;) {
    const ended = watched.done.then(
      (message) => message,
      () => undefined,
    );
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    while (!isOver) {
      for (const { elicitationId, status } of questionsIn(watched.seen.message)) {
        asked.add(elicitationId);
        if (status !== 'pending') continue;
        const answer = { conversationId: name, elicitationId, action: 'accept', content: { answer: '12A' } };
        await post(anyPod(), '/run/api/elicitation-responses', authorization, answer).catch(() => undefined);
      }
      await Promise.race([ended, sleep(100)]);
    }
    const message = await ended;
    if (textOf(message).includes('Done: ')) return { name, text: textOf(message), questions: [...asked] };
    const next = await resume(anyPod(), authorization, name).catch(() => undefined);
    if (next !== undefined) watched = next;
    else if (await isFinished(userId, name))
      return { name, text: await toldIn(userId, name), questions: [...asked] };
    else await sleep(100);
  }
}

async function begin(name: string, authorization: string, anyPod: () => number): Promise<Watched> {
  return waitUntil(
    async () =>
      say({ authorization, text: name, chatId: name, pod: anyPod() }).catch((error: unknown) => {
        // Begun, although its reply was lost with the pod.
        if (String(error).includes('turn_running')) return resume(anyPod(), authorization, name);
        return undefined;
      }),
    { what: `the begin of ${name}`, timeoutMs: 60_000 },
  );
}

/** True once a conversation has no running turn. */
async function isFinished(userId: string, name: string): Promise<boolean> {
  const [key] = await redis.keys(`parley:{*}:conversation:*/${userId}/${name}`);
  return key !== undefined && (await redis.hget(key, 'running')) === null;
}

/** What the conversation remembers that the agent said. */
async function toldIn(userId: string, name: string): Promise<string> {
  const [key] = await redis.keys(`parley:{*}:messages:*/${userId}/${name}`);
  const messages = await redis.lrange(key ?? '', 0, -1);
  return messages
    .map((text) => JSON.parse(text) as { role: string; content: unknown })
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ content }) => (Array.isArray(content) ? content : [{ type: 'text', text: content }]))
    .map((part: { type: string; text?: string }) => (part.type === 'text' ? part.text : ''))
    .join('');
}

/** Ends one pod after the other and starts another in its place, until told to stop; how many. */
async function endPods(how: 'SIGKILL' | 'SIGTERM', signal: AbortSignal): Promise<number> {
  let ends = 0;
  while (!signal.aborted) {
    await sleep(ENDS_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    const at = ends % pods.length;
    pods[at]?.kill(how);
    ends += 1;
    pods[at] = await site.pod(env);
  }
  return ends;
}

describe.each([
  ['are killed', 'SIGKILL'],
  ['are restarted one after the other', 'SIGTERM'],
] as const)('conversations whose pods %s', (_what, how) => {
  it(`all ${CONVERSATIONS} finish: told whole, asked once, booked once at most`, async () => {
    const ending = new AbortController();
    const endingPods = endPods(how, ending.signal);
    const finished = await Promise.all(
      Array.from({ length: CONVERSATIONS }, async (_, at) => {
        await sleep(at * BETWEEN_MS);
        return converse(`${how}-${at}`);
      }),
    );
    ending.abort();
    expect(await endingPods).toBeGreaterThan(1);
    for (const { name, text, questions } of finished) {
      const booking = `(booked for ${name}|[^/]*may or may not have had its effect[^/]*)`;
      expect(text, name).toMatch(
        new RegExp(
          `^Let me see, ${name}\\. Looking again\\. Done: ${booking} / seen ${name} / [^/]*12A[^/]* / seen ${name}$`,
        ),
      );
      expect(questions.length, name).toBe(1);
      expect(tools.booked.filter((one) => one === name).length, name).toBeLessThanOrEqual(1);
    }
    // Hardly any of them by telling the model that it is not known.
    const told = finished.filter(({ name, text }) => text.includes(`booked for ${name}`));
    expect(told.length).toBeGreaterThan(CONVERSATIONS / 2);
    expect(await takenOver(how)).toBeGreaterThan(0);
  });
});

it('a pod that was frozen past its lease writes nothing more, and leaves the turn to its new owner', async () => {
  const { authorization, userId } = await person();
  const frozen = await site.pod(env);
  pods.push(frozen);
  const at = pods.length - 1;
  const chat = await say({ authorization, text: 'frozen', chatId: 'frozen', pod: at });
  const asked = () => questionsIn(chat.seen.message)[0];
  await waitUntil(() => asked()?.status === 'pending', { what: 'the question' });
  frozen.freeze();
  pods.pop();
  const { streamRequestId = '' } = asked() ?? {};
  const [key = ''] = await redis.keys(`parley:{*}:run:*/${userId}/${streamRequestId}`);
  await waitUntil(async () => (await redis.hget(key, 'term')) === '2', { what: 'another owner' });
  const owner = await redis.hget(key, 'owner');
  frozen.thaw();
  // It has looked how its turn stands once it beats again and has let go of it.
  await waitUntil(async () => (await fetch(`${frozen.url}/healthz`)).ok, { what: 'the frozen pod' });
  const reader = await resume(0, authorization, 'frozen');
  const answer = {
    conversationId: 'frozen',
    elicitationId: asked()?.elicitationId,
    action: 'accept',
    content: { answer: '12A' },
  };
  expect((await post(0, '/run/api/elicitation-responses', authorization, answer)).status).toBe(200);
  expect(textOf(await reader?.done)).toMatch(
    /^Let me see, frozen\. Looking again\. Done: .*12A.* seen frozen$/,
  );
  expect(await redis.hmget(key, 'owner', 'term', 'status')).toEqual([owner, '2', 'finished']);
  const feed = await redis.xrange(key.replace(':run:', ':feed:'), '-', '+');
  const told = feed.map(([, fields]) => fields[fields.indexOf('event') + 1]);
  expect(told.filter((name) => name === 'turn-finished')).toHaveLength(1);
  expect(told.filter((name) => name === 'elicitation-request')).toHaveLength(1);
  expect(tools.booked.filter((name) => name === 'frozen')).toHaveLength(1);
});

/** How many of the runs have had more than one owner. */
async function takenOver(how: string): Promise<number> {
  const keys = await redis.keys('parley:{*}:run:*');
  const runs = await Promise.all(keys.map((key) => redis.hmget(key, 'conversationId', 'term')));
  return runs.filter(([name, term]) => name?.startsWith(how) && Number(term) > 1).length;
}
