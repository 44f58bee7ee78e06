import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { FollowedEvent } from '../follow.ts';

/** Tracks which calls of a turn are outstanding, and which of them wait for a person's approval. */
interface ApprovalWait {
  turn(event: TurnEvent): void;
  /** Reports that a call's approval is open or has ended. */
  approval(approvalId: string, toolCallId: string, isOpen: boolean): void;
  /** Reads an event of the turn. */
  followed(event: FollowedEvent): void;
  /** True if nothing in the turn continues until an approval ends. */
  isAll(): boolean;
}

/** Tracks a turn by its events, beginning with the first. */
export function createApprovalWait(): ApprovalWait {
  const outstanding = new Set<string>();
  const waiting = new Map<string, string>();

  /** The ids of a delegate's calls begin with the id of the delegating call, which waits for them. */
  function isLeaf(toolCallId: string): boolean {
    return ![...outstanding].some((other) => other.startsWith(`${toolCallId}.`));
  }

  const wait: ApprovalWait = {
    turn(event) {
      if (event.type === 'tool-called') outstanding.add(event.toolCallId);
      if (event.type === 'tool-returned' || event.type === 'tool-failed')
        outstanding.delete(event.toolCallId);
      if (event.type === 'step-finished') outstanding.clear();
    },
    approval(approvalId, toolCallId, isOpen) {
      if (isOpen) waiting.set(approvalId, toolCallId);
      else waiting.delete(approvalId);
    },
    followed(event) {
      if (event.type === 'turn') wait.turn(event.event);
      if (event.type !== 'approval') return;
      const { approvalId, toolCallId, status } = event.approval;
      wait.approval(approvalId, toolCallId, status === 'pending' && !event.isOver);
    },
    isAll() {
      if (waiting.size === 0) return false;
      const calls = new Set(waiting.values());
      return [...outstanding].filter(isLeaf).every((toolCallId) => calls.has(toolCallId));
    },
  };
  return wait;
}
