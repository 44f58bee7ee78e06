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

/** What a request is about. */
export interface Requested {
  /** The tool, or what is read. */
  readonly name: string;
  /** Whether it has the answers to a round of questions. */
  readonly hasRound: boolean;
}

/** Makes a request, on a connection of the revision in which the server can ask. */
type InNeededRevision = <Result>(
  target: ServerTarget,
  requested: Requested,
  send: (target: ServerTarget) => Promise<RevisionReply<Result>>,
) => Promise<Result | McpFailure>;

/**
 * Makes requests in the revision in which the server can ask. One that failed because it needed the other one is made there,
 * once, if that is harmless; otherwise its error names the setting, and the next one of that name is made there. A request that
 * is repeated has its whole time again.
 */
export function createInNeededRevision(memory: RevisionMemory): InNeededRevision {
  /** A round of questions is answered in the revision that has rounds, also on a pod that knows nothing about the server yet. */
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
      // The server did not offer the older one, or no way to ask in it. It may do so after an update.
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

/** The result, or what can be done about a server that could not ask. */
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
