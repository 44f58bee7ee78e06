import { createMemoryBackend } from '@parley/shared/memory/backend';
import { expect, it } from 'vitest';
import { createSlackAccounts } from '../../../services/api/src/surfaces/slack/outside.ts';
import { ROOMY } from '../../harness/engines/settings.ts';

it('a link for a Slack account is gone once it was used, with the person who used it', async () => {
  const { pages } = createMemoryBackend(ROOMY);
  const linked: unknown[] = [];
  const accounts = createSlackAccounts({
    settings: { publicUrl: 'https://parley.example' },
    store: pages,
    links: { add: async (user: unknown, owner: unknown) => void linked.push([user, owner]) },
    installations: { find: async () => undefined },
  } as unknown as Parameters<typeof createSlackAccounts>[0]);
  const [user, owner] = [
    { teamId: 'T1', userId: 'U1' },
    { tenant: 'acme', userId: 'ada' },
  ];
  const token = (await accounts.addressFor(user)).split('/').at(-1) ?? '';
  for (let times = 0; times < 2; times += 1) await accounts.link(token, owner);
  expect(linked).toEqual([[user, owner]]);
  expect(await pages.read({ family: 'outside-link', id: token })).toBeUndefined();
});
