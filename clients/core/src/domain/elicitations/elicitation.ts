import { z } from 'zod';
import { RISKS } from '../approvals/risk.ts';
import { Tags } from '../tags.ts';
import { ACTIONS, COMPLETIONS, MODES, STATUSES } from './status.ts';

/** Why a question was asked. `trigger` is a short code such as `credential_required`. Unknown keys are kept. */
export const Context = z
  .looseObject({
    trigger: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a short lower-case word such as credential_required')
      .default('agent'),
    toolId: z.string().max(256).optional(),
    toolName: z.string().max(256).optional(),
    credentialType: z.string().max(64).optional(),
  })
  .describe('Why the question was asked, for cards, logs and metrics.');
export type Context = z.infer<typeof Context>;

/** A form answer: values by field name. */
export const Content = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
  .describe('A form answer by field name.');
export type Content = z.infer<typeof Content>;

/** The content with which an asker continues when the person's client cannot show the question. */
export const OnUnavailable = z.strictObject({ content: Content });
export type OnUnavailable = z.infer<typeof OnUnavailable>;

const Timestamp = z.iso.datetime().describe('ISO 8601, UTC');

/** The wire form of an elicitation. Only the asker and the owner get `content`. */
export const Elicitation = z
  .object({
    elicitationId: z.string(),
    streamRequestId: z.string(),
    conversationId: z.string(),
    userId: z.string(),
    mode: z.enum(MODES),
    message: z.string(),
    title: z.string().optional(),
    description: z.string().optional(),
    requestedSchema: z.record(z.string(), z.unknown()).optional(),
    url: z.string().optional(),
    completion: z.enum(COMPLETIONS).optional(),
    answerUrl: z
      .string()
      .optional()
      .describe(
        'Page on which the owner signs in and answers the form; present when the client of its turn cannot show the form.',
      ),
    sensitive: z.boolean().optional().describe('True: the agent must not give the answer to its model.'),
    risk: z.enum(RISKS).optional().describe('How much harm a wrong answer can do, as the asker says.'),
    context: Context,
    tags: Tags.optional(),
    status: z.enum(STATUSES),
    action: z.enum(ACTIONS).optional(),
    content: Content.optional(),
    reason: z.string().optional().describe('Why it was withdrawn.'),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    settledAt: Timestamp.optional(),
    settledBy: z.object({ surface: z.string() }).optional(),
    serverTime: Timestamp.describe('Time of this reply on the clock that decides deadlines.'),
  })
  .meta({ id: 'Elicitation' });
export type Elicitation = z.infer<typeof Elicitation>;
