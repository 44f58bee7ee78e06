import { Elicitation } from '@parley/shared/domain/elicitation';
import { ChatResponseInput } from '@parley/shared/domain/response-input';
import type { Engine } from '@parley/shared/engine/engine';
import { type AdmitAnswer, seenReply, userOf } from '../http/reply.ts';
import { type Route, route } from '../http/route.ts';

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
    async handle(call) {
      const { conversationId, elicitationId, ...response } = call.body;
      const answered = await engine.answer({
        caller: userOf(call.caller),
        id: elicitationId,
        response,
        surface: 'chat',
        conversationId,
        admitted: admitAnswer(call, elicitationId),
      });
      return seenReply(200, answered);
    },
  });
}
