import type { RunEvent } from '../../harness/history/run-events.ts';
import { watchCommands } from '../../harness/redis/redis-monitor.ts';
import { ownedKeyOf, type RunCommand, runCommandOf } from './commands.ts';

type Write = Extract<RunCommand, { type: 'write' }>;

/** A run has this owner from now on. */
export interface SeenTerm {
  readonly userId: string;
  readonly run: string;
  readonly term: number;
  readonly owner: string;
}

/** What happens to runs in Redis, as it happens. */
export interface SeenInRedis {
  /** A run has another owner, by a beginning or by a take-over. */
  readonly onTerm: (term: SeenTerm) => void;
  readonly onWrite: (write: Write, accepted: boolean) => void;
}

// What write-run.lua does before it refuses, and only there; the rest of it changes the record's expiry.
const LOOKS = 'HMGET';
const DOES = new Set(['TIME', 'HSET', 'XREVRANGE', 'XADD', 'HDEL', 'HGET', 'RPUSH', 'LTRIM', 'PUBLISH']);

/**
 * Watches the runs in a Redis: what a script was asked to do, and by the commands within it what it did. Gives how to
 * stop.
 */
export async function watchRuns(url: string, { onTerm, onWrite }: SeenInRedis): Promise<() => void> {
  let open: Write | undefined;
  // Redis tells also of a script that it does not know, and is then sent as a whole.
  let isRunning = false;
  const close = (accepted: boolean) => {
    if (open !== undefined && isRunning) onWrite(open, accepted);
    open = undefined;
    isRunning = false;
  };
  return watchCommands(url, (args) => {
    const [name = '', key] = args;
    const command = runCommandOf(args);
    if (command !== undefined) {
      close(false);
      if (command.type === 'write') open = command;
      return;
    }
    if (open !== undefined) {
      const isOwn = ownedKeyOf(key)?.rest === open.run;
      if (name === LOOKS && isOwn) isRunning = true;
      else if (name === 'PEXPIRE' && isOwn) close(true);
      // Scripts name commands in capitals, clients do not.
      else if (!DOES.has(name)) close(false);
    }
    const term = termIn(args);
    if (term !== undefined) onTerm(term);
  });
}

/** The term that a command gives to a run; nothing when it gives none. */
function termIn([name, key, ...rest]: readonly string[]): SeenTerm | undefined {
  const owned = name === 'HSET' ? ownedKeyOf(key) : undefined;
  if (owned?.family !== 'run') return undefined;
  const after = (field: string) => rest[rest.findIndex((one, at) => at % 2 === 0 && one === field) + 1];
  if (!rest.includes('term') || !rest.includes('owner')) return undefined;
  const { userId, rest: run } = owned;
  return { userId, run, term: Number(after('term')), owner: after('owner') ?? '' };
}

/** What is seen in Redis, as events of a history; `nameOf` names the conversation of a person. */
export function recording(
  nameOf: (userId: string) => string | undefined,
  record: (event: RunEvent) => void,
): SeenInRedis {
  return {
    onTerm({ userId, run, term, owner }) {
      const conversation = nameOf(userId);
      if (conversation === undefined) return;
      if (term === 1) record({ type: 'begun', conversation, run });
      record({ type: 'term', conversation, run, term, owner });
    },
    onWrite({ userId, run, term, ends }, accepted) {
      const conversation = nameOf(userId);
      if (conversation === undefined) return;
      record({ type: 'write', conversation, run, term, accepted, ...(ends !== undefined && { ends }) });
    },
  };
}
