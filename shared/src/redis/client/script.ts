import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Commands } from './connect.ts';
import { orUnavailable } from './unavailable.ts';

/** Runs one Lua script atomically. On a Cluster all keys lie in one slot. */
export type Script = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

const REQUIRES = /^-- requires: (.+)\n/;

/**
 * The Lua source of a script as it is sent to Redis. `name` is its path below `redis/`, without `.lua`. A script whose
 * first line is `-- requires: client/clock, feed/append` is preceded by these pieces: files that define local functions.
 * Pieces come in the order in which they are listed and require none themselves. Throws when a file is missing.
 */
export function scriptSource(name: string): string {
  const script = readLua(name);
  const [, required] = REQUIRES.exec(script) ?? [];
  const pieces = required === undefined ? [] : required.split(',').map((piece) => piece.trim());
  return [...pieces.map((piece) => readPiece(piece, name)), script].join('\n');
}

/**
 * Loads a script: at once, so that a missing file stops the start. Each call sends only the hash of the source, and the
 * source itself when the server does not know it.
 */
export function loadScript(redis: Commands, name: string, onError?: (error: unknown) => void): Script {
  const source = scriptSource(name);
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

function readPiece(piece: string, script: string): string {
  try {
    return readLua(piece);
  } catch (error) {
    throw new Error(`The script ${script}.lua requires ${piece}.lua, which cannot be read.`, {
      cause: error,
    });
  }
}

function readLua(name: string): string {
  return readFileSync(new URL(`../${name}.lua`, import.meta.url), 'utf8');
}
