import { Arguments } from '@parley/core/domain/approvals/approval';
import { DECISIONS } from '@parley/core/domain/approvals/status';
import { REFERENCE_ID } from '@parley/core/domain/ids';
import { z } from 'zod';

/** The maximum length of the reason of a denial. */
export const REASON_CHARACTERS_MAX = 2_000;

/** A person's decision. */
export const ApprovalInput = z
  .strictObject({
    decision: z.enum(DECISIONS),
    arguments: Arguments.optional().describe(
      'edit: all arguments of the call. Masked values stay as they are.',
    ),
    reason: z.string().max(REASON_CHARACTERS_MAX).optional().describe('deny: why; the model reads it.'),
    remember: z
      .boolean()
      .optional()
      .describe(
        'approve: true approves further calls under the same rule, for the time that `remember` names.',
      ),
    responseId: z.string().regex(REFERENCE_ID).optional().describe('Chosen by the client and stored.'),
  })
  .meta({ id: 'ApprovalInput' });
export type ApprovalInput = z.infer<typeof ApprovalInput>;
