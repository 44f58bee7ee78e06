/** The routes for a person's conversations: list, read, rename, delete. Chatting is in `routes.ts`. */

import { readableLine } from '@parley/core/domain/readable';
import { lengthOf } from '@parley/core/domain/text';
import { notFound } from '@parley/shared/domain/caller';
import type { ConversationRef } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import { z } from 'zod';
import { userOf } from '../../http/reply.ts';
import { bearer, json, jsonBody, type Route, route } from '../../http/route.ts';
import { readHistoryWithReply } from '../../turns/approvals/waiting-reply.ts';
import { conversationOf } from '../../turns/principal.ts';
import { TITLE_LENGTH, type Turns } from '../../turns/turns.ts';
import { HISTORY_EXAMPLE, LIST_EXAMPLE, RENAME_EXAMPLE } from './examples.ts';

const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 50;

const History = z
  .object({
    conversationId: z.string(),
    messages: z
      .array(
        z.object({ id: z.string(), role: z.enum(['user', 'assistant']), parts: z.array(z.looseObject({})) }),
      )
      .describe('`UIMessage`s of the AI SDK, oldest first.'),
    isRunning: z.boolean().describe('True while a turn runs or waits. Resume its stream for the reply.'),
  })
  .meta({ id: 'ConversationHistory' });

const ListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(LIMIT_DEFAULT),
  cursor: z
    .string()
    .regex(/^[0-9]{1,16}\.[A-Za-z0-9._-]{1,128}$/u, 'must be the nextCursor of an earlier page')
    .optional(),
});

const Page = z
  .object({
    conversations: z.array(
      z.object({
        conversationId: z.string(),
        title: z
          .string()
          .optional()
          .describe("The title that the person gave it, or the beginning of the person's first message."),
        agent: z.string().describe('The agent of its latest turn.'),
        latestTurnAt: z.iso.datetime().describe('When its latest turn began.'),
        isRunning: z.boolean(),
      }),
    ),
    nextCursor: z.string().optional(),
  })
  .meta({ id: 'ConversationPage' });

/** Deletes a whole conversation. Returns false if there is none. Throws `unavailable` and `turn_running`. */
export type EraseConversation = (conversation: ConversationRef) => Promise<boolean>;

interface ConversationDeps {
  readonly engine: Pick<Engine, 'replay' | 'replayItems'>;
  readonly turns: Turns;
  readonly eraseConversation: EraseConversation;
}

/** The routes for a person's list of conversations, and for the messages of each. */
export function conversationRoutes(deps: ConversationDeps): Route[] {
  return [listRoute(deps.turns), historyRoute(deps), renameRoute(deps.turns), eraseRoute(deps)];
}

function listRoute(turns: Turns): Route {
  return route({
    method: 'GET',
    path: '/run/api/chats',
    proof: bearer('user'),
    query: ListQuery,
    docs: {
      group: 'Chats',
      summary: "List a person's conversations, the one with the latest turn first",
      example: { query: '?limit=20', reply: LIST_EXAMPLE },
      replies: { 200: { description: 'A page', schema: Page } },
    },
    async handle({ caller, query, admitted }) {
      const { limit, cursor } = query;
      await admitted;
      const page = await turns.listConversations(userOf(caller), {
        limit,
        ...(cursor !== undefined && { cursor }),
      });
      const conversations = page.conversations.map(({ at, ...one }) => ({
        ...one,
        latestTurnAt: new Date(at).toISOString(),
      }));
      return json(200, { ...page, conversations } satisfies z.infer<typeof Page>);
    },
  });
}

const HistoryQuery = z.object({
  reply: z
    .literal('waiting')
    .optional()
    .describe(
      '`waiting`: the reply of a turn that waits for approvals and nothing else is the last message, for a client that does not resume such a turn.',
    ),
});

function historyRoute({ engine, turns }: ConversationDeps): Route {
  return route({
    method: 'GET',
    path: '/run/api/chat/:conversationId/messages',
    proof: bearer('user'),
    query: HistoryQuery,
    docs: {
      group: 'Chats',
      summary: 'Read the messages of a conversation',
      example: { reply: HISTORY_EXAMPLE },
      description:
        'As `UIMessage`s of the AI SDK, for a client that was reloaded. The reply of a turn that still runs is read from its stream; the message that it answers is the last one here. A call that a person decided on has its approval.',
      replies: { 200: { description: 'The conversation', schema: History } },
      errors: ['not_found'],
    },
    async handle({ caller, params, query, admitted }) {
      const conversation = conversationOf(userOf(caller), params.conversationId);
      await admitted;
      const history =
        query.reply === 'waiting'
          ? await readHistoryWithReply({ engine, turns }, conversation)
          : await turns.history(conversation);
      return json(200, { conversationId: conversation.conversationId, ...history });
    },
  });
}

const Title = z
  .string()
  .transform(readableLine)
  .refine((title) => title !== '' && lengthOf(title) <= TITLE_LENGTH, {
    message: `must have 1 to ${TITLE_LENGTH} characters that people can see`,
  });

const Renamed = z
  .object({ conversationId: z.string(), title: z.string() })
  .meta({ id: 'RenamedConversation' });

function renameRoute(turns: Turns): Route {
  return route({
    method: 'PATCH',
    path: '/run/api/chats/:conversationId',
    proof: bearer('user'),
    body: jsonBody(z.strictObject({ title: Title }).meta({ id: 'ConversationInput' })),
    docs: {
      group: 'Chats',
      summary: 'Rename a conversation',
      example: RENAME_EXAMPLE,
      replies: { 200: { description: 'The conversation with its title', schema: Renamed } },
      errors: ['not_found'],
    },
    async handle({ caller, params, body: { title }, admitted }) {
      const conversation = conversationOf(userOf(caller), params.conversationId);
      await admitted;
      if (!(await turns.renameConversation(conversation, title))) throw notFound();
      const { conversationId } = conversation;
      return json(200, { conversationId, title } satisfies z.infer<typeof Renamed>);
    },
  });
}

function eraseRoute({ eraseConversation }: ConversationDeps): Route {
  return route({
    method: 'DELETE',
    path: '/run/api/chats/:conversationId',
    proof: bearer('user'),
    docs: {
      group: 'Chats',
      summary: 'Delete a conversation',
      example: { reply: { deleted: true } },
      description:
        'With its messages, turns, streams, and all questions and approvals that name it; what was remembered for it is revoked. A turn that runs is stopped first, and what is open is withdrawn. The call can be repeated until it is 404.',
      replies: {
        200: { description: 'Nothing of it is left', schema: z.object({ deleted: z.literal(true) }) },
      },
      errors: ['not_found', 'turn_running'],
    },
    async handle({ caller, params, admitted }) {
      const conversation = conversationOf(userOf(caller), params.conversationId);
      await admitted;
      if (!(await eraseConversation(conversation))) throw notFound();
      return json(200, { deleted: true });
    },
  });
}
