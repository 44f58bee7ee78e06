import { expect, it } from 'vitest';
import {
  expectConnected,
  finishWithCode,
  SCOPES,
  startOddReplies,
} from '../../harness/pages/connectors-setup.ts';
import { DEFINITE_REFUSALS, PASSING_FAILURES, TOKEN_REPLIES } from './provider-replies.ts';

const STORED = {
  kind: 'oauth2',
  accessToken: 'old-access',
  tokenType: 'Bearer',
  refreshToken: 'old-refresh',
  scope: 'x y',
} as const;

type Reply = Parameters<typeof startOddReplies>[0];

/** Refreshes a stored credential at a token endpoint that sends this reply. */
const refreshWith = async (reply: Reply) => (await startOddReplies(reply)).connector.refresh(STORED);

it.each(DEFINITE_REFUSALS)('after $what the person is asked to connect again', async (reply) => {
  expect(await refreshWith(reply)).toMatchObject({ type: 'failed', code: 'invalid_grant' });
});

it.each(PASSING_FAILURES)('after $what the credential is kept and tried again', async (reply) => {
  expect(await refreshWith(reply)).toMatchObject({ type: 'failed', code: 'unavailable' });
});

it.each(TOKEN_REPLIES)('a new token is read from $what', async ({ stored, ...reply }) => {
  const { expires, ...members } = { expires: undefined, ...stored };
  const result = await refreshWith(reply);
  expect(result).toMatchObject({ type: 'refreshed', credential: { accessToken: 'new-access', ...members } });
  if (expires === undefined || result.type !== 'refreshed') return;
  expect('expiresAt' in result.credential).toBe(expires);
});

/** What a first token has in place of what a refresh carries on. */
const FIRST: Readonly<Record<string, string | undefined>> = {
  [STORED.refreshToken]: undefined,
  [STORED.scope]: SCOPES.join(' '),
};

it.each(TOKEN_REPLIES.filter(({ isIdentityWrong }) => isIdentityWrong !== true))(
  'a first token is read from $what',
  async ({ stored, ...reply }) => {
    const { expires, ...members } = { expires: undefined, ...stored };
    const { connector } = await startOddReplies(reply);
    const { credential } = expectConnected(await finishWithCode(connector));
    const first = Object.entries<string>(members).map(([name, value]) => [
      name,
      value in FIRST ? FIRST[value] : value,
    ]);
    expect({ refreshToken: undefined, ...credential }).toMatchObject({
      accessToken: 'new-access',
      ...Object.fromEntries(first),
    });
    if (expires !== undefined) expect('expiresAt' in credential).toBe(expires);
  },
);

it.each(TOKEN_REPLIES.filter(({ isIdentityWrong }) => isIdentityWrong === true))(
  'a first token with $what is refused',
  async (reply) => {
    const { connector } = await startOddReplies(reply);
    expect(await finishWithCode(connector)).toMatchObject({ type: 'failed', code: 'provider_error' });
  },
);
