import { notFound } from '@parley/shared/domain/caller';
import { contentParts } from '@parley/shared/domain/runs/content';
import type { RememberedMessage } from '@parley/shared/domain/runs/run';
import { z } from 'zod';
import { json, operator, type Route, route } from '../../../http/route.ts';
import { conversationOf, serviceOwner } from '../../../turns/principal.ts';
import { type AdminDeps, mayReadContent } from '../deps.ts';
import { SAMPLE_ADMIN_TURN } from '../examples.ts';
import { seeTurns } from '../load.ts';
import { OwnerQuery } from '../query.ts';
import { AdminTurn, turnView } from '../views/turn-view.ts';

const AdminMessage = z.object({
  role: z.enum(['user', 'assistant', 'tool']),
  text: z.string(),
  isCut: z.literal(true).optional().describe('The reply was not finished.'),
});

const AdminConversation = z
  .object({
    conversationId: z.string(),
    turns: z
      .array(
        z.object({
          streamRequestId: z.string(),
          turn: AdminTurn.optional().describe('Absent once its retention is over.'),
          messages: z
            .array(AdminMessage)
            .optional()
            .describe(
              'Texts without images and results of tools, for keys with the scope `read_content`. Absent without it.',
            ),
        }),
      )
      .describe(
        'One after the other, the one that runs last. Those whose messages have left the history are not among them.',
      ),
  })
  .meta({ id: 'AdminConversation' });

/** The route that shows a conversation of any user, turn by turn. */
export function conversationRoute(deps: AdminDeps): Route {
  return route({
    method: 'GET',
    path: '/v1/admin/conversations/:conversationId',
    proof: operator(),
    query: OwnerQuery,
    docs: {
      group: 'Operations',
      summary: 'Read the turns of a conversation of any user',
      example: {
        query: '?userId=alice',
        reply: {
          conversationId: 'trip-7',
          turns: [{ streamRequestId: SAMPLE_ADMIN_TURN.streamRequestId, turn: SAMPLE_ADMIN_TURN }],
        },
      },
      replies: { 200: { description: 'Its turns', schema: AdminConversation } },
      errors: ['not_found'],
    },
    async handle({ caller, params, query: { userId, key = '' }, admitted }) {
      const { tenant } = caller;
      const owner = userId === undefined ? serviceOwner(tenant, key) : { tenant, userId };
      const conversation = conversationOf(owner, params.conversationId);
      await admitted;
      const { running, last, messages } = await deps.conversations.read(conversation);
      const ids = new Set(
        [...messages.map(({ turn }) => turn), last?.streamRequestId, running].filter(
          (id) => id !== undefined,
        ),
      );
      if (ids.size === 0) throw notFound();
      const refs = [...ids].map((streamRequestId) => ({ ...owner, streamRequestId }));
      const seen = await seeTurns(deps, await deps.runs.heads(refs));
      const content = mayReadContent(caller);
      const turns = refs.map(({ streamRequestId }, at) => {
        const turn = seen[at];
        return {
          streamRequestId,
          ...(turn !== undefined && { turn: turnView(turn) }),
          ...(content && {
            messages: messages.filter((one) => one.turn === streamRequestId).map(messageView),
          }),
        };
      });
      return json(200, { conversationId: conversation.conversationId, turns });
    },
  });
}

function messageView({ role, content, isCut }: RememberedMessage): z.infer<typeof AdminMessage> {
  const text = contentParts(content).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return { role, text: text.join('\n'), ...(isCut !== undefined && { isCut }) };
}
