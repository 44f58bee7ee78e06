import type { Redis } from 'ioredis';
import { QUESTION } from '../pod/engine.ts';
import { inSlots } from '../slots.ts';

const RAW_OPEN = `
redis.call('HSET', KEYS[1], 'status', 'pending', 'definition', ARGV[1])
redis.call('ZADD', KEYS[2], ARGV[2], KEYS[1])
return 1`;

const RAW_SETTLE = `
if redis.call('HGET', KEYS[1], 'status') ~= 'pending' then return 0 end
redis.call('HSET', KEYS[1], 'status', 'accepted', 'answer', ARGV[1])
redis.call('ZREM', KEYS[2], KEYS[1])
redis.call('PUBLISH', ARGV[2], KEYS[1] .. ' ' .. ARGV[1])
return 1`;

type RawCommand = (...args: (string | number)[]) => Promise<number>;

/**
 * The least that a life must do, as two scripts of the bench itself: one row, one index, one publish.
 * `benchOpen`: row, deadlines, definition, deadline. `benchSettle`: row, deadlines, answer, channel.
 */
export function rawCommands(redis: Redis): Readonly<Record<'benchOpen' | 'benchSettle', RawCommand>> {
  redis.defineCommand('benchOpen', { numberOfKeys: 2, lua: RAW_OPEN });
  redis.defineCommand('benchSettle', { numberOfKeys: 2, lua: RAW_SETTLE });
  return redis as unknown as Record<'benchOpen' | 'benchSettle', RawCommand>;
}

const UNDER_WAY = 50;

/** Opens and settles by the raw scripts, `count` times. */
export async function rawLifecycles(redis: Redis, count: number): Promise<void> {
  const commands = rawCommands(redis);
  const definition = JSON.stringify(QUESTION);
  await inSlots(count, UNDER_WAY, async (index) => {
    const row = `bench:{raw}:${index}`;
    await commands.benchOpen(row, 'bench:{raw}:deadlines', definition, index);
    await commands.benchSettle(
      row,
      'bench:{raw}:deadlines',
      '{"environment":"staging","at":1}',
      'bench:none',
    );
  });
}
