import type { Action, Owner } from '../history/events.ts';
import { createHistory, type HistoryRecorder } from '../history/recorder.ts';
import { sized } from '../proof-size.ts';
import { createDriver } from './driver.ts';
import { serviceKeyOf } from './load-env.ts';
import { createCrowd, createTokenCache, followAll, stopOnceNotified, streamOf } from './people.ts';

export interface SettleLoadOptions {
  readonly fetch: typeof fetch;
  readonly settles: number;
  readonly askers: number;
  /** Users per tenant; each has one stream, and a reader of it who comes and goes. */
  readonly users?: number;
  /** Time after the answer within which a waiter must be notified; shorter than a long poll, so that only a wake or a resync can do it. */
  readonly notifiedWithinMs?: number;
  readonly pollSeconds?: number;
  /** Spread evenly over the load. Each begins once a question of its part is asked, and the next part waits for its end. */
  readonly faults?: readonly (() => Promise<unknown>)[];
}

export interface SettleLoad {
  readonly history: HistoryRecorder;
  /** How many questions have been asked, answered and reported to their waiters so far. */
  settled(): number;
  /** Resolves when all is settled and every end was read. */
  run(): Promise<void>;
}

const POLL_SECONDS = 60;
const NOTIFIED_WITHIN_MS = 40_000;
const SECOND_ANSWERS = 0.15;

/** Creates a load of as many questions as possible, each answered at once, some twice: no fault may lose or duplicate one. */
export function createSettleLoad(options: SettleLoadOptions): SettleLoad {
  const { fetch, settles, askers, users = sized(10, 3), pollSeconds = POLL_SECONDS } = options;
  const history = createHistory();
  const tokenOf = createTokenCache();
  const driver = createDriver({ fetch, history, serviceKey: serviceKeyOf, userToken: tokenOf, pollSeconds });
  const owners = createCrowd(users);
  const parts = spreadFaults(options.faults ?? [], settles);
  let started = 0;
  let settled = 0;

  async function one(owner: Owner, index: number): Promise<void> {
    await parts.turnOf(index);
    const streamRequestId = streamOf(owner);
    const id = await driver.ask(owner, { mode: 'form', timeoutSeconds: 3_600, streamRequestId });
    parts.asked(index);
    if (id === undefined) return;
    const answers = Math.random() < SECOND_ANSWERS ? [answer(), answer()] : [answer()];
    const answering = answers.map((each) => driver.respondUntilKnown(id, owner, each));
    const notifiedWithinMs = options.notifiedWithinMs ?? NOTIFIED_WITHIN_MS;
    await Promise.all([
      driver.waitUntilEnded(id, owner.tenant, notifiedWithinMs, Promise.race(answering)),
      ...answering,
    ]);
    settled += 1;
  }

  async function ask(): Promise<void> {
    for (let index = started; index < settles; index = started) {
      started += 1;
      const owner = owners[index % owners.length];
      if (owner !== undefined) await one(owner, index);
    }
  }

  return {
    history,
    settled: () => settled,
    async run() {
      const followers = await followAll({ fetch, history, owners, tokenOf });
      await Promise.all(Array.from({ length: askers }, ask));
      await parts.ended();
      for (const owner of owners) await driver.readFinals(owner);
      await stopOnceNotified(history, followers);
    },
  };
}

function answer(): { action: Action; content?: unknown } {
  if (Math.random() < 0.2) return { action: 'decline' };
  return { action: 'accept', content: { choice: Math.random() < 0.5 ? 'left' : 'right' } };
}

/**
 * Has the load and its faults wait for each other: however fast the machine is, each fault finds questions that are being
 * asked, answered and waited for.
 */
function spreadFaults(faults: readonly (() => Promise<unknown>)[], settles: number) {
  const length = Math.floor(settles / (faults.length + 1));
  const begins: (() => void)[] = [];
  const ends = faults.map(async (cause) => {
    await new Promise<void>((begin) => void begins.push(begin));
    await cause();
  });
  return {
    /** Resolves when the question may be asked. */
    turnOf: async (index: number) => void (await ends[Math.floor(index / length) - 2]),
    /** The question is known to have been asked. */
    asked(index: number): void {
      begins[Math.floor(index / length) - 1]?.();
    },
    ended: () => Promise.all(ends),
  };
}
