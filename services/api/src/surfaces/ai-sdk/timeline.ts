import { notFound } from '@parley/shared/domain/caller';
import { userOf } from '../../http/reply.ts';
import { bearer, json, type Route, route } from '../../http/route.ts';
import { conversationOf } from '../../turns/principal.ts';
import { Timeline } from '../../turns/timeline.ts';
import type { Turns } from '../../turns/turns.ts';
import { TIMELINE_EXAMPLE } from './examples.ts';

/** The route that shows how long the parts of a conversation's turn took, and on which pods. */
export function timelineRoute(turns: Pick<Turns, 'timeline'>): Route {
  return route({
    method: 'GET',
    path: '/run/api/chat/:conversationId/timeline',
    proof: bearer('user'),
    docs: {
      group: 'Chats',
      summary: 'Read how long the parts of a turn took',
      example: { reply: TIMELINE_EXAMPLE },
      description:
        'Steps of the model, tool calls, waits for people and pods, of the turn that runs or ended last and of its delegates. Contains no text.',
      replies: { 200: { description: 'The timeline', schema: Timeline } },
      errors: ['not_found'],
    },
    async handle({ caller, params, admitted }) {
      const conversation = conversationOf(userOf(caller), params.conversationId);
      await admitted;
      const timeline = await turns.timeline(conversation);
      if (timeline === undefined) throw notFound();
      return json(200, timeline);
    },
  });
}
