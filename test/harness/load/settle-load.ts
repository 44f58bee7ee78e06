import type { Action, Owner } from '../history/events.ts';
import { createHistory, type HistoryRecorder } from '../history/recorder.ts';
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
  const { fetch, settles, askers, users = 10, pollSeconds = POLL_SECONDS } = options;
  const history = createHistory();
  const tokenOf = createTokenCache();
  const driver = createDriver({ fetch, history, serviceKey: serviceKeyOf, userToken: tokenOf, pollSeconds });
  const owners = createCrowd(users);
  let started = 0;
  let settled = 0;

  async function one(owner: Owner): Promise<void> {
    const streamRequestId = streamOf(owner);
    const id = await driver.ask(owner, { mode: 'form', timeoutSeconds: 3_600, streamRequestId });
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
      if (owner !== undefined) await one(owner);
    }
  }

  return {
    history,
    settled: () => settled,
    async run() {
      const followers = await followAll({ fetch, history, owners, tokenOf });
      await Promise.all(Array.from({ length: askers }, ask));
      for (const owner of owners) await driver.readFinals(owner);
      await stopOnceNotified(history, followers);
    },
  };
}

function answer(): { action: Action; content?: unknown } {
  if (Math.random() < 0.2) return { action: 'decline' };
  return { action: 'accept', content: { choice: Math.random() < 0.5 ? 'left' : 'right' } };
}
