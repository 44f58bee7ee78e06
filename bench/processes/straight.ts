import type { Content } from '@parley/core/domain/elicitations/elicitation';
import { mintElicitationId, ownStreamOf } from '@parley/core/domain/ids';
import { backendSettings, readEnv } from '@parley/shared/config/env';
import { ELICITATIONS } from '@parley/shared/domain/elicitations/family';
import type { Definition, Row } from '@parley/shared/domain/elicitations/row';
import { transition } from '@parley/shared/domain/elicitations/transition';
import { commitCall, createCall } from '@parley/shared/redis/elicitations/commit-call';
import type { Redis } from 'ioredis';
import { QUESTION, TENANT } from '../pod/engine.ts';

// The floor of Parley's design: scripts with the keys and arguments of a commit, which execute the commands of a commit one
// after the other. They compare, refuse and repair nothing, so that no commit with these indexes can take less. Only the bench
// runs them, because what they write is of no use to the product.

const OPEN = `
local row, feed, inbox, _, deadlines, inboxBytes, armed, _, listed, watched, fence = unpack(KEYS)
local _, _, id, status, _, eventName, eventJson, wakeJson, streamChannel, _, feedEventsMax, life, _, _, definition, _, _, conversationId
  = unpack(ARGV)
local now = redis.call('TIME')[1] .. '000'
redis.call('EXISTS', row, fence)
redis.call('ZCARD', inbox)
redis.call('SET', inboxBytes, #definition, 'PX', life)
if feedEventsMax ~= '' then redis.call('XREVRANGE', feed, '+', '-', 'COUNT', 1) end
redis.call('HSET', row, 'status', status, 'revision', '1', 'createdAt', now, 'expiresAt', now, 'definition', definition,
  'conversationId', conversationId, 'writtenAt', now)
redis.call('ZADD', inbox, now, id)
redis.call('ZADD', deadlines, now, id)
redis.call('ZADD', listed, now, id)
redis.call('PTTL', listed)
redis.call('GET', armed)
if feedEventsMax ~= '' then
  redis.call('XADD', feed, '*', 'event', eventName, 'at', now, 'data', eventJson)
  redis.call('PTTL', feed)
end
redis.call('PUBLISH', streamChannel, wakeJson)
redis.call('PUBLISH', inbox, wakeJson)
redis.call('EXISTS', watched)
return { 1, now, '', 0 }`;

const SETTLE = `
local row, feed, inbox, history, deadlines, _, _, _, listed, watched = unpack(KEYS)
local revision, _, id, status, _, eventName, eventJson, wakeJson, streamChannel, retention, feedEventsMax, _, _, settlement
  = unpack(ARGV)
local now = redis.call('TIME')[1] .. '000'
redis.call('HMGET', row, 'revision', 'expiresAt', 'createdAt', 'settledAt', 'resumes', 'writtenAt', 'feedEpoch')
redis.call('HSET', row, 'status', status, 'revision', revision, 'writtenAt', now, 'settlement', settlement, 'settledAt', now)
redis.call('ZREM', inbox, id)
redis.call('ZREM', deadlines, id)
redis.call('ZADD', listed, 'XX', now, id)
redis.call('ZADD', history, now, id)
redis.call('PTTL', history)
redis.call('PEXPIRE', row, retention)
if feedEventsMax ~= '' then
  redis.call('XLEN', feed)
  redis.call('XADD', feed, '*', 'event', eventName, 'at', now, 'data', eventJson)
end
redis.call('PUBLISH', streamChannel, wakeJson)
redis.call('PUBLISH', inbox, wakeJson)
redis.call('EXISTS', watched)
return { 1, now, '', 0 }`;

type Question = Pick<Definition, 'mode' | 'message' | 'requestedSchema' | 'timeoutSeconds'>;
type Command = (keyCount: number, ...keysAndArguments: (string | number)[]) => Promise<unknown>;

/** The straight scripts on one connection. */
export interface Straight {
  /** Opens the question of the bench for a person; without a stream request it is alone on one of its own. */
  open(userId: string, streamRequestId?: string): Promise<Row>;
  /** Checks the answer by the rules of the product, and settles the row. */
  settle(row: Row, content: Content): Promise<void>;
}

export function openStraight(redis: Redis): Straight {
  redis.defineCommand('benchStraightOpen', { lua: OPEN });
  redis.defineCommand('benchStraightSettle', { lua: SETTLE });
  const commands = redis as unknown as Record<'benchStraightOpen' | 'benchStraightSettle', Command>;
  const settings = backendSettings(readEnv('api', {}));
  return {
    async open(userId, streamRequestId) {
      const id = mintElicitationId({ tenant: TENANT, userId });
      const stream = streamRequestId ?? ownStreamOf(id);
      const ref = { tenant: TENANT, userId, streamRequestId: stream, conversationId: stream };
      const definition: Definition = {
        ...ref,
        ...(QUESTION as unknown as Question),
        context: { trigger: 'agent' },
      };
      const { keys, args } = createCall(settings, ELICITATIONS, { id, definition }, { tasks: [] });
      await commands.benchStraightOpen(keys.length, ...keys, ...args);
      const createdAt = Date.now();
      const expiresAt = createdAt + definition.timeoutSeconds * 1000;
      return { id, definition, status: 'pending', revision: 1, createdAt, expiresAt };
    },
    async settle(row, content) {
      const decision = transition(row, { type: 'accept', content, surface: 'bench' }, row.createdAt);
      if (decision.type !== 'commit') throw new Error(`${row.id} cannot be answered.`);
      const { keys, args } = commitCall(settings, ELICITATIONS, {
        row,
        step: decision.step,
        notes: { tasks: [] },
      });
      await commands.benchStraightSettle(keys.length, ...keys, ...args);
    },
  };
}
