import { z } from 'zod';
import { isCallerId } from '../ids.ts';
import { faultOfProse, faultOfUserId } from '../text.ts';
import { Context } from './elicitation.ts';
import { COMPLETIONS, MODES } from './status.ts';

/** Default bounds of what an asker may send; the message bound is configuration (`PARLEY_LIMIT_MESSAGE_CHARACTERS`). */
export const TIMEOUT_SECONDS_MAX = 604_800;
const TITLE_CHARACTERS_MAX = 200;
const DESCRIPTION_CHARACTERS_MAX = 10_000;

/** A string for which `faultOf` finds nothing wrong. */
function checked(faultOf: (text: string) => string | undefined) {
  return z.string().superRefine((text, issues) => {
    const fault = faultOf(text);
    if (fault !== undefined) issues.addIssue({ code: 'custom', message: fault });
  });
}

export const CallerId = checked((text) =>
  isCallerId(text)
    ? undefined
    : 'must be 1 to 128 of A-Z a-z 0-9 . _ - and must not begin with el_ or sr_ (Parley mints those)',
).describe('1 to 128 of `A-Z a-z 0-9 . _ -`; may not begin with `el_` or `sr_`.');

export const UserId = checked(faultOfUserId).describe('1 to 255 characters');

/** What a service sends to ask a person something. */
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
      .describe('A mark for whoever runs the agent: keep the answer from the model. Parley passes it on.'),
    context: Context.optional(),
    // Its values are checked against the form; a closer look at each would cost more than all the rest of a bad body.
    onUnavailable: z
      .strictObject({ content: z.record(z.string(), z.unknown()) })
      .optional()
      .describe('form mode: what the run goes on with when the question cannot be shown; never an answer'),
    webhookUrl: z
      .string()
      .optional()
      .describe('https URL that gets a signed POST when it ends (docs/webhooks.md). No reply shows it.'),
    timeoutSeconds: z.int().min(1).max(TIMEOUT_SECONDS_MAX).default(600),
  })
  .meta({ id: 'AskInput' });
export type AskInput = z.infer<typeof AskInput>;
