import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { prove } from '../../harness/load/size.ts';
import { isFullSize } from '../../harness/proof-size.ts';
import { CHOICES } from '../../harness/run-points/decisions.ts';
import { judge } from '../../harness/run-points/final.ts';
import { converse, newTalk, type Talk } from '../../harness/run-points/person.ts';
import { PAYS } from '../../harness/run-points/script.ts';
import { openRunSite, type RunSite } from '../../harness/run-points/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

vi.setConfig({ testTimeout: isFullSize ? 1_200_000 : 240_000, hookTimeout: 300_000 });

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

beforeAll(async () => {
  site = await openRunSite({ pods: PODS });
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
