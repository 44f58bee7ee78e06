import { bucketOf, ownStreamOf } from '@parley/core/domain/ids';
import { armedKey, channelName, elicitationKey, feedKey, limitKey } from '@parley/shared/redis/client/keys';
import { timerPrefix } from '@parley/shared/redis/jobs/timers';
import type { Owner } from '../history/events.ts';
import { type RedisAddress, redisCommand } from '../redis/redis-command.ts';
import { watchCommands } from '../redis/redis-monitor.ts';
import { waitUntil } from '../wait-until.ts';
import type { Asked } from './pod-client.ts';

/** Counts the connections that are subscribed to the stream of a question. */
export async function countSubscribers(at: RedisAddress, asked: Asked): Promise<number> {
  const reply = await redisCommand(at, 'PUBSUB', 'NUMSUB', channelName('stream', streamOf(asked)));
  return Array.isArray(reply) ? Number(reply[1]) : Number.NaN;
}

/** Waits until each of these questions has a subscriber; a waiter subscribes only while no reader is subscribed. */
export async function untilSubscribed(at: RedisAddress, questions: readonly Asked[]): Promise<void> {
  await waitUntil(
    async () => {
      const counts = await Promise.all(questions.map((asked) => countSubscribers(at, asked)));
      return counts.every((count) => count > 0);
    },
    { what: 'all waiters to be subscribed', timeoutMs: 30_000 },
  );
}

/** The names of the events of a question's own stream, oldest first. */
export async function readEvents(at: RedisAddress, asked: Asked): Promise<string[]> {
  const { id, streamRequestId } = asked;
  if (streamRequestId === ownStreamOf(id)) return readCommits(at, id);
  const entries = (await redisCommand(at, 'XRANGE', feedKey(streamOf(asked)), '-', '+')) as [
    string,
    string[],
  ][];
  return entries.map(([, fields]) => fields[fields.indexOf('event') + 1] ?? '');
}

/**
 * The commits of a form question that is alone on its stream, by the names of their events. Only its row counts them, and a
 * form has no commit between its first and its last one.
 */
async function readCommits(at: RedisAddress, id: string): Promise<string[]> {
  const revision = Number(await redisCommand(at, 'HGET', elicitationKey(id), 'revision'));
  return Array.from({ length: revision }, (_, index) =>
    index === 0 ? 'elicitation-request' : 'elicitation-resolved',
  );
}

/** Counts the ending events on a question's own stream. */
export async function countEndings(at: RedisAddress, asked: Asked): Promise<number> {
  return (await readEvents(at, asked)).filter((name) => name === 'elicitation-resolved').length;
}

/** The key of the job that is armed in the bucket of a question. */
async function armedJobKey(at: RedisAddress, { owner }: Asked): Promise<string> {
  const armed = String(await redisCommand(at, 'GET', armedKey(bucketOf(owner))));
  return `${timerPrefix(0)}:expiry:${bucketOf(owner)}-${armed.split(' ')[0]}`;
}

/** Waits until there is a job for each of these questions, its own or an earlier one; returns the keys of the jobs. */
export async function untilQueued(at: RedisAddress, asked: readonly Asked[]): Promise<readonly string[]> {
  const keys = [...new Set(await Promise.all(asked.map((each) => armedJobKey(at, each))))];
  await waitUntil(async () => (await redisCommand(at, 'EXISTS', ...keys)) === keys.length, {
    what: 'all jobs to be queued',
  });
  return keys;
}

/** Counts a person's open streams by the slots that they hold. */
export async function countStreams(at: RedisAddress, owner: Owner): Promise<number> {
  return Number(await redisCommand(at, 'ZCARD', limitKey('streams', owner)));
}

/** Ids of the connections with this name, in the form that CLIENT KILL takes. */
export async function clientsNamed(at: RedisAddress, name: string): Promise<string[]> {
  const list = String(await redisCommand(at, 'CLIENT', 'LIST')).split('\n');
  return list.flatMap((line) => {
    const [, id] = /^id=(\d+) /.exec(line) ?? [];
    return id !== undefined && line.includes(` name=${name} `) ? [id] : [];
  });
}

/** Calls `seen` as soon as Redis runs a command that contains `text`; returns a function that stops the monitor. */
export async function onCommand(url: string, text: string, seen: () => void): Promise<() => void> {
  let found = false;
  return watchCommands(url, (args) => {
    if (found || !args.some((arg) => arg.includes(text))) return;
    found = true;
    seen();
  });
}

function streamOf({ owner, streamRequestId }: Asked) {
  return { ...owner, streamRequestId };
}
