import type { ChatResponseInput } from '@parley/shared/domain/elicitations/response-input';
import type { Caller, Seen } from '@parley/shared/elicitations/caller';
import type { Engine } from '@parley/shared/elicitations/engine';

/** An answer that a chat addresses by its conversation. */
export interface ChatAnswer {
  readonly caller: Caller & { readonly kind: 'user' };
  readonly answer: ChatResponseInput;
  /** Resolves when the budgets of the caller and of the elicitation admit the answer. */
  readonly admitted: Promise<void>;
}

/** Records an answer from a chat; returns the elicitation as it then stands. */
export async function answerFromChat(
  engine: Pick<Engine, 'answer'>,
  { caller, answer, admitted }: ChatAnswer,
): Promise<Seen> {
  const { conversationId, elicitationId, ...response } = answer;
  return engine.answer({ caller, id: elicitationId, response, surface: 'chat', conversationId, admitted });
}
