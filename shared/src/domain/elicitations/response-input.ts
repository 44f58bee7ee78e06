import { ACTIONS } from '@parley/core/domain/elicitations/status';
import { REFERENCE_ID } from '@parley/core/domain/ids';
import { z } from 'zod';

const Reference = z.string().regex(REFERENCE_ID, 'must be 1 to 128 of A-Z a-z 0-9 . _ -, and not . or ..');

/** A person's answer. `content` is allowed only with `accept` in form mode. */
export const ResponseInput = z
  .strictObject({
    action: z.enum(ACTIONS),
    content: z.record(z.string(), z.unknown()).optional(),
    responseId: Reference.optional().describe(
      'Chosen by the client and stored with the answer. Two answers are the same when action and content are equal.',
    ),
  })
  .meta({ id: 'ResponseInput' });
export type ResponseInput = z.infer<typeof ResponseInput>;

/** An answer on the chat API: the body names the elicitation. */
export const ChatResponseInput = ResponseInput.extend({
  conversationId: Reference,
  elicitationId: z.string(),
}).meta({ id: 'ChatResponseInput' });
export type ChatResponseInput = z.infer<typeof ChatResponseInput>;

/** Why an elicitation is withdrawn: a short code from its asker or an operator, never a text for people. */
export const WithdrawReason = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a short lower-case word such as superseded');

/** The body with which an asker withdraws a question. */
export const WithdrawInput = z
  .strictObject({ reason: WithdrawReason.default('withdrawn_by_asker') })
  .meta({ id: 'WithdrawInput' });
export type WithdrawInput = z.infer<typeof WithdrawInput>;
