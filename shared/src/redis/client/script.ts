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
 * Pieces come in the order in which they are listed: one may use those before it, and requires none itself. Throws when a
 * file is missing.
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

/** What a script reads by name (`client/named`), and the keys and arguments that follow. */
export interface NamedCall {
  readonly keys: Readonly<Record<string, string>>;
  readonly args: Readonly<Record<string, string | number>>;
  readonly moreKeys?: readonly string[];
  readonly moreArgs?: readonly (string | number)[];
}

/** Loads a script that requires `client/named`. */
export function loadNamedScript(...of: Parameters<typeof loadScript>): (call: NamedCall) => Promise<unknown> {
  const script = loadScript(...of);
  return ({ keys, args, moreKeys = [], moreArgs = [] }) =>
    script(
      [...Object.values(keys), ...moreKeys],
      [...[keys, args].map((named) => Object.keys(named).join(' ')), ...Object.values(args), ...moreArgs],
    );
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
