import type { Arguments } from '@parley/core/domain/approvals/approval';
import { ParleyError } from '@parley/core/domain/errors';
import type { Issue } from '@parley/core/domain/issue';
import { faultOfProse } from '@parley/core/domain/text';
import type { ApprovalCommand, DecidedHere } from '../../domain/approvals/commands.ts';
import { faultsOfEdit } from '../../domain/approvals/edit.ts';
import { faultOfExtent } from '../../domain/approvals/extent.ts';
import { type ApprovalInput, REASON_CHARACTERS_MAX } from '../../domain/approvals/response-input.ts';
import type { ApprovalRow, ApprovalTypes } from '../../domain/approvals/types.ts';
import { notFound } from '../../domain/caller.ts';
import type { RecordDeps } from '../../records/family-deps.ts';
import { readUnlessKnown, type SeenRecord } from '../../records/read.ts';
import { settle } from '../../records/settle.ts';
import type { AnswerInput } from '../answer.ts';
import type { Grants } from './grants.ts';

export interface DecideInput extends Omit<AnswerInput, 'response'> {
  readonly response: ApprovalInput;
}

/**
 * Records a person's decision on a call. Returns the approval with the recorded decision. Throws `not_found`,
 * `invalid_request`, `invalid_answer` (it stays pending), `already_settled` or `expired`.
 */
export async function decide(
  deps: RecordDeps<ApprovalTypes>,
  grants: Pick<Grants, 'remember'>,
  input: DecideInput,
): Promise<SeenRecord<ApprovalTypes>> {
  const reading = readUnlessKnown(deps, input.caller, input.id);
  // The permission is awaited first: a caller without it gets that refusal, whatever the read finds.
  reading.catch(() => undefined);
  await input.admitted;
  const seen = await reading;
  const { conversationId } = seen.row.definition;
  if (input.conversationId !== undefined && input.conversationId !== conversationId) throw notFound();
  const after = await settle(deps, input, seen, commandOf(input, seen.row));
  // A repeat remembers the approval too, because the process of the first call may have died before it did.
  await grants.remember(after);
  return after;
}

function commandOf({ response, surface }: DecideInput, row: ApprovalRow): ApprovalCommand {
  const { decision, arguments: args, reason, remember, responseId } = response;
  const issues = faultsOf(response);
  if (issues.length > 0)
    throw new ParleyError('invalid_request', 'The decision is not well formed; see errors.', { issues });
  const by = { surface, ...(responseId !== undefined && { responseId }) };
  switch (decision) {
    case 'approve':
      return { type: 'approve', ...by, ...(remember !== undefined && { remember }) };
    case 'deny':
      return { type: 'deny', ...by, ...(reason !== undefined && { reason }) };
    case 'edit':
      return editOf(row, args ?? {}, by);
  }
}

function editOf({ definition }: ApprovalRow, edited: Arguments, by: DecidedHere): ApprovalCommand {
  const fault = faultOfExtent(edited);
  // Such arguments are refused in every status, before anything compares them with those of an earlier decision.
  if (fault !== undefined)
    throw new ParleyError('invalid_answer', 'The arguments are too much to be read; send others.', {
      issues: [{ path: 'arguments', message: fault }],
    });
  return { type: 'edit', ...by, arguments: edited, faults: faultsOfEdit(definition, edited) };
}

function faultsOf({ decision, arguments: args, reason, remember }: ApprovalInput): Issue[] {
  const issues: Issue[] = [];
  const note = (path: string, message: string | undefined) => {
    if (message !== undefined) issues.push({ path, message });
  };
  if (decision === 'edit' && args === undefined) note('arguments', 'is required with edit');
  if (decision !== 'edit' && args !== undefined) note('arguments', 'goes with edit only');
  if (decision !== 'deny' && reason !== undefined) note('reason', 'goes with deny only');
  if (decision !== 'approve' && remember !== undefined) note('remember', 'goes with approve only');
  if (reason !== undefined) note('reason', faultOfProse(reason, REASON_CHARACTERS_MAX));
  return issues;
}
