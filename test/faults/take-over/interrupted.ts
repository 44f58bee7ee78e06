import { beforeAll, expect, it } from 'vitest';
import { createChatClient, textOf } from '../../harness/chat/client.ts';
import { wholeText } from '../../harness/history/run-case.ts';
import type { RunEvent } from '../../harness/history/run-events.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { judge } from '../../harness/run-points/final.ts';
import { converse, newTalk, type Talk } from '../../harness/run-points/person.ts';
import { saying } from '../../harness/run-points/script.ts';
import type { RunHooks, RunPod, RunSite } from '../../harness/run-points/site.ts';
import { clientsNamed } from '../../harness/site/redis-monitor.ts';
import { untilReady } from '../../harness/site/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

// What the engine does about each of these faults at each step is shown in process. Here real pods are paused, and their
// connections break.

const IN_CALL = 'paused-in-a-call';
/** Most of this text comes while the pod is paused: several times what a writer keeps for a moment before it writes. */
const QUEUED_WORDS = 200;
/** Requests that a pod answers one after the other while it reads this text: it reads with each turn of its event loop. */
const TURNS_TO_READ = 40;
const WITH_TEXT_QUEUED = `${saying(QUEUED_WORDS)}paused`;
/** The first chunk of a model's reply says only the role. */
const QUEUED_CHUNKS = QUEUED_WORDS + 1;
/** So long a text that it is not at its end when a fault begins with its first words. */
const STREAMED_WORDS = 100;

let site: RunSite;
interface Paused {
  readonly pod: RunPod;
  /** The term under which the pod owned the run when it was paused. */
  readonly term: number;
}

/** Called once text of a conversation goes out. */
const onText = new Map<string, () => void>();
/** By conversation. */
const paused = new Map<string, Paused>();

/** What sees when an owner is to be interrupted. */
export const INTERRUPTION_HOOKS: RunHooks = {
  onCommand(name, podName, { type }) {
    if (type === 'publish') onText.get(name)?.();
    if (name === WITH_TEXT_QUEUED && type === 'publish') pause(name, podName);
    return 'pass';
  },
  async onCall({ name, tool }) {
    if (name === IN_CALL && tool === 'book') pause(name);
  },
  // Nothing follows the text for the pod that is to be paused: text is all that it can have queued.
  onSaying: ({ name, step }) =>
    name === WITH_TEXT_QUEUED && step === 0 && !paused.has(name)
      ? { kind: 'hang', afterChunks: QUEUED_CHUNKS }
      : undefined,
};

/** Pauses the owner of a conversation's run, once. A starved pod may have lost the run before: then its term is not the first. */
function pause(name: string, podName = site.ownerOf(name) ?? ''): void {
  const pod = site.pod(podName);
  const term = termsOf(name).findLast(({ owner }) => owner.startsWith(`${podName}/`))?.term;
  if (pod === undefined || term === undefined || paused.has(name)) return;
  paused.set(name, { pod, term });
  pod.freeze();
}

async function untilOwnedByAnother({ name }: Talk): Promise<Paused> {
  const one = await waitUntil(() => paused.get(name), { what: 'the pod to be paused' });
  await waitUntil(() => termsOf(name).some(({ term }) => term > one.term), { what: 'another owner' });
  return one;
}

async function kill(name: string): Promise<void> {
  for (const id of await clientsNamed(site.redisUrl, name))
    await redisCommand(site.redisUrl, 'CLIENT', 'KILL', 'ID', id);
}

async function forgetAndCut(): Promise<void> {
  await redisCommand(site.redisUrl, 'SCRIPT', 'FLUSH');
  await kill('parley-commands');
}

/** No pod reaches Redis until each has noticed. */
async function takeRedisAway(): Promise<void> {
  const pods = site.pods();
  for (const { gate } of pods) gate.stall(true);
  try {
    const isAway = async ({ url }: { readonly url: string }) => (await fetch(`${url}/readyz`)).status === 503;
    await waitUntil(async () => (await Promise.all(pods.map(isAway))).every(Boolean), {
      what: 'all pods to miss Redis',
      timeoutMs: 60_000,
    });
  } finally {
    for (const { gate } of pods) gate.stall(false);
  }
}

function eventsOf({ name }: Pick<Talk, 'name'>) {
  return site.events.filter(
    (event): event is Exclude<RunEvent, { type: 'kill' }> =>
      event.type !== 'kill' && event.conversation === name,
  );
}

function termsOf(name: string) {
  return eventsOf({ name }).flatMap((event) => (event.type === 'term' ? [event] : []));
}

/** Expects that the late write of the paused pod was refused, and another owner ended the run. Returns what was judged. */
async function expectFenced(talk: Talk) {
  const lateWrite = () => {
    const own = eventsOf(talk);
    const { term = 0 } = paused.get(talk.name) ?? {};
    const taken = own.findIndex((event) => event.type === 'term' && event.term > term);
    return own.slice(taken).some((event) => event.type === 'write' && event.term === term);
  };
  await waitUntil(lateWrite, { what: 'a late write of the paused pod' });
  const { ok, text, counts } = await judge(site, [talk]);
  expect(ok, text).toBe(true);
  expect(counts.conversations).toBe(1);
  expect(counts.takeOvers).toBeGreaterThan(0);
  expect(counts.refusedWrites).toBeGreaterThan(0);
  return counts;
}

/** Talks until the agent asks its question, and on when the test lets the person answer. */
function untilAnswered(talk: Talk) {
  let isAsked = false;
  let answer = () => {};
  const done = converse(site, talk, {
    onQuestion() {
      isAsked = true;
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
  });
  return { done, answer: () => answer(), asked: () => waitUntil(() => isAsked, { what: 'the question' }) };
}

/** Tests of owners that are paused, or lose Redis. */
export function interruptedOwners(the: () => RunSite): void {
  beforeAll(() => {
    site = the();
  });

  it('a pod that was paused beyond its lease while text of its turn was queued works on, writes nothing more of the turn, and serves its readers', async () => {
    const talk = await newTalk(site, WITH_TEXT_QUEUED);
    const waiting = untilAnswered(talk);
    const { pod } = await untilOwnedByAnother(talk);
    let hasEnded = false;
    void pod.exited.then(() => {
      hasEnded = true;
    });
    // Redis refuses the next write, and the pod learns so only after it has read what the model said during the pause.
    pod.gate.stall(true);
    pod.thaw();
    for (let turn = 0; turn < TURNS_TO_READ; turn += 1) await fetch(`${pod.url}/healthz`);
    pod.gate.stall(false);
    await untilReady(pod);
    await waiting.asked();
    const pods = site.pods();
    const client = createChatClient((at) => pods[at]?.url ?? '');
    const readers = await Promise.all(pods.map((_, at) => client.resume(at, talk.authorization, talk.name)));
    waiting.answer();
    await waiting.done;
    await expectFenced(talk);
    const final = eventsOf(talk).find((event) => event.type === 'run-final');
    const whole = final === undefined ? undefined : wholeText(final.feed);
    const read = await Promise.all(readers.map(async (reader) => textOf(await reader?.done)));
    expect(read).toEqual(pods.map(() => whole));
    // A pod that spins is ended by its watchdog, and its readers go to another one.
    expect(hasEnded).toBe(false);
  });

  it('a pod that was paused beyond its lease while a call was under way changes nothing with its late result, and the outcome is unknown', async () => {
    const talk = await newTalk(site, IN_CALL);
    const talking = converse(site, talk);
    const { pod } = await untilOwnedByAnother(talk);
    pod.thaw();
    await talking;
    expect((await expectFenced(talk)).unknownOutcomes).toBe(1);
  });

  it('a pod that was paused beyond its lease while it waited for an answer writes nothing more, and the new owner finishes the turn', async () => {
    const talk = await newTalk(site, 'paused-while-it-waits');
    await converse(site, talk, {
      async onQuestion() {
        pause(talk.name);
        const { pod } = await untilOwnedByAnother(talk);
        pod.thaw();
      },
    });
    await expectFenced(talk);
  });

  it.each([
    ['no pod reaches Redis for a while', takeRedisAway],
    ['the scripts are flushed and the connections for commands cut', forgetAndCut],
    ['the subscribers are cut', () => kill('parley-subscriber')],
  ])('a turn that streams and one that waits for its person end whole when %s', async (fault, cause) => {
    const name = fault.replaceAll(' ', '-');
    const [streaming, waiting] = [
      await newTalk(site, `${saying(STREAMED_WORDS)}${name}`),
      await newTalk(site, name),
    ];
    const waited = untilAnswered(waiting);
    await waited.asked();
    const text = new Promise<void>((resolve) => onText.set(streaming.name, resolve));
    const streamed = converse(site, streaming);
    await text;
    await cause();
    waited.answer();
    await Promise.all([waited.done, streamed]);
    await Promise.all(site.pods().map(untilReady));
    const { ok, text: report, counts } = await judge(site, [streaming, waiting]);
    expect(ok, report).toBe(true);
    expect(counts.conversations).toBe(2);
  });
}
