import { LRUCache } from 'lru-cache';
import type { McpRevision } from '../server-config.ts';

/** Why a server is called in a certain revision. */
export type RevisionReason =
  /** The configuration names it. */
  | 'configured'
  /** The server offers 2025-11-25, and can ask during calls in it. */
  | 'can_ask'
  /** The server keeps no session in 2025-11-25, so it could not ask in that revision. */
  | 'no_session'
  /** The server refuses the other revision. */
  | 'other_refused';

export interface ChosenRevision {
  readonly revision: McpRevision;
  readonly reason: RevisionReason;
}

/** Called when the revision of a server is chosen or changes. */
export type OnRevision = (serverId: string, revision: McpRevision, reason: RevisionReason) => void;

/** The facts that a pod has learned about the revisions of its servers. */
export interface RevisionMemory {
  /** The revision in which the server was last reached. */
  of(serverId: string): ChosenRevision | undefined;
  chosen(serverId: string, choice: ChosenRevision): void;
  /** Makes the next connection choose the revision again. */
  forget(serverId: string): void;
  /** True if the tool is known to return `input_required` when the server is called in 2025-11-25. */
  asksByRounds(serverId: string, tool: string): boolean;
  noteRounds(serverId: string, tool: string, asksByRounds: boolean): void;
}

const TOOLS_MAX = 1_000;

/**
 * Makes the memory of one pod. Pods learn separately, because choosing costs at most two more requests for each server, and a
 * tool is repeated in the other revision only if that is harmless.
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
