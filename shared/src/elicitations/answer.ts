import { type Caller, notFound, type Seen } from '../domain/caller.ts';
import type { ResponseInput } from '../domain/elicitations/response-input.ts';
import type { ElicitationTypes } from '../domain/elicitations/types.ts';
import type { RecordDeps } from '../records/family-deps.ts';
import { readUnlessKnown } from '../records/read.ts';
import { settle } from '../records/settle.ts';

export interface AnswerInput {
  /** The person who answers; must be the owner. */
  readonly caller: Caller & { readonly kind: 'user' };
  readonly id: string;
  readonly response: ResponseInput;
  /** Where the answer was given, e.g. `api` or `chat`. */
  readonly surface: string;
  /** When the surface addresses an answer by conversation, the one it must belong to. */
  readonly conversationId?: string;
  /** Leave to write, asked for beside the read so that it costs no time of its own; rejects when refused. */
  readonly admitted?: Promise<void>;
  /** True: nothing is recorded, and an answer that would be refused is. */
  readonly isTrial?: boolean;
}

/**
 * Records a person's answer. Returns the elicitation with that answer recorded (or, for a server-completed url,
 * opened). Errors: `not_found`, `invalid_answer` (stays open), `already_settled`, `expired`.
 */
export async function answer(deps: RecordDeps<ElicitationTypes>, input: AnswerInput): Promise<Seen> {
  const { action, content, responseId } = input.response;
  const reading = readUnlessKnown(deps, input.caller, input.id);
  // Admission first: a caller without it gets that refusal, whatever the read finds.
  reading.catch(() => undefined);
  await input.admitted;
  const seen = await reading;
  if (input.conversationId !== undefined && seen.row.definition.conversationId !== input.conversationId) {
    throw notFound();
  }
  const command = {
    type: action,
    ...(content !== undefined && { content }),
    ...(responseId !== undefined && { responseId }),
    surface: input.surface,
  };
  return settle(deps, input, seen, command);
}
