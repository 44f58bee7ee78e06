/** The route that shows operators everything about one person. Erasing a person is in `surfaces/rest/users.ts`. */

import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { UserId } from '@parley/core/domain/elicitations/ask-input';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import type { Owner } from '@parley/core/domain/ids';
import { type Caller, notFound } from '@parley/shared/domain/caller';
import { z } from 'zod';
import { json, operator, type Route, route } from '../../../http/route.ts';
import { type AdminDeps, mayReadContent } from '../deps.ts';
import { SAMPLE_ADMIN_ELICITATION, SAMPLE_ADMIN_TURN } from '../examples.ts';
import { loadApprovals, loadQuestions, seeTurns } from '../load.ts';
import { readAdminPage } from '../page.ts';
import { AdminApproval, approvalView } from '../views/approval-view.ts';
import { AdminElicitation, elicitationView } from '../views/elicitation-view.ts';
import { AdminTurn, turnView } from '../views/turn-view.ts';
import { AccountOfPerson } from './account.ts';

// The maximum number of entries in each list on a person's page. The tenant's lists have the rest.
const LISTED_MAX = 50;

const used = (about: string) =>
  z.object({ used: z.int(), max: z.int().describe('The quota of one person.') }).describe(about);

const AdminPerson = z
  .object({
    userId: z.string(),
    elicitations: z.array(AdminElicitation).describe(`What waits for them, the newest ${LISTED_MAX}.`),
    approvals: z.array(AdminApproval).describe('The same of approvals.'),
    turns: z
      .array(AdminTurn)
      .describe(`The first ${LISTED_MAX} turns: those that have not ended, then those that ended last.`),
    conversations: z
      .array(
        z.object({
          conversationId: z.string(),
          title: z.string().optional().describe('For keys with the scope `read_content`.'),
          agent: z.string().describe('The agent of its latest turn.'),
          latestTurnAt: z.iso.datetime(),
          isRunning: z.boolean(),
        }),
      )
      .describe(`The ${LISTED_MAX} with the latest turns.`),
    accounts: z.array(AccountOfPerson).describe('Every service that they can connect.'),
    isLinked: z
      .boolean()
      .optional()
      .describe('Whether a channel such as Slack can notify them; absent without one.'),
    openStreams: z
      .array(z.string())
      .describe('What their open event streams read: `inbox`, `chat/<conversation>`.'),
    quotas: z.object({
      turns: used('Turns that run now; a detached one does not count.'),
      tokens: used('Tokens of models in a day, from the first of them on.'),
      conversations: used('Chats that are stored.'),
      storedBytes: used('Bytes of runs and histories.'),
    }),
  })
  .meta({ id: 'AdminPerson' });

const EXAMPLE: z.infer<typeof AdminPerson> = {
  userId: 'alice',
  elicitations: [SAMPLE_ADMIN_ELICITATION],
  approvals: [],
  turns: [SAMPLE_ADMIN_TURN],
  conversations: [
    { conversationId: 'trip-7', agent: 'travel', latestTurnAt: '2026-01-15T09:29:55.000Z', isRunning: true },
  ],
  accounts: [{ toolId: 'tracker', service: 'Issue tracker', state: 'not_connected' }],
  isLinked: true,
  openStreams: ['inbox'],
  quotas: {
    turns: { used: 0, max: 20 },
    tokens: { used: 41_200, max: 10_000_000 },
    conversations: { used: 3, max: 1_000 },
    storedBytes: { used: 81_920, max: 104_857_600 },
  },
};

/** The route that shows operators one person of their tenant. */
export function personRoute(deps: AdminDeps): Route {
  return route({
    method: 'GET',
    path: '/v1/admin/people/:userId',
    proof: operator(),
    docs: {
      group: 'Operations',
      summary: 'Read what is known of a person',
      description:
        'What waits for them, their turns, conversations and accounts, and what they use of their quotas. A person of whom nothing is stored gets empty lists. Percent-encode the user id.',
      example: { reply: EXAMPLE },
      replies: { 200: { description: 'As it stands', schema: AdminPerson } },
      errors: ['not_found'],
    },
    async handle({ caller, params, admitted }) {
      const userId = UserId.safeParse(params.userId);
      if (!userId.success) throw notFound();
      await admitted;
      const owner = { tenant: caller.tenant, userId: userId.data };
      const [waiting, turns, conversations, accounts, openStreams, isLinked, quotas] = await Promise.all([
        waitingFor(deps, caller, owner),
        turnsOf(deps, owner),
        conversationsOf(deps, caller, owner),
        deps.accountsOf(owner),
        deps.streamsOf(owner),
        deps.channel?.isLinked(owner),
        quotasOf(deps, owner),
      ]);
      return json(200, {
        userId: owner.userId,
        ...waiting,
        turns,
        conversations,
        accounts,
        ...(isLinked !== undefined && { isLinked }),
        openStreams,
        quotas,
      });
    },
  });
}

async function waitingFor(deps: AdminDeps, caller: Caller, { tenant, userId }: Owner) {
  const content = mayReadContent(caller);
  const slice = { tenant, userId, state: 'open', order: 'newest' } as const;
  const common = { limit: LISTED_MAX, keeps: () => true };
  const [questions, approvals] = await Promise.all([
    readAdminPage(deps.tenantLists, {
      ...common,
      slice: { ...slice, kind: 'elicitations' },
      load: (ids) => loadQuestions(deps, tenant, ids),
      hasEnded: ({ row }) => isTerminal(row.status),
    }),
    readAdminPage(deps.tenantLists, {
      ...common,
      slice: { ...slice, kind: 'approvals' },
      load: (ids) => loadApprovals(deps, tenant, ids),
      hasEnded: ({ row }) => isApprovalEnded(row.status),
    }),
  ]);
  return {
    elicitations: questions.items.map(({ row, now, agent }) => elicitationView(row, { now, agent, content })),
    approvals: approvals.items.map(({ row, now }) => approvalView(row, { now, content })),
  };
}

async function turnsOf(deps: AdminDeps, owner: Owner): Promise<AdminTurn[]> {
  const ids = await deps.runs.listOf(owner, LISTED_MAX);
  const heads = await deps.runs.heads(ids.map((streamRequestId) => ({ ...owner, streamRequestId })));
  return (await seeTurns(deps, heads)).flatMap((seen) => (seen === undefined ? [] : [turnView(seen)]));
}

async function conversationsOf({ conversations }: AdminDeps, caller: Caller, owner: Owner) {
  const content = mayReadContent(caller);
  const page = await conversations.list(owner, { limit: LISTED_MAX });
  return page.conversations.map(({ conversationId, title, agent, at, isRunning }) => ({
    conversationId,
    ...(content && title !== undefined && { title }),
    agent,
    latestTurnAt: new Date(at).toISOString(),
    isRunning,
  }));
}

async function quotasOf({ conversations, chatQuotas }: AdminDeps, owner: Owner) {
  const { turns, tokens, conversations: count, storedBytes } = await conversations.usage(owner);
  const { turnsMax, tokensMax, conversationsMax, storedBytesMax } = chatQuotas;
  return {
    turns: { used: turns, max: turnsMax },
    tokens: { used: tokens, max: tokensMax },
    conversations: { used: count, max: conversationsMax },
    storedBytes: { used: storedBytes, max: storedBytesMax },
  };
}
