/** Loads Lua scripts with the pieces that they require, and calls them by hash. What a script does is in its own file. */

import { createHash } from 'node:crypto';
import { readScriptFile } from '../script-files.ts';
import type { Commands } from './connect.ts';
import { orUnavailable } from './unavailable.ts';

/** Runs one Lua script atomically. On a Cluster, all keys must be in one slot. */
export type Script = (keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

const REQUIRES = /^-- requires: (.+)\n/;

/**
 * The Lua source of a script as it is sent to Redis. `name` is its path below `redis/`, without `.lua`. If the first line is
 * `-- requires: client/clock, feed/append`, these pieces are put in front: files that define local functions, in the listed
 * order. A piece may use the pieces before it, but has no `requires` line itself. Throws when a file is missing.
 */
export function scriptSource(name: string): string {
  const script = readScriptFile(name);
  const [, required] = REQUIRES.exec(script) ?? [];
  const pieces = required === undefined ? [] : required.split(',').map((piece) => piece.trim());
  return [...pieces.map((piece) => readPiece(piece, name)), ...namedValues(script), script].join('\n');
}

/**
 * Loads a script at once, so that a missing file stops the start. A call sends only the hash of the source, and the source
 * itself if the server does not know it.
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

/** The keys and arguments that a script reads by name, and the further ones. */
interface ScriptCall {
  readonly keys: Readonly<Record<string, string>>;
  readonly args: Readonly<Record<string, string | number>>;
  readonly moreKeys?: readonly string[];
  readonly moreArgs?: readonly (string | number)[];
}

/**
 * Loads a script whose lines `-- keys:` and `-- args:` list the keys and arguments that it reads by name. A call without one of
 * them throws.
 */
export function loadNamedScript(
  redis: Commands,
  name: string,
  onError?: (error: unknown) => void,
): (call: ScriptCall) => Promise<unknown> {
  const script = loadScript(redis, name, onError);
  const { keys: keyNames, args: argNames } = namesIn(readScriptFile(name));
  const pick = <T>(names: readonly string[], values: Readonly<Record<string, T>>): T[] =>
    names.map((each) => {
      const value = values[each];
      if (value === undefined) throw new Error(`The script ${name}.lua is called without ${each}.`);
      return value;
    });
  return ({ keys, args, moreKeys = [], moreArgs = [] }) =>
    script([...pick(keyNames, keys), ...moreKeys], [...pick(argNames, args), ...moreArgs]);
}

/** The names that a script lists. */
function namesIn(script: string): { readonly keys: readonly string[]; readonly args: readonly string[] } {
  const listed = (kind: string) =>
    [...script.matchAll(new RegExp(`^-- ${kind}: (.+)$`, 'gm'))].flatMap(([, names = '']) =>
      names.split(' '),
    );
  return { keys: listed('keys'), args: listed('args') };
}

/**
 * Lua lines that define the tables `key` and `arg` of a script that lists names, and the indexes of the first further values.
 */
function namedValues(script: string): readonly string[] {
  const { keys, args } = namesIn(script);
  if (keys.length === 0) return [];
  const table = (names: readonly string[], values: string) =>
    names.map((name, at) => `${name} = ${values}[${at + 1}]`).join(', ');
  return [
    `local key, nextKey = { ${table(keys, 'KEYS')} }, ${keys.length + 1}`,
    `local arg, nextArgument = { ${table(args, 'ARGV')} }, ${args.length + 1}`,
  ];
}

function readPiece(piece: string, script: string): string {
  try {
    return readScriptFile(piece);
  } catch (error) {
    throw new Error(`The script ${script}.lua requires ${piece}.lua, which cannot be read.`, {
      cause: error,
    });
  }
}
