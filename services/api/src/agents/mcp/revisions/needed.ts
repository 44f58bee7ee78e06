import type { McpFailure } from '../results.ts';
import { inRevision, type ServerTarget } from '../target.ts';
import type { NeededRevision } from './evidence.ts';
import type { RevisionMemory } from './memory.ts';

const ROUNDS = '2026-07-28';

export interface RevisionReply<Result> {
  readonly result: Result;
  /** Present when the request failed because it needed another revision. */
  readonly need?: NeededRevision | undefined;
}

/** Identifies a request. */
export interface Requested {
  /** The name of the tool, or of what is read. */
  readonly name: string;
  /** True if the request contains the answers to a round of questions. */
  readonly hasRound: boolean;
}

/** Makes a request on a connection of the revision in which the server can ask. */
type InNeededRevision = <Result>(
  target: ServerTarget,
  requested: Requested,
  send: (target: ServerTarget) => Promise<RevisionReply<Result>>,
) => Promise<Result | McpFailure>;

/**
 * Makes requests in the revision in which the server can ask. A request that failed because it needed the other revision is
 * repeated there once, if that is harmless. Otherwise its error names the setting, and the next request with that name uses the
 * other revision. A repeated request has its full time again.
 */
export function createInNeededRevision(memory: RevisionMemory): InNeededRevision {
  /** Rounds of questions are answered in the revision that has rounds, even on a pod that does not know the server yet. */
  function targetOf(target: ServerTarget, { name, hasRound }: Requested): ServerTarget {
    const { id, revision } = target.config;
    if (revision !== undefined || memory.of(id)?.revision === ROUNDS) return target;
    return hasRound || memory.asksByRounds(id, name) ? inRevision(target, ROUNDS) : target;
  }

  return async (target, requested, send) => {
    const { id, revision } = target.config;
    const { name, hasRound } = requested;
    const first = targetOf(target, requested);
    const reply = await send(first);
    const { need } = reply;
    if (need === undefined || revision !== undefined || hasRound) return explained(reply, id);
    const hasRounds = need.revision === ROUNDS;
    memory.noteRounds(id, name, hasRounds);
    if (first === target && !hasRounds) {
      // The server did not offer the older revision, or could not ask in it. An update of the server may change that.
      memory.forget(id);
      return explained(reply, id);
    }
    if (!need.isHarmless) return explained(reply, id);
    const again = await send(hasRounds ? inRevision(target, ROUNDS) : target);
    if (again.need?.isRefused !== true) return explained(again, id);
    memory.noteRounds(id, name, !hasRounds);
    return explained(reply, id);
  };
}

/** The result; or, for a server that could not ask, what the deployer can do. */
function explained<Result>({ result, need }: RevisionReply<Result>, serverId: string): Result | McpFailure {
  if (need === undefined || need.isRefused) return result;
  const { revision, isHarmless, words } = need;
  const sentences = [
    `It asks in a way that only MCP ${revision} has${revision === ROUNDS ? '' : ' (over HTTP: with sessions)'}, and was called in another revision.`,
    ...(isHarmless ? [] : ['It may have done a part of its work.']),
    `The setting \`mcpServers.${serverId}.protocol\` chooses the revision.`,
    `The server said: ${words}`,
  ];
  return { type: 'input_required', message: sentences.join(' ') };
}
