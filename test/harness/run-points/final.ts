import { bucketOf, formatStreamPath } from '@parley/core/domain/ids';
import {
  conversationKey,
  feedKey,
  inboxKey,
  messagesKey,
  runKey,
  runningKey,
} from '@parley/shared/redis/client/keys';
import { timerPrefix } from '@parley/shared/redis/jobs/timers';
import { RUNS_QUEUE } from '@parley/shared/redis/runs/run-queue';
import { checkHistory } from '../history/check-history.ts';
import { formatReport, type Report } from '../history/report.ts';
import type { CallOutcome, FeedEvent, RunEvent, StoredMessage } from '../history/run-events.ts';
import { waitUntil } from '../wait-until.ts';
import { type Talk, TENANT } from './person.ts';
import { callNameOf } from './script.ts';
import type { RunSite } from './site.ts';

const UNKNOWN = /may or may not have had its effect/;

/** Waits until all runs have ended, records the final state of each conversation, and checks the history. */
export async function judge(site: RunSite, all: readonly Talk[]): Promise<Report & { text: string }> {
  const talks = await selectBegun(site, all);
  const names = new Set(talks.map(({ name }) => name));
  const isEnded = (name: string) =>
    site.events.some(
      (event) => event.type === 'write' && event.conversation === name && event.accepted && 'ends' in event,
    );
  for (const { name } of talks)
    await waitUntil(() => isEnded(name), { what: `the end of ${name} to be seen` });
  await waitUntil(async () => (await waiting(site)) === 0, { what: 'the queue of runs to be empty' });
  for (const talk of talks) await recordFinal(site, talk);
  const isOwn = (event: RunEvent) => event.type !== 'kill' && names.has(event.conversation);
  const since = site.events.slice(Math.max(0, site.events.findIndex(isOwn)));
  const report = checkHistory(since.filter((event) => event.type === 'kill' || isOwn(event)));
  return { ...report, text: formatReport(report) };
}

/** Leaves out conversations whose turn was refused with a 503 and then ended as failed. */
async function selectBegun({ redis, runOf }: RunSite, talks: readonly Talk[]): Promise<readonly Talk[]> {
  const isEnded = async ({ wasRefused, userId, name }: Talk) => {
    if (!wasRefused) return false;
    const stream = { tenant: TENANT, userId, streamRequestId: runOf(name) ?? '' };
    return (await redis.hget(runKey(stream), 'status')) === 'failed';
  };
  const ended = await Promise.all(talks.map(isEnded));
  return talks.filter((_talk, at) => ended[at] !== true);
}

/** Number of runs in the queue. */
async function waiting({ redis }: RunSite): Promise<number> {
  const queue = `${timerPrefix(0)}:${RUNS_QUEUE}`;
  const lengths = await Promise.all([
    redis.llen(`${queue}:wait`),
    redis.llen(`${queue}:active`),
    redis.zcard(`${queue}:delayed`),
  ]);
  return lengths.reduce((sum, length) => sum + length, 0);
}

async function recordFinal({ redis, record, runOf }: RunSite, { name, userId }: Talk): Promise<void> {
  const owner = { tenant: TENANT, userId };
  const conversation = { ...owner, conversationId: name };
  const run = runOf(name) ?? '';
  const stream = { ...owner, streamRequestId: run };
  const [status, feed, messages, running, indexed, open] = await Promise.all([
    redis.hget(runKey(stream), 'status'),
    redis.xrange(feedKey(stream), '-', '+'),
    redis.lrange(messagesKey(conversation), 0, -1),
    redis.hget(conversationKey(conversation), 'running'),
    redis.hexists(runningKey(bucketOf(owner)), formatStreamPath(stream)),
    redis.zcard(inboxKey(owner)),
  ]);
  const remaining = [
    ...(running === null ? [] : ['its conversation']),
    ...(indexed === 0 ? [] : ['the index of running turns']),
    ...(open === 0 ? [] : ['the inbox of its person']),
  ];
  record({
    type: 'run-final',
    conversation: name,
    run,
    status: status ?? 'gone',
    feed: feedOf(feed),
    stored: storedMessages(messages),
    remaining,
  });
}

type Data = Readonly<Record<string, unknown>>;

function feedOf(entries: readonly [id: string, fields: string[]][]): FeedEvent[] {
  const calls = new Map<string, string>();
  return entries.map(([id, fields]) => {
    const field = (name: string) => fields[fields.indexOf(name) + 1] ?? '';
    const [name, data] = [field('event'), JSON.parse(field('data')) as Data];
    if (name === 'tool-called') calls.set(`${data.toolCallId}`, callNameOf(`${data.toolName}`, data.input));
    const call = calls.get(`${data.toolCallId}`);
    return {
      id,
      name,
      ...(typeof data.step === 'number' && { step: data.step }),
      ...(typeof data.text === 'string' && { text: data.text }),
      ...(typeof data.elicitationId === 'string' && { elicitationId: data.elicitationId }),
      ...(typeof data.approvalId === 'string' && { approvalId: data.approvalId }),
      ...(call !== undefined && { call }),
      ...(name === 'tool-returned' && { outcome: 'returned' as const, output: data.output }),
      ...(name === 'tool-failed' && { outcome: failureOf(data.message), output: data.message }),
    };
  });
}

interface Message {
  readonly role: string;
  readonly content: string | readonly Part[];
}

type Part = Data & { readonly type: string };

function storedMessages(messages: readonly string[]): StoredMessage[] {
  // Keyed by the ids that the model gave.
  const calls = new Map<string, string>();
  const parts = messages.flatMap((text) => {
    const { role, content } = JSON.parse(text) as Message;
    const said = typeof content === 'string' ? [{ type: 'text', text: content } as Part] : content;
    return said.map((part) => ({ role, part }));
  });
  return parts.flatMap(({ role, part }): StoredMessage[] => {
    const { type, text = '', toolCallId = '', toolName = '' } = part;
    if (type === 'text') return [{ type: role === 'user' ? 'message' : 'text', text: `${text}` }];
    if (type === 'tool-call') {
      const call = callNameOf(`${toolName}`, part.input);
      calls.set(`${toolCallId}`, call);
      return [{ type: 'called', call }];
    }
    if (type !== 'tool-result') return [];
    return [resultOf(calls.get(`${toolCallId}`) ?? `${toolName}`, part.output as Output)];
  });
}

interface Output {
  readonly type: string;
  readonly value: unknown;
}

function resultOf(call: string, { type, value }: Output): StoredMessage {
  const outcome = type === 'error-text' ? failureOf(value) : 'returned';
  const { answer, note, result } = (value ?? {}) as Readonly<Record<string, unknown>>;
  // The model reads a note beside the result of a call whose arguments were edited.
  const output = note === undefined ? value : result;
  return { type: 'result', call, outcome, output, ...(typeof answer === 'string' && { answer }) };
}

function failureOf(message: unknown): CallOutcome {
  return UNKNOWN.test(String(message)) ? 'unknown' : 'failed';
}
