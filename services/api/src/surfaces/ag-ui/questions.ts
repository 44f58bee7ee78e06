/** Converts questions and approvals to interrupts, and resume entries to answers. Recording the answers is in `resume.ts`. */

import type { Approval } from '@parley/core/domain/approvals/approval';
import { callText } from '@parley/core/domain/approvals/tool-title';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { ParleyError } from '@parley/core/domain/errors';
import { messageIdOf } from '@parley/core/domain/ids';
import { isRecord } from '@parley/core/domain/plain-record';
import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import type { ResponseInput } from '@parley/shared/domain/elicitations/response-input';
import { z } from 'zod';
import { shownApproval } from '../../turns/approvals/shown.ts';
import { shownElicitation } from '../../turns/shown.ts';
import type { ResumeEntry } from './input.ts';
import { callIdIn, type Interrupt } from './shapes.ts';

const REASON_CHARACTERS_MAX = 2_000;
/** The payload that declines any interrupt. No form accepts it as an answer. */
const DECLINES = false;

const Decision = z.looseObject({
  approved: z.boolean(),
  editedArgs: z.record(z.string(), z.unknown()).optional(),
  reason: z.string().max(REASON_CHARACTERS_MAX).optional(),
  remember: z.boolean().optional(),
});

/** An open question as an interrupt. If it is answered on a page, it contains the page's address. */
export function interruptOfQuestion(question: Elicitation): Interrupt {
  const { elicitationId: id, message, requestedSchema, url, expiresAt } = question;
  const metadata = { parley: shownElicitation(question) };
  if (question.mode === 'form')
    return {
      id,
      reason: 'input_required',
      message,
      ...(requestedSchema !== undefined && { responseSchema: requestedSchema }),
      expiresAt,
      metadata,
    };
  const responseSchema = { type: 'boolean', description: 'true: the page is open; false declines.' };
  const shown = url === undefined ? message : `${message}\n\n${url}`;
  return { id, reason: 'parley:open_page', message: shown, responseSchema, expiresAt, metadata };
}

/** An open approval as an interrupt that belongs to its call. */
export function interruptOfApproval(approval: Approval): Interrupt {
  const { approvalId: id, inputSchema, remember, toolCallId, streamRequestId } = approval;
  return {
    id,
    reason: 'tool_call',
    message: `${callText(approval)}.`,
    toolCallId: callIdIn(messageIdOf(streamRequestId), toolCallId),
    responseSchema: {
      type: 'object',
      properties: {
        approved: { type: 'boolean' },
        ...(inputSchema !== undefined && {
          editedArgs: {
            ...inputSchema,
            description: 'All arguments of the call; masked values stay as sent.',
          },
        }),
        reason: { type: 'string', maxLength: REASON_CHARACTERS_MAX, description: 'Why it is denied.' },
        ...(remember !== undefined && {
          remember: { type: 'boolean', description: 'For calls that are approved without editedArgs.' },
        }),
      },
      required: ['approved'],
    },
    expiresAt: approval.expiresAt,
    metadata: { parley: shownApproval(approval) },
  };
}

/** The answer to a question in a resume entry. `isForm`: the client shows the form itself. Throws `invalid_answer`. */
export function responseOf({ interruptId, status, payload }: ResumeEntry, isForm: boolean): ResponseInput {
  if (status === 'cancelled') return { action: 'cancel' };
  if (payload === DECLINES) return { action: 'decline' };
  if (!isForm && payload === true) return { action: 'accept' };
  if (!isForm) throw invalidPayload(interruptId, 'must be true once the page is open, or false to decline');
  if (payload === undefined) return { action: 'accept', content: {} };
  if (isRecord(payload)) return { action: 'accept', content: payload };
  throw invalidPayload(interruptId, 'must be an object with the answers, or false to decline');
}

/** The decision on a call in a resume entry. A cancelled entry means that the call is not made. Throws `invalid_answer`. */
export function decisionOf({ interruptId, status, payload }: ResumeEntry): ApprovalInput {
  if (status === 'cancelled' || payload === DECLINES) return { decision: 'deny' };
  const { success, data } = Decision.safeParse(payload);
  if (!success)
    throw invalidPayload(interruptId, 'must be {approved, editedArgs?, reason?, remember?}, or false');
  const { approved, editedArgs, reason, remember } = data;
  if (remember === true && (!approved || editedArgs !== undefined))
    throw invalidPayload(
      interruptId,
      'can have remember only with a call that is approved without editedArgs',
    );
  if (!approved) return { decision: 'deny', ...(reason !== undefined && { reason }) };
  if (editedArgs !== undefined) return { decision: 'edit', arguments: editedArgs };
  return { decision: 'approve', ...(remember !== undefined && { remember }) };
}

function invalidPayload(interruptId: string, message: string): ParleyError {
  return new ParleyError('invalid_answer', `The payload for ${interruptId} is no answer: it ${message}.`, {
    issues: [{ path: `resume.${interruptId}.payload`, message }],
  });
}
