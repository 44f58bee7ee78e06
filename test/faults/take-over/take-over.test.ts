import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { prove } from '../../harness/load/size.ts';
import { isFullSize } from '../../harness/proof-size.ts';
import { CHOICES } from '../../harness/run-points/decisions.ts';
import { judge } from '../../harness/run-points/final.ts';
import { converse, newTalk, type Talk } from '../../harness/run-points/person.ts';
import { PAYS } from '../../harness/run-points/script.ts';
import { openRunSite, type RunPod, type RunSite } from '../../harness/run-points/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

vi.setConfig({ testTimeout: isFullSize ? 1_200_000 : 240_000, hookTimeout: 120_000 });

const CONVERSATIONS = isFullSize ? 500 : 18;
// Conversations beside these whose call must be approved: 500 and 50 over the three kinds of endings.
const PAYMENTS = isFullSize ? 167 : 17;
const PODS = 3;
// Enough that whenever a pod ends, some conversation is at each point.
const BETWEEN_MS = 300;
// Each end starts a pod, which takes more processor time than the conversations that it interrupts.
const ENDS_MS = isFullSize ? 1_000 : 2_000;
// The longest time that a person takes to answer.
const THINKS_MS = 3_000;
// More at once than a slow machine continues between two ends of pods would only ever be taken over.
const AT_ONCE_MAX = 40;
const NEXT_POD_MS = 120_000;

let site: RunSite;
/** Called for text that Redis accepted, by conversation. */
const onText = new Map<string, () => void>();

beforeAll(async () => {
  site = await openRunSite({
    pods: PODS,
    hooks: {
      onWrite(name, { events }, accepted) {
        if (accepted && events.includes('text-delta')) onText.get(name)?.();
      },
    },
  });
});
afterAll(() => site?.stop());

/** Ends one pod after the other while another remains and a replacement starts, until the signal aborts. */
async function endPods(how: 'SIGKILL' | 'SIGTERM', signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(ENDS_MS, undefined, { signal }).catch(() => undefined);
    await waitUntil(() => signal.aborted || site.pods().length >= PODS - 1, {
      what: 'another pod',
      timeoutMs: NEXT_POD_MS,
    });
    if (!signal.aborted) site.end((await site.pick()).podName, how);
  }
}

describe.each([
  ['are killed', 'SIGKILL', 'hold'],
  ['are restarted one after the other', 'SIGTERM', 'hold'],
  ['are killed while most of them are detached', 'SIGKILL', 'detach'],
] as const)('conversations whose pods %s', (what, how, delivery) => {
  const think = () => sleep(Math.random() * THINKS_MS);

  async function talkOf(prefix: string, at: number): Promise<Talk> {
    const choice = CHOICES[at % CHOICES.length] ?? 'approve';
    const talk = await newTalk(site, `${prefix}${how}-${delivery}-${at}`, { delivery, choice });
    await converse(site, talk, { onQuestion: think, onApproval: think });
    return talk;
  }

  /** All conversations, each begun some time after the one before, until all have ended. */
  async function talks(): Promise<Talk[]> {
    const underWay = new Set<Promise<Talk>>();
    const all: Promise<Talk>[] = [];
    for (let at = 0; at < CONVERSATIONS; at += 1) {
      const isPayment =
        Math.floor(((at + 1) * PAYMENTS) / CONVERSATIONS) > Math.floor((at * PAYMENTS) / CONVERSATIONS);
      for (const prefix of isPayment ? ['', PAYS] : ['']) {
        const talk = talkOf(prefix, prefix === '' ? at : Math.floor((at * PAYMENTS) / CONVERSATIONS));
        all.push(talk);
        underWay.add(talk);
        void talk.finally(() => underWay.delete(talk)).catch(() => undefined);
      }
      await sleep(BETWEEN_MS);
      while (underWay.size >= AT_ONCE_MAX) await Promise.race(underWay);
    }
    return Promise.all(all);
  }

  it(`all ${CONVERSATIONS} and ${PAYMENTS} with a call that must be approved finish: the reply is complete, each question and approval is asked once, the booking is made at most once, and the payment at most once and only as its person decided`, async () => {
    const ending = new AbortController();
    const endingPods = endPods(how, ending.signal);
    const ended = await talks().finally(() => ending.abort());
    await endingPods;
    const { ok, text, counts } = await judge(site, ended);
    prove(`Conversations whose pods ${what}`, text);
    expect(ok, text).toBe(true);
    expect(counts.conversations).toBeGreaterThan(0.9 * (CONVERSATIONS + PAYMENTS));
    expect(counts.decidedCalls).toBeGreaterThan(0.9 * PAYMENTS);
    expect(counts.kills).toBeGreaterThan(1);
    expect(counts.takenOver).toBeGreaterThan(0);
    // Only few of them end with a result that tells the model the outcome is unknown.
    expect(counts.unknownOutcomes).toBeLessThan((CONVERSATIONS + PAYMENTS) / 2);
  });
});

describe('a pod that was frozen past its lease writes nothing more, and the new owner finishes the turn', () => {
  // Starting pods would delay the heartbeats of a healthy owner.
  beforeEach(() => waitUntil(() => site.pods().length === PODS, { what: 'all pods' }));

  it('when it froze while the model was streaming', async () => {
    const talk = await newTalk(site, 'frozen-in-a-stream');
    let frozen: RunPod | undefined;
    onText.set(talk.name, () => {
      if (frozen !== undefined) return;
      frozen = ownerOf(talk);
      frozen?.freeze();
    });
    const talking = converse(site, talk);
    await waitUntil(() => frozen, { what: 'the pod to freeze' });
    await untilOwnedByAnother(talk, frozen);
    frozen?.thaw();
    await talking;
    await expectFenced(talk, frozen);
  });

  it('when it froze while waiting for an answer', async () => {
    const talk = await newTalk(site, 'frozen-while-it-waits');
    let frozen: RunPod | undefined;
    await converse(site, talk, {
      async onQuestion() {
        frozen = ownerOf(talk);
        frozen?.freeze();
        await untilOwnedByAnother(talk, frozen);
        frozen?.thaw();
      },
    });
    await expectFenced(talk, frozen);
  });
});

function ownerOf({ name }: Talk): RunPod | undefined {
  return site.pod(site.ownerOf(name) ?? '');
}

async function untilOwnedByAnother({ name }: Talk, pod: RunPod | undefined): Promise<void> {
  await waitUntil(() => site.ownerOf(name) !== pod?.podName, { what: 'another owner' });
}

/** Expects that the first owner's late write was refused, it never owned the run again, and another pod ended it. */
async function expectFenced(talk: Talk, frozen: RunPod | undefined): Promise<void> {
  const ownEvents = () =>
    site.events.filter((event) => event.type !== 'kill' && event.conversation === talk.name);
  const lateWrite = () => {
    const own = ownEvents();
    const taken = own.findIndex((event) => event.type === 'term' && event.term === 2);
    return own.slice(taken).some((event) => event.type === 'write' && event.term === 1);
  };
  await waitUntil(lateWrite, { what: 'a late write of the frozen pod' });
  const { ok, text, counts } = await judge(site, [talk]);
  expect(ok, text).toBe(true);
  expect(counts.conversations).toBe(1);
  const owners = ownEvents().flatMap((event) => (event.type === 'term' ? [event.owner] : []));
  const isFrozen = owners.map((owner) => owner.startsWith(`${frozen?.podName}/`));
  expect(isFrozen).toEqual([true, ...owners.slice(1).map(() => false)]);
  expect(counts.takeOvers).toBeGreaterThan(0);
  expect(counts.refusedWrites).toBeGreaterThan(0);
}
