import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { FollowedEvent } from '../follow.ts';

/** Which calls of a turn are outstanding, and which of those wait for a person's approval. */
interface ApprovalWait {
  turn(event: TurnEvent): void;
  /** An approval of a call is open, or has ended. */
  approval(approvalId: string, toolCallId: string, isOpen: boolean): void;
  /** Takes an event as a reader of the turn gets it. */
  followed(event: FollowedEvent): void;
  /** True when nothing of the turn continues until an approval ends. */
  isAll(): boolean;
}

/** Follows a turn by its events from the first on. */
export function createApprovalWait(): ApprovalWait {
  const outstanding = new Set<string>();
  const waiting = new Map<string, string>();

  /** A call of a delegate is named after the call that delegated, which waits for it. */
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
