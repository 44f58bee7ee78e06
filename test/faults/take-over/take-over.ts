import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { prove } from '../../harness/load/size.ts';
import { isFullSize } from '../../harness/proof-size.ts';
import { CHOICES } from '../../harness/run-points/decisions.ts';
import { judge } from '../../harness/run-points/final.ts';
import { converse, newTalk, type Talk } from '../../harness/run-points/person.ts';
import { PAYS } from '../../harness/run-points/script.ts';
import type { RunSite } from '../../harness/run-points/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const CONVERSATIONS = isFullSize ? 750 : 6;
// Conversations beside these whose call must be approved, each of the choices as often.
const PAYMENTS = isFullSize ? 250 : 3;
/** How many pods are ended while some people think: at least so many in each case. */
const ENDS = 2;
/** Pods that end for ever would leave a starved machine no time to finish a turn. */
const ENDS_MAX = isFullSize ? Number.POSITIVE_INFINITY : ENDS;
/** The share of the conversations that is judged at least. One that a pod refused to begin is a tenth of a daily run. */
const SHARE_MIN = isFullSize ? 0.9 : 0.5;
const SLOW_EVERY = 5;
const DELIVERIES = ['hold', 'detach'] as const;
// One that is ended leaves another.
const PODS_MIN = 2;
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

/** Conversations whose turn may be running. */
const open = new Set<string>();
let ended = 0;

type Signal = 'SIGKILL' | 'SIGTERM';

/** Ends one pod after the other, by these signals in turn, each time an owner of a run while there is one and another pod remains. */
async function endPods(how: readonly Signal[], signal: AbortSignal): Promise<void> {
  ended = 0;
  while (!signal.aborted && ended < ENDS_MAX) {
    await sleep(ENDS_MS, undefined, { signal }).catch(() => undefined);
    await waitUntil(() => signal.aborted || site.pods().length >= PODS_MIN, {
      what: 'another pod',
      timeoutMs: NEXT_POD_MS,
    });
    if (signal.aborted) return;
    const owners = new Set([...open].map((name) => site.ownerOf(name)));
    const { podName } = site.pods().find((pod) => owners.has(pod.podName)) ?? (await site.pick());
    if (site.end(podName, how[ended % how.length] ?? 'SIGKILL')) ended += 1;
  }
}

// A daily run ends pods both ways in one load.
const WAYS: readonly (readonly [what: string, how: readonly Signal[]])[] = isFullSize
  ? [
      ['are killed', ['SIGKILL']],
      ['are restarted one after the other', ['SIGTERM']],
    ]
  : [['are killed and restarted', ['SIGTERM', 'SIGKILL']]];

/** Tests of owners that end at any time. */
export function endedAtRandom(the: () => RunSite): void {
  beforeAll(() => {
    site = the();
  });

  describe.each(WAYS)('conversations whose pods %s', (what, how) => {
    async function talkOf(prefix: string, at: number): Promise<Talk> {
      const choice = CHOICES[at % CHOICES.length] ?? 'approve';
      const delivery = DELIVERIES[at % DELIVERIES.length] ?? 'hold';
      const talk = await newTalk(site, `${prefix}${how.join('-')}-${delivery}-${at}`, { delivery, choice });
      // Some people are slower than the next ends of pods.
      const think = async () => {
        const before = ended;
        if (at % SLOW_EVERY === 0)
          await waitUntil(() => ended >= Math.min(before + ENDS, ENDS_MAX), {
            what: 'pods to end',
            timeoutMs: ENDS * NEXT_POD_MS,
          });
        else await sleep(Math.random() * THINKS_MS);
      };
      open.add(talk.name);
      await converse(site, talk, { onQuestion: think, onApproval: think }).finally(() =>
        open.delete(talk.name),
      );
      return talk;
    }

    /** A conversation, and beside some of them one with a payment. */
    function begunAt(at: number): Promise<Talk>[] {
      const paymentsBefore = (count: number) => Math.floor((count * PAYMENTS) / CONVERSATIONS);
      const payment = paymentsBefore(at);
      return paymentsBefore(at + 1) > payment ? [talkOf('', at), talkOf(PAYS, payment)] : [talkOf('', at)];
    }

    /** All conversations, each begun some time after the one before, until all have ended. */
    async function talks(): Promise<Talk[]> {
      const underWay = new Set<Promise<Talk>>();
      const all: Promise<Talk>[] = [];
      for (let at = 0; at < CONVERSATIONS; at += 1) {
        for (const talk of begunAt(at)) {
          all.push(talk);
          underWay.add(talk);
          void talk.finally(() => underWay.delete(talk)).catch(() => undefined);
        }
        await sleep(BETWEEN_MS);
        while (underWay.size >= AT_ONCE_MAX) await Promise.race(underWay);
      }
      return Promise.all(all);
    }

    it(`all ${CONVERSATIONS} and ${PAYMENTS} with a call that must be approved finish, half of them detached: the reply is complete, each question and approval is asked once, the booking is made at most once, and the payment at most once and only as its person decided`, async () => {
      const ending = new AbortController();
      const endingPods = endPods(how, ending.signal);
      const all = await talks().finally(() => ending.abort());
      await endingPods;
      const { ok, text, counts } = await judge(site, all);
      prove(`Conversations whose pods ${what}`, text);
      expect(ok, text).toBe(true);
      expect(counts.kills).toBeGreaterThanOrEqual(ENDS);
      expect(counts.takenOver).toBeGreaterThan(0);
      // All but those that a pod refused to begin.
      expect(counts.conversations).toBeGreaterThan(SHARE_MIN * (CONVERSATIONS + PAYMENTS));
      expect(counts.decidedCalls).toBeGreaterThan(SHARE_MIN * PAYMENTS);
      // Only few of them end with a result that tells the model the outcome is unknown. A starved machine has more of these.
      if (isFullSize) expect(counts.unknownOutcomes).toBeLessThan((CONVERSATIONS + PAYMENTS) / 2);
    });
  });
}
