import { expect, test } from 'vitest';
import type { Connector } from '../../../services/api/src/accounts/connector.ts';
import { createProofKey } from '../../../services/api/src/accounts/oauth/proof-key.ts';
import { createMcpTools } from '../../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import { begin, connect, tokensOf } from '../../harness/pages/connectors-setup.ts';
import { discovering, startGuardedTracker } from './mcp-oauth-setup.ts';

type Shown = Awaited<ReturnType<Connector['headersFor']>>;

async function presented(connector: Connector, ...[credential]: Parameters<Connector['headersFor']>) {
  const shown: Shown = await connector.headersFor(credential);
  if (shown.type !== 'presented') throw new Error(`expected headers: ${JSON.stringify(shown)}`);
  return { key: 'ada', headers: shown.headers, proofKey: shown.proofKey ?? '' };
}

test('tokens are bound to a key that each request proves, also after a refresh on another pod', async () => {
  const { serverUrl } = await startGuardedTracker({ bindsTokens: true, bound: true });
  const [one, other] = [discovering({ serverUrl }), discovering({ serverUrl })];
  const { credential } = await connect(one);
  const first = await presented(one, credential);
  expect(first.headers.authorization).toMatch(/^DPoP /);

  const mcp = createMcpTools({ clientInfo: { name: 'parley', version: '0' } });
  const tracker = { id: 'tracker', title: 'Tracker', transport: { type: 'http', url: serverUrl } } as const;
  const list = async (shown: Parameters<typeof mcp.open>[1]) =>
    (await mcp.open(tracker, shown).listTools()).type;
  expect(await list(first)).toBe('tools');
  const stolen = [
    { ...first, key: 'by another key', proofKey: await createProofKey() },
    { key: 'without a proof', headers: first.headers },
    {
      key: 'as a bearer token',
      headers: { authorization: `Bearer ${tokensOf({ credential }).accessToken}` },
    },
  ];
  for (const shown of stolen) expect(await list(shown), shown.key).toBe('unauthorized');

  const refreshed = await other.refresh(credential);
  if (refreshed.type !== 'refreshed') throw new Error(`expected tokens: ${JSON.stringify(refreshed)}`);
  const second = await presented(other, refreshed.credential);
  expect(second).toMatchObject({ proofKey: first.proofKey });
  expect(second.headers.authorization).not.toBe(first.headers.authorization);
  expect(await list(second)).toBe('tools');
  await mcp.close();
});

test.each([
  ['the MCP server takes bearer tokens', { bindsTokens: true }],
  ['the authorization server binds none', { bound: true }],
] as const)('tokens are not bound where %s', async (_name, options) => {
  const { serverUrl } = await startGuardedTracker(options);
  expect((await begin(discovering({ serverUrl }))).callbackState).not.toHaveProperty('proofKey');
});
