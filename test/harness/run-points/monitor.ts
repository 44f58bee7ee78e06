import type { RunEvent } from '../history/run-events.ts';
import { watchCommands } from '../redis/redis-monitor.ts';
import { parseOwnedKey, parseRunCommand, type RunCommand } from './commands.ts';

type Write = Extract<RunCommand, { type: 'write' }>;

/** A run got this owner. */
export interface SeenTerm {
  readonly userId: string;
  readonly run: string;
  readonly term: number;
  readonly owner: string;
}

/** Handlers for changes of runs in Redis. */
export interface SeenInRedis {
  /** A run got an owner, by its start or by a take-over. */
  readonly onTerm: (term: SeenTerm) => void;
  readonly onWrite: (write: Write, accepted: boolean) => void;
}

// The script of a write reads the record with this command before it may refuse; an accepted write changes its expiry.
const LOOKS = 'HMGET';

/**
 * Monitors the runs in a Redis: a script's arguments show the request, the commands within the script its effect.
 * Returns a function that stops the monitor.
 */
export async function watchRuns(url: string, { onTerm, onWrite }: SeenInRedis): Promise<() => void> {
  let open: Write | undefined;
  // MONITOR also shows an EVALSHA of an unknown script, which the client then sends again as EVAL.
  let isRunning = false;
  const close = (accepted: boolean) => {
    if (open !== undefined && isRunning) onWrite(open, accepted);
    open = undefined;
    isRunning = false;
  };
  return watchCommands(url, (args) => {
    const [name = '', key] = args;
    const command = parseRunCommand(args);
    if (command !== undefined) {
      close(false);
      if (command.type === 'write') open = command;
      return;
    }
    if (open !== undefined) {
      const isOwn = parseOwnedKey(key)?.rest === open.run;
      if (name === LOOKS && isOwn) isRunning = true;
      else if (name === 'PEXPIRE' && isOwn) close(true);
      // Scripts write command names in capitals; clients do not.
      else if (name !== name.toUpperCase()) close(false);
    }
    const term = termIn(args);
    if (term !== undefined) onTerm(term);
  });
}

/** The term that a command gives to a run; undefined when it gives none. */
function termIn([name, key, ...rest]: readonly string[]): SeenTerm | undefined {
  const owned = name === 'HSET' ? parseOwnedKey(key) : undefined;
  if (owned?.family !== 'run') return undefined;
  const after = (field: string) => rest[rest.findIndex((one, at) => at % 2 === 0 && one === field) + 1];
  if (!rest.includes('term') || !rest.includes('owner')) return undefined;
  const { userId, rest: run } = owned;
  return { userId, run, term: Number(after('term')), owner: after('owner') ?? '' };
}

/** Records changes in Redis as events of a history; `nameOf` maps a person to the conversation's name. */
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
