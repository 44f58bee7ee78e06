import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Owner } from '../../history/events.ts';
import { createHistory, type HistoryRecorder } from '../../history/recorder.ts';
import { readEvents } from '../../http/read-events.ts';
import { createDriver } from '../driver.ts';
import { follow } from '../follower.ts';
import { serviceKeyOf } from '../load-env.ts';
import { createCrowd, createTokenCache, stopOnceNotified, streamOf } from '../people.ts';
import { SIZE } from '../size.ts';
import { untilKnown } from '../until-known.ts';
import { followInbox } from './inbox-reader.ts';
import type { Samples } from './samples.ts';

export interface OrdinaryOptions {
  /** The balancer in front of the pods. */
  readonly url: string;
  readonly samples: Samples;
  /** Users per tenant. */
  readonly users: number;
}

export interface OrdinaryLoad {
  readonly history: HistoryRecorder;
  /** Replies by status; 0 counts calls without a reply. */
  readonly statuses: ReadonlyMap<number, number>;
  /** The calls that an ordinary user should never see refused, such as `429 GET /v1/elicitations`. */
  readonly refusals: readonly string[];
  /** Calls without a reply in time, from the pod or from its Redis: a starved machine has them without any abuse too. */
  readonly late: readonly string[];
  /** What was wrong with a finished chat, a sentence each. */
  readonly faults: readonly string[];
  /** Begun and finished operations. */
  readonly counts: { begun: number; finished: number };
  /** Begins operations at their rates until the signal aborts; resolves when all are finished and every end was read. */
  run(stopping: AbortSignal): Promise<void>;
}

/** A part of the AI SDK's UI message stream, as far as the load reads it. */
interface Chunk {
  readonly type: string;
  readonly delta?: string;
  readonly data?: { readonly elicitationId: string; readonly status: string };
}

/** Operations a second of all ordinary users together, of which a daily run has a quarter. */
const RATES = {
  question: 4,
  list: 3,
  chat: 1.5,
  'chat with a question': 1,
  history: 2,
  chats: 2,
  'open a stream': 1,
} as const;
const SHARE = SIZE.full ? 1 : 0.25;
type Kind = keyof typeof RATES;

const THINK_MS = 400;
const TIMEOUT_SECONDS = 20;
const NOTIFIED_WITHIN_MS = 30_000;
const RECONNECT_MS = 30_000;
const TURNS_PER_CHAT = 5;
const CALL_MS = SIZE.full ? 30_000 : 120_000;
const AGAIN_MS = 500;

/** Creates the traffic of ordinary users: an open loop, so that a slow reply does not slow the next call down. */
export function createOrdinaryLoad({ url, samples, users }: OrdinaryOptions): OrdinaryLoad {
  const history = createHistory();
  const tokenOf = createTokenCache();
  const owners = createCrowd(users);
  const statuses = new Map<number, number>();
  const refusals: string[] = [];
  const late: string[] = [];
  const faults: string[] = [];
  const counts = { begun: 0, finished: 0 };
  const seen = new Map<string, () => void>();
  const chats = createChats(owners);

  function count(status: number, call: string, isLate = false): void {
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (isLate) late.push(`${status} ${call}`);
    else if (status === 429 || status >= 500) refusals.push(`${status} ${call}`);
  }

  const countedFetch: typeof fetch = async (input, init) => {
    const { pathname, search } = new URL(String(input));
    const call = `${init?.method ?? 'GET'} ${pathname}`;
    try {
      const response = await fetch(`${url}${pathname}${search}`, init);
      count(response.status, call, await isLate(response));
      return response;
    } catch (error) {
      const hasLeft = (error as Error).name === 'AbortError';
      if (!hasLeft) count(0, call, true);
      throw error;
    }
  };
  const driver = createDriver({
    fetch: countedFetch,
    history,
    serviceKey: serviceKeyOf,
    userToken: tokenOf,
    pollSeconds: TIMEOUT_SECONDS,
  });

  async function get(owner: Owner, path: string): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${await tokenOf(owner)}` };
    const signal = AbortSignal.timeout(CALL_MS);
    for (;;) {
      const response = await countedFetch(`http://pod${path}`, { headers, signal });
      if (!(await isLate(response))) return (await response.json()) as Record<string, unknown>;
      await sleep(AGAIN_MS, undefined, { signal });
    }
  }

  async function post(owner: Owner, path: string, body: object): Promise<Response> {
    return countedFetch(`http://pod${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await tokenOf(owner)}`,
        'content-type': 'application/json',
        'x-supports-elicitation': 'true',
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_MS),
    });
  }

  async function question(owner: Owner, dueAt: number): Promise<void> {
    const streamRequestId = streamOf(owner);
    const isNotified = samples.start('inbox event after an ask', dueAt);
    const id = await samples.time(
      'ask',
      () => driver.ask(owner, { mode: 'form', timeoutSeconds: TIMEOUT_SECONDS, streamRequestId }),
      dueAt,
    );
    if (id === undefined) return;
    if (seenByInbox.delete(id)) isNotified();
    else seen.set(id, isNotified);
    const waiting = driver.waitUntilEnded(id, owner.tenant, NOTIFIED_WITHIN_MS);
    await sleep(Math.random() * THINK_MS);
    const isWoken = samples.start('waiter returns after an answer');
    const answering = samples.time('answer', () =>
      driver.respondUntilKnown(id, owner, { action: 'accept', content: { choice: 'left', count: 1 } }),
    );
    await Promise.all([waiting.then(isWoken), answering]);
    await samples.time('read a question', () => untilKnown(() => driver.read(id, owner, true)));
  }

  // An event may arrive before the reply to the ask that it belongs to.
  const seenByInbox = new Set<string>();
  function onInboxEvent(id: string, status: string): void {
    if (status !== 'pending') {
      seenByInbox.delete(id);
      return;
    }
    const notify = seen.get(id);
    if (notify === undefined) seenByInbox.add(id);
    else {
      seen.delete(id);
      notify();
    }
  }

  async function chat(dueAt: number, isAsking: boolean): Promise<void> {
    const { owner, conversationId, done } = chats.take();
    const name = isAsking ? 'chat with a question' : 'chat';
    const text = isAsking ? 'ask me' : `hello ${randomUUID().slice(0, 4)}`;
    const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
    let reply = '';
    let ended = '';
    let answering: Promise<void> | undefined;
    let isResumed: (() => void) | undefined;
    const isShown = samples.start(`${name}: ${isAsking ? 'question shown' : 'first event'}`, dueAt);
    const isDone = samples.start(`${name}: whole turn`, dueAt);
    const answer = async (elicitationId: string) => {
      await sleep(Math.random() * THINK_MS);
      isResumed = samples.start(`${name}: end after the answer`);
      await samples.time('answer in a chat', () =>
        post(owner, '/run/api/elicitation-responses', {
          conversationId,
          elicitationId,
          action: 'accept',
          content: { answer: 'blue' },
        }).then((response) => response.text()),
      );
    };
    try {
      const response = await post(owner, '/run/api/chat', { id: conversationId, messages: [message] });
      // Whether the turn has begun is unknown: this chat is used no more.
      if (await isLate(response)) return;
      await readEvents(response, (event) => {
        if (event.data === '[DONE]') return;
        const { type, delta, data } = JSON.parse(event.data) as Chunk;
        if (!isAsking) isShown();
        if (type === 'text-delta') reply += delta ?? '';
        if (type === 'finish' || type === 'error') ended = type;
        if (type !== 'data-elicitation-request' || data?.status !== 'pending' || answering !== undefined)
          return;
        isShown();
        answering = answer(data.elicitationId);
      });
      if (!isAsking) isDone();
      isResumed?.();
      await answering;
    } catch (error) {
      ended = String(error);
    }
    const isWhole = isAsking ? reply.includes('blue') : reply === `You said ${text}.`;
    if (ended !== 'finish' || !isWhole)
      faults.push(`a ${name} ended with "${ended}" and the text "${reply}"`);
    done(text);
  }

  async function readHistory(dueAt: number): Promise<void> {
    const known = chats.known();
    if (known === undefined) return;
    const { owner, conversationId } = known;
    // The chat may go on in the meantime.
    const texts = [...known.texts];
    const path = `/run/api/chat/${conversationId}/messages`;
    const { messages } = await samples.time('history of a chat', () => get(owner, path), dueAt);
    const shown = JSON.stringify(messages ?? []);
    const missing = texts.filter((text) => !shown.includes(text));
    if (missing.length > 0)
      faults.push(`the history of a chat lacks "${missing[0]}": ${shown.slice(0, 200)}`);
  }

  async function openStream(owner: Owner, dueAt: number): Promise<void> {
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${await tokenOf(owner)}` };
    const { signal } = leaving;
    // The first bytes are the snapshot.
    await samples.time(
      'open the inbox',
      async () => {
        const response = await countedFetch('http://pod/v1/inbox/events', { headers, signal });
        await response.body?.getReader().read();
      },
      dueAt,
    );
    leaving.abort();
  }

  const operations: Readonly<Record<Kind, (owner: Owner, dueAt: number) => Promise<unknown>>> = {
    question,
    list: (owner, dueAt) =>
      samples.time('list of open questions', () => get(owner, '/v1/elicitations?status=pending'), dueAt),
    chat: (_owner, dueAt) => chat(dueAt, false),
    'chat with a question': (_owner, dueAt) => chat(dueAt, true),
    history: (_owner, dueAt) => readHistory(dueAt),
    chats: (owner, dueAt) => samples.time('list of chats', () => get(owner, '/run/api/chats'), dueAt),
    'open a stream': openStream,
  };

  async function beginAtRate(kind: Kind, stopping: AbortSignal): Promise<void> {
    const running = new Set<Promise<void>>();
    let dueAt = performance.now();
    while (!stopping.aborted) {
      dueAt += (-Math.log(1 - Math.random()) * 1000) / (SHARE * RATES[kind]);
      await sleep(dueAt - performance.now(), undefined, { signal: stopping }).catch(() => undefined);
      if (stopping.aborted) break;
      const owner = owners[Math.floor(Math.random() * owners.length)] as Owner;
      counts.begun += 1;
      const one = operations[kind](owner, dueAt).then(
        () => {
          counts.finished += 1;
        },
        (error: unknown) => void faults.push(`${kind}: ${String(error)}`),
      );
      running.add(one);
      void one.finally(() => running.delete(one));
    }
    await Promise.all(running);
  }

  return {
    history,
    statuses,
    refusals,
    late,
    faults,
    counts,
    async run(stopping) {
      // A stream that nobody has asked on yet is not found.
      await Promise.all(owners.map((owner) => question(owner, performance.now())));
      const inboxes = await Promise.all(
        owners.map(async (owner) => followInbox(countedFetch, await tokenOf(owner), onInboxEvent)),
      );
      const followers = await Promise.all(
        owners.map(async (owner) =>
          follow({
            fetch: countedFetch,
            history,
            owner,
            token: await tokenOf(owner),
            streamRequestId: streamOf(owner),
            reconnectEveryMs: RECONNECT_MS,
          }),
        ),
      );
      await Promise.all((Object.keys(RATES) as Kind[]).map((kind) => beginAtRate(kind, stopping)));
      await stopOnceNotified(history, followers);
      await Promise.all(inboxes.map((inbox) => inbox.stop()));
    },
  };
}

/** True for a pod that its Redis did not answer in time. */
async function isLate(response: Response): Promise<boolean> {
  if (response.status !== 503) return false;
  const { code } = (await response.clone().json()) as { readonly code?: string };
  return code === 'unavailable';
}

interface Chat {
  readonly owner: Owner;
  readonly conversationId: string;
  /** The messages of its finished turns. */
  readonly texts: string[];
  turns: number;
}

/** Conversations that no turn runs in, each used for a few turns. */
function createChats(owners: readonly Owner[]) {
  const free: Chat[] = [];
  const finished: Chat[] = [];
  return {
    /** A conversation for one turn; `done` gives it back. */
    take() {
      const owner = owners[Math.floor(Math.random() * owners.length)] as Owner;
      const chat: Chat = free.shift() ?? { owner, conversationId: randomUUID(), texts: [], turns: 0 };
      const done = (text: string) => {
        chat.texts.push(text);
        chat.turns += 1;
        if (chat.turns < TURNS_PER_CHAT) free.push(chat);
        if (chat.turns > 1) return;
        finished.push(chat);
        // An older one may have expired.
        if (finished.length > owners.length) finished.shift();
      };
      return { ...chat, done };
    },
    known: () => finished[Math.floor(Math.random() * finished.length)],
  };
}
