import { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import { ChatResponseInput } from '@parley/shared/domain/elicitations/response-input';
import type { Engine } from '@parley/shared/elicitations/engine';
import { type AdmitAnswer, seenReply, userOf } from '../http/reply.ts';
import { type Call, type Reply, type Route, route } from '../http/route.ts';

/** The answer call of the chat API: the same answer, addressed by its body. */
export function chatResponseRoute(engine: Engine, admitAnswer: AdmitAnswer): Route {
  return route({
    method: 'POST',
    path: '/run/api/elicitation-responses',
    who: ['user'],
    summary: 'Answer from a chat',
    body: ChatResponseInput,
    replies: { 200: { description: 'Recorded', schema: Elicitation } },
    errors: ['not_found', 'invalid_answer', 'already_settled', 'expired'],
    handle: (call) => answerFromChat(engine, admitAnswer, call, call.body),
  });
}

/** Records an answer that a chat addresses by its conversation, and tells how the elicitation stands then. */
export async function answerFromChat(
  engine: Engine,
  admitAnswer: AdmitAnswer,
  call: Pick<Call, 'caller' | 'admitted'>,
  { conversationId, elicitationId, ...response }: ChatResponseInput,
): Promise<Reply> {
  const answered = await engine.answer({
    caller: userOf(call.caller),
    id: elicitationId,
    response,
    surface: 'chat',
    conversationId,
    admitted: admitAnswer(call, elicitationId),
  });
  return seenReply(200, answered);
}
