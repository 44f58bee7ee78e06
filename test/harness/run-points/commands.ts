import { readFileSync } from 'node:fs';

/** An operation of a pod on a run or on a question of a run, parsed from a Redis command. `userId` is the owner's. */
export type RunCommand =
  | { readonly type: 'begin'; readonly userId: string; readonly run: string; readonly owner: string }
  | {
      readonly type: 'write';
      readonly userId: string;
      readonly run: string;
      readonly term: number;
      readonly notes: readonly RunNoteSent[];
      /** Names of the events. */
      readonly events: readonly string[];
      /** Status with which the run ends. */
      readonly ends?: string;
    }
  | {
      readonly type: 'take';
      readonly userId: string;
      readonly run: string;
      readonly term: number;
      readonly owner: string;
    }
  /** Text goes to readers before it is written. */
  | { readonly type: 'publish'; readonly userId: string; readonly run: string; readonly term: number }
  | { readonly type: 'commit'; readonly userId: string; readonly revision: number; readonly status: string };

/** A field of a run's record, and its value. */
export interface RunNoteSent {
  readonly field: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** A Redis key of Parley that belongs to an owner. */
export interface OwnedKey {
  readonly family: string;
  readonly userId: string;
  /** The part after the owner, such as a stream request. */
  readonly rest: string;
}

const KEY = /^parley:\{[^}]*\}:([a-z-]+):([^/]*)\/([^/]*)(?:\/(.*))?$/;

/** Parses a key; undefined when it belongs to no owner. */
export function parseOwnedKey(key: string | undefined): OwnedKey | undefined {
  const [, family, , userId, rest = ''] = KEY.exec(key ?? '') ?? [];
  return family === undefined || userId === undefined ? undefined : { family, userId, rest };
}

/** Recognises a command by the keys of its script; undefined for any other command. */
export function parseRunCommand(args: readonly string[]): RunCommand | undefined {
  const [name = '', , count] = args;
  if (!/^eval(sha)?$/i.test(name)) return undefined;
  const end = 3 + Number(count);
  const keys = args.slice(3, end);
  const given = args.slice(end);
  const owned = keys.map(parseOwnedKey);
  const [first, , third, fourth, fifth] = owned;
  if (first?.family === 'run') {
    const { userId, rest: run } = first;
    if (fourth?.family === 'messages') return parseWrite(userId, run, given);
    if (fifth?.family === 'messages') return { type: 'begin', userId, run, owner: given[1] ?? '' };
    if (keys.length === 1 && given.length === PUBLISH_ARGUMENTS)
      return { type: 'publish', userId, run, term: Number(given[0]) };
    if (keys[1]?.endsWith(':running') !== true) return undefined;
    return { type: 'take', userId, run, term: Number(given[0]) + 1, owner: given[1] ?? '' };
  }
  if (third?.family !== 'inbox' || fourth?.family !== 'history') return undefined;
  return { type: 'commit', userId: third.userId, revision: Number(given[0]), status: given[3] ?? '' };
}

const scriptOf = (name: string) =>
  readFileSync(new URL(`../../../shared/src/redis/runs/${name}.lua`, import.meta.url), 'utf8');
// A script itself names its arguments in order, so that this reader follows when they change.
const argumentsOf = (script: string) =>
  /local ([\w\s,]+?) =\s*unpack\(ARGV[,)]/.exec(script)?.[1]?.split(/,\s*/) ?? [];

const WRITE_ARGUMENTS = [...scriptOf('write').matchAll(/^-- args: (.+)$/gm)].flatMap(([, names = '']) =>
  names.split(' '),
);
const PUBLISH_ARGUMENTS = argumentsOf(scriptOf('publish')).length;
const FIRST_NOTE = WRITE_ARGUMENTS.length;

function parseWrite(userId: string, run: string, given: readonly string[]): RunCommand {
  const argument = (name: string) => given[WRITE_ARGUMENTS.indexOf(name)] ?? '';
  const [noteCount, eventCount] = [Number(argument('noteCount')), Number(argument('eventCount'))];
  const eventsAt = FIRST_NOTE + 2 * noteCount;
  const ends = argument('endStatus');
  return {
    type: 'write',
    userId,
    run,
    term: Number(argument('term')),
    notes: Array.from({ length: noteCount }, (_, at) => ({
      field: given[FIRST_NOTE + 2 * at] ?? '',
      value: JSON.parse(given[FIRST_NOTE + 2 * at + 1] ?? '{}') as Record<string, unknown>,
    })),
    events: Array.from({ length: eventCount }, (_, at) => given[eventsAt + 2 * at] ?? ''),
    ...(ends !== '' && { ends }),
  };
}
