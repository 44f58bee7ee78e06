import type { Owner } from '../history/events.ts';
import { createHistory, type HistoryRecorder } from '../history/recorder.ts';
import { paced } from '../pace.ts';
import { sized } from '../proof-size.ts';
import { createDriver, type Driver, type Question, sleep } from './driver.ts';
import { serviceKeyOf } from './load-env.ts';
import { createCrowd, createTokenCache, followAll, stopOnceNotified, streamOf } from './people.ts';
import { untilKnown } from './until-known.ts';

export { LOAD_ENV } from './load-env.ts';

export interface LoadOptions {
  readonly fetch: typeof fetch;
  readonly elicitations: number;
  readonly askers: number;
  /** Users per tenant; both tenants have the same user ids and stream request ids, which must never meet. */
  readonly users?: number;
  readonly graceMs?: number;
  /** Read every end when the load is over instead of as soon as a question is finished: this reveals later losses. */
  readonly endsLast?: boolean;
  /** How long readers are given for the last ends; a fault may have lost some of them for good. */
  readonly behindMs?: number;
}

export interface Load {
  readonly history: HistoryRecorder;
  readonly driver: Driver;
  /** Asks, answers, withdraws and lets questions expire, all at once; resolves when every wait has returned and every end was read. */
  run(): Promise<void>;
}

const GRACE_MS = paced(5_000);
const SHORT_SECONDS = 1;
const LONG_SECONDS = 20;
/** Nobody acts on one question in so many, so that some end at their deadline in every load. */
const LEFT_EVERY = 10;

/** Creates a load of askers and people who race each other: answers, opposite answers, withdrawals and deadlines. */
export function createLoad(options: LoadOptions): Load {
  const history = createHistory();
  const tokenOf = createTokenCache();
  const driver = createDriver({
    fetch: options.fetch,
    history,
    serviceKey: serviceKeyOf,
    userToken: tokenOf,
  });
  const owners = createCrowd(options.users ?? sized(10, 3));
  const ended: { readonly id: string; readonly owner: Owner }[] = [];

  async function one(owner: Owner, isLeft: boolean): Promise<void> {
    const question = { ...questionOf(owner), ...(isLeft && { timeoutSeconds: SHORT_SECONDS }) };
    const id = await driver.ask(owner, question);
    if (id === undefined) return;
    const within = question.timeoutSeconds * 1000 + (options.graceMs ?? GRACE_MS);
    const acting = isLeft ? undefined : actOn(driver, id, owner, question);
    await Promise.all([driver.waitUntilEnded(id, owner.tenant, within), acting]);
    if (options.endsLast === true) ended.push({ id, owner });
    // No one acts on the question any more, and its retention may end before the load does.
    else await untilKnown(() => driver.read(id, owner, true));
  }

  async function readLast(): Promise<void> {
    const quietAt = performance.now() + LONG_SECONDS * 1000 + (options.graceMs ?? GRACE_MS);
    await Promise.all(
      ended.map(async ({ id, owner }) => {
        // A question that a lost write reopened ends again at its deadline.
        await driver.waitUntilEnded(id, owner.tenant, quietAt - performance.now());
        await untilKnown(() => driver.read(id, owner, true));
      }),
    );
  }

  return {
    history,
    driver,
    async run() {
      const followers = await followAll({ fetch: options.fetch, history, owners, tokenOf });
      let next = 0;
      const asker = async () => {
        for (let index = next; index < options.elicitations; index = next) {
          next += 1;
          const owner = owners[index % owners.length];
          if (owner !== undefined) await one(owner, index % LEFT_EVERY === 0);
        }
      };
      await Promise.all(Array.from({ length: options.askers }, asker));
      await readLast();
      await stopOnceNotified(history, followers, options.behindMs);
    },
  };
}

function questionOf(owner: Owner): Question {
  const dice = Math.random();
  const streamRequestId = streamOf(owner);
  const timeoutSeconds = Math.random() < 0.25 ? SHORT_SECONDS : LONG_SECONDS;
  if (dice < 0.6) return { mode: 'form', timeoutSeconds, streamRequestId };
  return { mode: 'url', completion: dice < 0.8 ? 'server' : 'client', timeoutSeconds, streamRequestId };
}

/** Has up to four people (or one with four windows) act on a question at once; some questions expire unanswered. */
async function actOn(driver: Driver, id: string, owner: Owner, question: Question): Promise<void> {
  const acts: Promise<unknown>[] = [];
  const patience = question.timeoutSeconds === SHORT_SECONDS ? 1_000 : 400;
  const later = async (run: () => Promise<unknown>) => {
    await sleep(Math.random() * patience);
    await run();
  };
  // For a deadline of one second, either answers race it or no answer comes.
  if (question.timeoutSeconds === SHORT_SECONDS && Math.random() < 0.3) return;
  const respondents = 1 + Math.floor(Math.random() * 3);
  for (let index = 0; index < respondents; index += 1)
    acts.push(later(() => driver.respondUntilKnown(id, owner, answerOf(question))));
  if (Math.random() < 0.1) acts.push(later(() => driver.command('withdraw', id, owner)));
  if (question.completion === 'server') acts.push(later(() => driver.command('complete', id, owner)));
  if (Math.random() < 0.1) acts.push(later(() => driver.respond(id, strangerTo(owner), answerOf(question))));
  if (Math.random() < 0.3) acts.push(later(() => driver.read(id, owner, false)));
  await Promise.all(acts);
  // A question that is still open was never answered, or lost its answer to a fault: it ends here or at its deadline.
  if (question.completion === 'server' && Math.random() < 0.8) await driver.command('complete', id, owner);
}

function answerOf(question: Question): { action: 'accept' | 'decline' | 'cancel'; content?: unknown } {
  const dice = Math.random();
  if (dice < 0.15) return { action: 'decline' };
  if (dice < 0.25) return { action: 'cancel' };
  if (question.mode === 'url') return { action: 'accept' };
  return {
    action: 'accept',
    content: { choice: Math.random() < 0.5 ? 'left' : 'right', count: Math.floor(Math.random() * 3) },
  };
}

/** The same user id in the other tenant: the stranger with the most similar identity. */
function strangerTo(owner: Owner): Owner {
  return { tenant: owner.tenant === 'acme' ? 'globex' : 'acme', userId: owner.userId };
}
