/**
 * The total table of what each command does to an approval. It is pure: reading, committing and the wire format are elsewhere.
 */

import type { ApprovalSettlement } from '@parley/core/domain/approvals/definition';
import { approvalEventOf } from '@parley/core/domain/approvals/events';
import {
  type ApprovalDecision,
  type ApprovalStatus,
  isApprovalEnded,
} from '@parley/core/domain/approvals/status';
import type {
  CommonCommand,
  DecisionOf,
  ExpireCommand,
  ExtendCommand,
  Refusal,
  StepOf,
  WithdrawCommand,
} from '@parley/core/domain/family';
import { canonicalJson } from '@parley/core/domain/json/canonical-json';
import { extend } from '../extend.ts';
import type { ApprovalCommand, Approve, Deny, Edit } from './commands.ts';
import type { ApprovalRow, ApprovalTypes } from './types.ts';

type ApprovalMove = DecisionOf<ApprovalTypes>;
type AnyCommand = ApprovalCommand | CommonCommand;
type ApprovalCell<Given extends AnyCommand> = (row: ApprovalRow, command: Given, now: number) => ApprovalMove;

interface ApprovalCells {
  readonly approve: ApprovalCell<Approve>;
  readonly edit: ApprovalCell<Edit>;
  readonly deny: ApprovalCell<Deny>;
  readonly expire: ApprovalCell<ExpireCommand>;
  readonly withdraw: ApprovalCell<WithdrawCommand>;
  readonly extend: ApprovalCell<ExtendCommand>;
}

const SETTLED: ApprovalCells = {
  approve: repeat,
  edit: repeat,
  deny: repeat,
  expire: unchanged,
  withdraw: conflict,
  extend: conflict,
};

/** A newer build has ended the approval in a way that this one does not know. */
const UNKNOWN_ENDING: ApprovalCells = { ...SETTLED, approve: conflict, edit: conflict, deny: conflict };

/** The decision for every status and every command. A missing cell does not compile. */
const APPROVAL_TRANSITIONS: Readonly<Record<ApprovalStatus, ApprovalCells>> = {
  pending: { approve: decide, edit, deny: decide, expire, withdraw, extend: later },
  approved: SETTLED,
  edited: SETTLED,
  denied: SETTLED,
  expired: { approve: gone, edit: gone, deny: gone, expire: unchanged, withdraw: gone, extend: gone },
  withdrawn: { ...UNKNOWN_ENDING, withdraw: unchanged },
};

const SETTLED_BY: Readonly<Record<ApprovalDecision, ApprovalStatus>> = {
  approve: 'approved',
  edit: 'edited',
  deny: 'denied',
};

/**
 * Decides what a command does to an approval. `now` is the Redis clock in ms, read together with the row. A pending row past
 * its deadline is first expired. The function is pure.
 */
export function approvalTransition(row: ApprovalRow, command: AnyCommand, now: number): ApprovalMove {
  if (!isApprovalEnded(row.status) && now >= row.expiresAt && command.type !== 'expire')
    return { type: 'expire-first', step: expiry(row) };
  const known: Readonly<Partial<Record<string, ApprovalCells>>> = APPROVAL_TRANSITIONS;
  const cells = known[row.status] ?? UNKNOWN_ENDING;
  switch (command.type) {
    case 'approve':
      return cells.approve(row, command, now);
    case 'edit':
      return cells.edit(row, command, now);
    case 'deny':
      return cells.deny(row, command, now);
    case 'expire':
      return cells.expire(row, command, now);
    case 'withdraw':
      return cells.withdraw(row, command, now);
    case 'extend':
      return cells.extend(row, command, now);
  }
}

function decide(row: ApprovalRow, command: ApprovalCommand): ApprovalMove {
  if (command.type === 'approve' && command.remember === true && row.definition.remember === undefined)
    return refuse({
      code: 'invalid_request',
      message: 'This approval cannot be remembered; leave remember out.',
    });
  return { type: 'commit', step: stepTo(row, SETTLED_BY[command.type], settlementOf(command)) };
}

function edit(row: ApprovalRow, command: Edit): ApprovalMove {
  if (row.definition.inputSchema === undefined)
    return refuse({
      code: 'invalid_request',
      message: 'The arguments of this call cannot be edited; approve or deny it.',
    });
  if (command.faults.length > 0)
    return refuse({
      code: 'invalid_answer',
      message: 'The arguments do not fit the tool; correct the fields named in errors and send them again.',
      issues: command.faults,
    });
  return decide(row, command);
}

function settlementOf(command: ApprovalCommand): ApprovalSettlement {
  return {
    decision: command.type,
    ...(command.type === 'edit' && { arguments: command.arguments }),
    ...(command.type === 'deny' && command.reason !== undefined && { reason: command.reason }),
    ...(command.type === 'approve' && command.remember === true && { remember: true }),
    ...(command.responseId !== undefined && { responseId: command.responseId }),
    surface: command.surface,
  };
}

/** A repeat of the recorded decision succeeds. Another decision is refused. */
function repeat(row: ApprovalRow, command: ApprovalCommand): ApprovalMove {
  const { decision, arguments: args, reason, remember } = row.settlement ?? {};
  const sent = settlementOf(command);
  const isSame =
    decision === sent.decision &&
    reason === sent.reason &&
    remember === sent.remember &&
    canonicalJson(args) === canonicalJson(sent.arguments);
  return isSame ? unchanged() : conflict(row);
}

function withdraw(row: ApprovalRow, { reason, key }: WithdrawCommand): ApprovalMove {
  const settlement = { reason, ...(key !== undefined && { key }) };
  return { type: 'commit', step: stepTo(row, 'withdrawn', settlement) };
}

function expire(row: ApprovalRow, _command: ExpireCommand, now: number): ApprovalMove {
  return now >= row.expiresAt ? { type: 'commit', step: expiry(row) } : unchanged();
}

function later(row: ApprovalRow, command: ExtendCommand): ApprovalMove {
  return extend<ApprovalTypes>(row, command, approvalEventOf(row.id, row.revision + 1, row.status));
}

function expiry(row: ApprovalRow): StepOf<ApprovalTypes> {
  return { ...stepTo(row, 'expired', {}), guard: 'due' };
}

function stepTo(
  row: ApprovalRow,
  status: ApprovalStatus,
  settlement: ApprovalSettlement,
): StepOf<ApprovalTypes> {
  const event = approvalEventOf(row.id, row.revision + 1, status, settlement);
  return { status, settlement, guard: 'open', event };
}

function conflict({ status }: ApprovalRow): ApprovalMove {
  return refuse({ code: 'already_settled', message: `This approval is already ${status}.` });
}

function gone(): ApprovalMove {
  return refuse({ code: 'expired', message: 'The deadline of this approval has passed.' });
}

function refuse(refusal: Refusal): ApprovalMove {
  return { type: 'refused', refusal };
}

function unchanged(): ApprovalMove {
  return { type: 'unchanged' };
}
