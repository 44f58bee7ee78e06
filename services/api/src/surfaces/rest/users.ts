import { UserId } from '@parley/core/domain/elicitations/ask-input';
import type { Owner } from '@parley/core/domain/ids';
import { type Caller, notFound } from '@parley/shared/domain/caller';
import type { Erased } from '@parley/shared/domain/erasure';
import { z } from 'zod';
import { json, operator, type Route, route } from '../../http/route.ts';

/** Deletes everything that is stored about a person. `by` is the caller who requests it. */
export type EraseUser = (owner: Owner, by: Caller) => Promise<Erased>;

const counted = (about: string) => z.int().describe(about);

const ErasedUser = z
  .object({
    userId: z.string(),
    complete: z.boolean().describe('False: the time of one call was over. The same call continues.'),
    erased: z.object({
      withdrawn: counted('Open questions that were withdrawn with the reason `user_erased`.'),
      stopped: counted('Running turns that were stopped.'),
      elicitations: counted('Questions with their answers, open ones included.'),
      turns: counted('Turns of agents with their events, running ones included.'),
      conversations: counted('Conversations with their messages.'),
      accounts: counted(
        'Credentials of connected accounts; they are revoked where the provider supports it.',
      ),
      pages: counted('Sessions and unfinished flows of the connect pages.'),
    }),
  })
  .meta({ id: 'ErasedUser', description: 'What one call removed, by kind.' });

/** The call that erases a user of a tenant. */
export function userRoutes(eraseUser: EraseUser): Route[] {
  return [
    route({
      method: 'DELETE',
      path: '/v1/users/:userId',
      proof: operator('admin'),
      docs: {
        group: 'Users',
        summary: 'Erase a user',
        description:
          'Removes everything that Parley stores of a user of your tenant: ends what is open, revokes the accounts, then deletes. Percent-encode the user id. The call can be repeated; a user who does not exist gets zeros. For five minutes afterwards, nothing new is stored for this user (409 `user_erased`).',
        example: {
          reply: {
            userId: 'alice@example.com',
            complete: true,
            erased: {
              withdrawn: 1,
              stopped: 1,
              elicitations: 12,
              turns: 8,
              conversations: 3,
              accounts: 2,
              pages: 1,
            },
          },
        },
        replies: { 200: { description: 'What was removed', schema: ErasedUser } },
        errors: ['not_found'],
      },
      async handle({ caller, params, admitted }) {
        const userId = UserId.safeParse(params.userId);
        if (!userId.success) throw notFound();
        await admitted;
        const owner = { tenant: caller.tenant, userId: userId.data };
        const { complete, counts } = await eraseUser(owner, caller);
        return json(200, { userId: userId.data, complete, erased: counts });
      },
    }),
  ];
}
