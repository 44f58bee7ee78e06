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
  /** The conversation to which the elicitation must belong; present when the surface addresses answers by conversation. */
  readonly conversationId?: string;
  /**
   * The rate limit's permission to write. It is requested in parallel with the read, so that it adds no delay. Rejects when
   * refused.
   */
  readonly admitted?: Promise<void>;
  /** True only checks the answer: nothing is recorded, and the same errors are thrown. */
  readonly isTrial?: boolean;
}

/**
 * Records a person's answer. Returns the elicitation with the recorded answer, or as opened when a server completes its url.
 * Throws `not_found`, `invalid_answer` (it stays open), `already_settled` or `expired`.
 */
export async function answer(deps: RecordDeps<ElicitationTypes>, input: AnswerInput): Promise<Seen> {
  const { action, content, responseId } = input.response;
  const reading = readUnlessKnown(deps, input.caller, input.id);
  // The permission is awaited first: a caller without it gets that refusal, whatever the read finds.
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
