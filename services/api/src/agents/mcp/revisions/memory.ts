import { LRUCache } from 'lru-cache';
import type { McpRevision } from '../server-config.ts';

/** Why a server is called in a revision. */
export type RevisionReason =
  /** The configuration names it. */
  | 'configured'
  /** The server offers 2025-11-25, and can ask during its calls in it. */
  | 'can_ask'
  /** The server keeps no session in 2025-11-25, so it could not ask there. */
  | 'no_session'
  /** The server refuses the other one. */
  | 'other_refused';

export interface ChosenRevision {
  readonly revision: McpRevision;
  readonly reason: RevisionReason;
}

/** Gets the revision of a server when it is chosen, and when another one is. */
export type OnRevision = (serverId: string, revision: McpRevision, reason: RevisionReason) => void;

/** What a pod has learned about the revisions of its servers. */
export interface RevisionMemory {
  /** In which revision the server was last reached. */
  of(serverId: string): ChosenRevision | undefined;
  chosen(serverId: string, choice: ChosenRevision): void;
  /** The next connection tries again which revision to use. */
  forget(serverId: string): void;
  /** Whether the tool is known to return `input_required` where the server is called in 2025-11-25. */
  asksByRounds(serverId: string, tool: string): boolean;
  noteRounds(serverId: string, tool: string, asksByRounds: boolean): void;
}

const TOOLS_MAX = 1_000;

/**
 * Makes the memory of one pod. The others learn by themselves: the choice of a server costs at most two more requests,
 * and a tool is repeated in the other revision only where that is harmless.
 */
export function createRevisionMemory(onRevision: OnRevision): RevisionMemory {
  const choices = new Map<string, ChosenRevision>();
  const announced = new Map<string, McpRevision>();
  const tools = new LRUCache<string, true>({ max: TOOLS_MAX });
  const toolKey = (serverId: string, tool: string) => JSON.stringify([serverId, tool]);

  return {
    of: (serverId) => choices.get(serverId),
    chosen(serverId, choice) {
      const { revision, reason } = choice;
      choices.set(serverId, choice);
      if (announced.get(serverId) === revision) return;
      announced.set(serverId, revision);
      onRevision(serverId, revision, reason);
    },
    forget: (serverId) => void choices.delete(serverId),
    asksByRounds: (serverId, tool) => tools.has(toolKey(serverId, tool)),
    noteRounds(serverId, tool, asksByRounds) {
      if (asksByRounds) tools.set(toolKey(serverId, tool), true);
      else tools.delete(toolKey(serverId, tool));
    },
  };
}
