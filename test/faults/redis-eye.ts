import { channelName, feedKey, limitKey } from '@parley/shared/redis/client/keys';
import type { Owner } from '../harness/history/events.ts';
import { type RedisAddress, redisCommand } from '../harness/redis/redis-command.ts';
import { watchCommands } from '../harness/redis/redis-monitor.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { Asked } from './door.ts';

/** How many connections are subscribed to the stream of a question. */
export async function subscribersOf(at: RedisAddress, asked: Asked): Promise<number> {
  const reply = await redisCommand(at, 'PUBSUB', 'NUMSUB', channelName('stream', streamOf(asked)));
  return Array.isArray(reply) ? Number(reply[1]) : Number.NaN;
}

/** Waits until somebody is subscribed for each of these questions; a waiter counts only while nobody reads its stream. */
export async function untilHeard(at: RedisAddress, questions: readonly Asked[]): Promise<void> {
  await waitUntil(
    async () => {
      const counts = await Promise.all(questions.map((asked) => subscribersOf(at, asked)));
      return counts.every((count) => count > 0);
    },
    { what: 'all waiters to be subscribed', timeoutMs: 30_000 },
  );
}

/** The names of the events of a question's own stream, oldest first. */
export async function eventsOf(at: RedisAddress, asked: Asked): Promise<string[]> {
  const entries = (await redisCommand(at, 'XRANGE', feedKey(streamOf(asked)), '-', '+')) as [
    string,
    string[],
  ][];
  return entries.map(([, fields]) => fields[fields.indexOf('event') + 1] ?? '');
}

/** How often a question's own stream says that it ended. */
export async function endingsOf(at: RedisAddress, asked: Asked): Promise<number> {
  return (await eventsOf(at, asked)).filter((name) => name === 'elicitation-resolved').length;
}

/** How many streams a person has open, by the places they hold. */
export async function streamsOf(at: RedisAddress, owner: Owner): Promise<number> {
  return Number(await redisCommand(at, 'ZCARD', limitKey('streams', owner)));
}

/** Ids of the connections with this name, as CLIENT KILL takes them. */
export async function clientsNamed(at: RedisAddress, name: string): Promise<string[]> {
  const list = String(await redisCommand(at, 'CLIENT', 'LIST')).split('\n');
  return list.flatMap((line) => {
    const [, id] = /^id=(\d+) /.exec(line) ?? [];
    return id !== undefined && line.includes(` name=${name} `) ? [id] : [];
  });
}

/** Calls `seen` the moment Redis runs a command that contains `text`; gives how to stop looking. */
export async function onCommand(url: string, text: string, seen: () => void): Promise<() => void> {
  let told = false;
  return watchCommands(url, (args) => {
    if (told || !args.some((arg) => arg.includes(text))) return;
    told = true;
    seen();
  });
}

function streamOf({ owner, streamRequestId }: Asked) {
  return { ...owner, streamRequestId };
}
