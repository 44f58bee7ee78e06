import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { FollowedEvent } from '../../../turns/follow.ts';
import { type ClientAsked, createOpenRequests } from '../open-requests.ts';

/** Tracks everything for which a call waits, from its events. */
export interface OpenAsks {
  /** Reads the next event. Returns true if it changed what is open. */
  take(event: FollowedEvent): boolean;
  readonly questions: readonly Elicitation[];
  readonly approvals: readonly Approval[];
  readonly requests: readonly ClientAsked[];
  /** Records that the client has replied to a request. */
  replied(requestId: string): void;
}

export function createOpenAsks(): OpenAsks {
  const questions = new Map<string, Elicitation>();
  const approvals = new Map<string, Approval>();
  const requests = createOpenRequests();

  return {
    get questions() {
      return [...questions.values()];
    },
    get approvals() {
      return [...approvals.values()];
    },
    get requests() {
      return requests.open();
    },
    replied: requests.replied,
    take(event) {
      if (event.type === 'lost') {
        questions.clear();
        approvals.clear();
      }
      const { asked, dropped } = requests.take(event);
      if (event.type === 'question') {
        const { elicitation, change } = event;
        if (change === 'elicitation-resolved') questions.delete(elicitation.elicitationId);
        else questions.set(elicitation.elicitationId, elicitation);
      }
      if (event.type === 'approval') {
        const { approval, change, isOver } = event;
        if (isOver || change === 'approval-resolved') approvals.delete(approval.approvalId);
        else approvals.set(approval.approvalId, approval);
      }
      return (
        event.type === 'question' || event.type === 'approval' || asked !== undefined || dropped.length > 0
      );
    },
  };
}
