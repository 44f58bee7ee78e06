import { isTerminal } from '@parley/core/domain/elicitations/status';
import type { Approval } from '../approval.ts';
import { askerOf, isPending, titleOf } from '../approvals.ts';
import { agentOf } from '../card/head.ts';
import type { Elicitation } from '../elicitation.ts';
import type { ElicitationServer } from '../server/type.ts';
import type { AllStrings } from '../strings/strings.ts';
import type { InboxRecord } from './lines.ts';
import type { InboxListOptions } from './list.ts';
import { rowIdOf } from './rows.ts';
import { endOf, endOfApproval, nameOf } from './view.ts';

/** A kind of record in an inbox: how it is followed, where its row is, and what the live region says about it. */
export interface InboxKind<Item extends InboxRecord>
  extends Omit<InboxListOptions<Item>, 'isInUse' | 'onUpdate'> {
  rowIdOf(item: Item): string;
  arrivalOf(item: Item, words: AllStrings): string;
  endOf(item: Item, words: AllStrings): string;
}

export function questionsOf(server: ElicitationServer): InboxKind<Elicitation> {
  const idOf = ({ elicitationId }: Elicitation) => elicitationId;
  return {
    idOf,
    hasEnded: ({ status }) => isTerminal(status),
    now: () => server.now(),
    read: (id) => server.read(id),
    follow: (onOpen, onConnection) => server.followInbox(onOpen, onConnection),
    rowIdOf: idOf,
    arrivalOf: (one, words) => words.arrived(agentOf(one, undefined, words)),
    endOf: (one, words) => `${nameOf(one)}: ${endOf(one, words, false)}`,
  };
}

export function approvalsOf(server: ElicitationServer): InboxKind<Approval> {
  return {
    idOf: ({ approvalId }) => approvalId,
    hasEnded: (approval) => !isPending(approval),
    now: () => server.now(),
    read: (id) => server.readApproval(id),
    follow: (onOpen, onConnection) => server.followApprovals(onOpen, onConnection),
    rowIdOf,
    arrivalOf: (one, words) => words.approvalArrived(askerOf(one, words)),
    endOf: (one, words) => `${titleOf([one], words)}: ${endOfApproval(one, words, false)}`,
  };
}
