import { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { ACTIONS } from '@parley/core/domain/elicitations/status';
import { notFound } from '@parley/shared/domain/caller';
import { toWire } from '@parley/shared/domain/elicitations/row';
import type { Engine } from '@parley/shared/elicitations/engine';
import { z } from 'zod';
import { SAMPLE_ANSWERED } from '../../http/docs/samples.ts';
import { seenReply, userOf } from '../../http/reply.ts';
import { bearer, jsonBody, type Route, route } from '../../http/route.ts';
import { contentOfElicitAnswer } from './elicit-view.ts';

const SURFACE = 'api';

const ElicitAnswer = z
  .strictObject({
    elicit_id: z
      .string()
      .optional()
      .describe('The id of the path, for clients that send it in the body, too.'),
    action: z.enum(ACTIONS),
    value: z.unknown().optional().describe('The value of a question with one field.'),
    values: z.record(z.string(), z.unknown()).optional().describe('The values of a form, by name.'),
  })
  .meta({ id: 'ElicitAnswer', description: 'An answer to `elicitation_requested`.' });

/** The route that answers an `elicitation_requested` event. The question must belong to the stream. */
export function elicitAnswerRoute(engine: Engine): Route {
  return route({
    method: 'POST',
    path: '/v1/streams/:streamRequestId/elicitations/:id/respond',
    answers: 'id',
    proof: bearer('user'),
    body: jsonBody(ElicitAnswer),
    docs: {
      group: 'Streams',
      summary: 'Answer an event elicitation_requested',
      description: 'For clients of the view `elicit` of a stream; the same as the answer of an elicitation.',
      example: { body: { action: 'accept', value: 'window' }, reply: SAMPLE_ANSWERED },
      replies: { 200: { description: 'Recorded', schema: Elicitation } },
      errors: ['not_found', 'invalid_answer', 'already_settled', 'expired'],
    },
    async handle({ caller, params, body, admitted }) {
      const { id = '', streamRequestId } = params;
      const { action, value, values, elicit_id: named = id } = body;
      if (named !== id) throw notFound();
      const user = userOf(caller);
      await admitted;
      const { row, now } = await engine.read(user, id);
      const asked = toWire(row, { now, content: false });
      if (asked.streamRequestId !== streamRequestId) throw notFound();
      const content = contentOfElicitAnswer(asked, { value, values });
      const response = { action, ...(content !== undefined && { content }) };
      return seenReply(200, await engine.answer({ caller: user, id, response, surface: SURFACE }));
    },
  });
}
