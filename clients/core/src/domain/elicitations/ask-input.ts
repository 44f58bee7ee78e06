import { z } from 'zod';
import { RISKS } from '../approvals/risk.ts';
import { isCallerId } from '../ids.ts';
import { Tags } from '../tags.ts';
import { faultOfProse, faultOfUserId } from '../text.ts';
import { Context } from './elicitation.ts';
import { COMPLETIONS, MODES } from './status.ts';

/** The limits of an ask. The length of the message is limited by configuration (`PARLEY_LIMIT_MESSAGE_CHARACTERS`). */
export const TIMEOUT_SECONDS_MAX = 604_800;
export const TIMEOUT_SECONDS_DEFAULT = 600;
const TITLE_CHARACTERS_MAX = 200;
const DESCRIPTION_CHARACTERS_MAX = 10_000;

/** A schema for strings in which `faultOf` finds no fault. */
function checked(faultOf: (text: string) => string | undefined) {
  return z.string().superRefine((text, issues) => {
    const fault = faultOf(text);
    if (fault !== undefined) issues.addIssue({ code: 'custom', message: fault });
  });
}

export const CallerId = checked((text) =>
  isCallerId(text)
    ? undefined
    : 'must be 1 to 128 of A-Z a-z 0-9 . _ - (and not . or ..) and must not begin with el_ or sr_ (Parley mints those)',
).describe('1 to 128 of `A-Z a-z 0-9 . _ -`, but not `.` or `..`; may not begin with `el_` or `sr_`.');

export const UserId = checked(faultOfUserId).describe('1 to 255 characters');

/** The body with which a service asks a question, as it was sent. `define` applies defaults later. */
export const AskInput = z
  .strictObject({
    userId: UserId,
    streamRequestId: CallerId.optional(),
    conversationId: CallerId.optional(),
    mode: z.enum(MODES),
    message: checked((text) => (text === '' ? 'must not be empty' : undefined)),
    title: checked((text) => faultOfProse(text, TITLE_CHARACTERS_MAX)).optional(),
    description: checked((text) => faultOfProse(text, DESCRIPTION_CHARACTERS_MAX)).optional(),
    requestedSchema: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('form mode: a flat JSON Schema object of the subset in docs/http-api.md'),
    url: z.string().optional().describe('url mode: the https page the person opens'),
    completion: z.enum(COMPLETIONS).optional(),
    sensitive: z
      .boolean()
      .optional()
      .describe('True: the agent must not give the answer to its model. Parley only passes this on.'),
    risk: z
      .enum(RISKS)
      .optional()
      .describe('How much harm a wrong answer can do. Inboxes begin with the highest.'),
    context: Context.optional(),
    tags: Tags.optional(),
    // The values are checked later against the form's schema. Checking each of them here would cost more than the rest of the
    // body.
    onUnavailable: z
      .strictObject({ content: z.record(z.string(), z.unknown()) })
      .optional()
      .describe('form mode: the run continues with this when the question cannot be shown; never an answer'),
    webhookUrl: z
      .string()
      .optional()
      .describe(
        'https URL that gets a signed POST when the elicitation ends (docs/webhooks.md). No reply shows it.',
      ),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(TIMEOUT_SECONDS_MAX)
      .optional()
      .meta({ default: TIMEOUT_SECONDS_DEFAULT }),
  })
  .meta({ id: 'AskInput' });
export type AskInput = z.infer<typeof AskInput>;
