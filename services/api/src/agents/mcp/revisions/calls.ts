import type { CallReply, CallServerTool, McpCallOptions } from '../calls/call.ts';
import type { McpCallResult } from '../calls/results.ts';
import { inRevision, type ServerTarget } from '../target.ts';
import type { RevisionMemory } from './memory.ts';

const ROUNDS = '2026-07-28';

export interface RevisionCallsDeps {
  readonly call: CallServerTool;
  /** Runs `work` on a connection that no other call uses, where the server may ask. */
  readonly connected: <T>(target: ServerTarget, work: (target: ServerTarget) => Promise<T>) => Promise<T>;
  readonly memory: RevisionMemory;
}

export type CallInRevision = (
  target: ServerTarget,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: McpCallOptions,
) => Promise<McpCallResult>;

/**
 * Makes calls in the revision in which the tool can ask. A call that failed because it needed the other one is made there,
 * once, if that is harmless; otherwise its error names the setting, and the next call of the tool is made there. A call that is
 * repeated has its whole time again.
 */
export function createRevisionCalls({ call, connected, memory }: RevisionCallsDeps): CallInRevision {
  /** A round of questions is answered in the revision that has rounds, also on a pod that knows nothing about the server yet. */
  function targetOfCall(target: ServerTarget, name: string, hasRound: boolean): ServerTarget {
    const { id, revision } = target.config;
    if (revision !== undefined || memory.of(id) === ROUNDS) return target;
    return hasRound || memory.asksByRounds(id, name) ? inRevision(target, ROUNDS) : target;
  }

  return async (target, name, args, options) => {
    const { id, revision } = target.config;
    const hasRound = options.answers !== undefined;
    const send = (one: ServerTarget) => connected(one, (lane) => call(lane, name, args, options));
    const first = targetOfCall(target, name, hasRound);
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
function explained({ result, need }: CallReply, serverId: string): McpCallResult {
  if (need === undefined || need.isRefused) return result;
  const { revision, isHarmless } = need;
  const sentences = [
    `It asks in a way that only MCP ${revision} has${revision === ROUNDS ? '' : ' (over HTTP: with sessions)'}, and was called in another revision.`,
    ...(isHarmless ? [] : ['It may have done a part of its work.']),
    `The setting \`mcpServers.${serverId}.protocol\` chooses the revision.`,
  ];
  return { type: 'input_required', message: sentences.join(' ') };
}
