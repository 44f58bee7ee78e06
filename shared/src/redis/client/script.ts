import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Commands } from './connect.ts';
import { orUnavailable } from './unavailable.ts';

/** Runs one Lua script atomically: its keys, which share a slot, and its arguments. */
export type Script = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

/** Loads `redis/<name>.lua`; the name holds its folder. Sends only its hash; the whole script again when the server lost it. */
export function loadScript(redis: Commands, name: string, onError?: (error: unknown) => void): Script {
  const source = readFileSync(new URL(`../${name}.lua`, import.meta.url), 'utf8');
  const hash = createHash('sha1').update(source).digest('hex');
  return (keys, args) =>
    orUnavailable(async () => {
      try {
        return await redis.evalsha(hash, keys.length, ...keys, ...args);
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return redis.eval(source, keys.length, ...keys, ...args);
      }
    }, onError);
}
