import { CallerId } from '@parley/core/domain/elicitations/ask-input';
import { ParleyError } from '@parley/core/domain/errors';
import { isReferenceId } from '@parley/core/domain/ids';
import { isRecord } from '@parley/core/domain/plain-record';
import { conversationOfKey } from '@parley/shared/domain/a2a/context';
import { hopsIn } from '@parley/shared/domain/a2a/hops';
import type { ConversationRef } from '@parley/shared/domain/runs/run';
import { sha256 } from '@parley/shared/records/digest';
import { z } from 'zod';
import { ChatMessage } from '../../turns/messages.ts';
import type { ActingCaller } from '../../turns/principal.ts';

const MESSAGES_MAX = 1_000;
const ANSWERS_MAX = 100;
const ID_LENGTH_MAX = 255;

const ResumeEntry = z.looseObject({
  interruptId: z.string().max(ID_LENGTH_MAX),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional(),
});
/** The answer to one interrupt. */
export type ResumeEntry = z.infer<typeof ResumeEntry>;

/** A message in the format of AG-UI clients. Members that Parley does not read are kept. */
export const AgUiMessage = ChatMessage.extend({ id: z.string().max(ID_LENGTH_MAX) });
export type AgUiMessage = z.infer<typeof AgUiMessage>;

const ProtocolVersion = z
  .string()
  .max(ID_LENGTH_MAX)
  .describe('The version of AG-UI that the client speaks; before 1.0 when absent.');

/** `RunAgentInput`. The client's tools, state and context are ignored. */
export const RunInput = z
  .looseObject({
    threadId: CallerId.describe('The conversation.'),
    runId: z
      .string()
      .min(1)
      .max(ID_LENGTH_MAX)
      .describe('In its thread, the same id with the same messages: the same run.'),
    protocolVersion: ProtocolVersion.nullish(),
    messages: z.array(AgUiMessage).max(MESSAGES_MAX),
    forwardedProps: z
      .unknown()
      .optional()
      .describe('Only how many deployments have delegated the run is read of it.'),
    resume: z
      .array(ResumeEntry)
      .max(ANSWERS_MAX)
      .nullish()
      .describe('The answers to the interrupts of the run before.'),
  })
  .meta({ id: 'AgUiRunInput' });
export type RunInput = z.infer<typeof RunInput>;

/** How many deployments in a row have delegated a run. */
export function hopsOfRun({ forwardedProps }: Pick<RunInput, 'forwardedProps'>): number {
  return hopsIn(isRecord(forwardedProps) ? forwardedProps : undefined);
}

/** The query of a reader that returns to its thread. */
export const ConnectQuery = z.object({
  threadId: CallerId,
  runId: z
    .string()
    .min(1)
    .max(ID_LENGTH_MAX)
    .optional()
    .describe("How the events name the run; Parley's own id when absent."),
  protocolVersion: ProtocolVersion.optional(),
});

/** The conversation of a thread. A service key has separate threads for each person. Throws `invalid_request`. */
export function threadOf({ caller, owner }: ActingCaller, threadId: string): ConversationRef {
  const conversationId =
    caller.kind === 'user' ? threadId : conversationOfKey(sha256(caller.keyId ?? ''), threadId);
  if (isReferenceId(conversationId)) return { ...owner, conversationId };
  throw new ParleyError('invalid_request', 'The threadId is too long.', {
    issues: [{ path: 'threadId', message: 'is too long for a service key' }],
  });
}

/** The idempotency key of a run. It includes the thread and the service key, because each numbers its runs separately. */
export function keyOfRun({ conversationId }: Pick<ConversationRef, 'conversationId'>, runId: string): string {
  return `ag-ui.${sha256(JSON.stringify([conversationId, runId]))}`;
}
