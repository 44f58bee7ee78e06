import { expect, it } from 'vitest';
import type { McpServerRef, McpTools } from '../../../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import {
  type ProjectCredentials,
  withProjectAccess,
} from '../../../../services/api/src/agents/mcp/project-access.ts';
import type { McpServerConfig } from '../../../../services/api/src/agents/mcp/server-config.ts';

const config: McpServerConfig = {
  id: 'desk',
  title: 'Desk',
  transport: { type: 'http', url: 'https://desk.example.com', headers: {} },
};

interface Desk {
  /** What the server replies to a token with these scopes. */
  readonly reply: (scope: string) => {
    readonly type: string;
    readonly status?: number;
    readonly scope?: string;
  };
  /** The scopes of a token, of those that are requested; absent where they cannot be chosen. */
  readonly grant?: (requested: string) => string;
}

/** A server that counts its requests, and tokens that have a version and scopes. */
function openDesk({ reply, grant }: Desk) {
  let token = { version: 1, scope: 'read' };
  let ms = 0;
  let requests = 0;
  const call = async () => {
    requests += 1;
    return reply(token.scope);
  };
  const mcp = { open: () => ({ call }) as unknown as McpServerRef } as unknown as McpTools;
  const project: ProjectCredentials = {
    has: () => true,
    async present(_id, refused) {
      if (refused?.version === token.version)
        token = { version: token.version + 1, scope: grant?.(refused.scope ?? token.scope) ?? token.scope };
      const { version, scope } = token;
      return { type: 'presented', headers: {}, version, ...(grant !== undefined && { scope }) };
    },
  };
  const server = withProjectAccess(mcp, project, () => ms).open(config);
  return {
    call: () => server.call('list', {}),
    seen: () => [token.version, requests],
    wait: () => {
      ms += 10_000;
    },
  };
}

const lacking = { type: 'unauthorized', status: 403, scope: 'write read' } as const;
const needsWrite = (scope: string) => (scope.includes('write') ? { type: 'result' } : lacking);

it.each<[name: string, desk: Desk]>([
  ['refuses every token', { reply: () => ({ type: 'unauthorized', status: 401 }) }],
  ['wants scopes that are not granted', { reply: needsWrite, grant: () => 'read' }],
])('a server that %s takes one new one in ten seconds, however often it is called', async (_name, desk) => {
  const { call, seen, wait } = openDesk(desk);
  for (let calls = 0; calls < 5; calls += 1) expect(await call()).toMatchObject({ type: 'unauthorized' });
  expect(seen()).toEqual([2, 6]);
  wait();
  await call();
  expect(seen()).toEqual([3, 8]);
});

it('a server that wants more scopes gets a token with them, and with those that it had', async () => {
  const requested: string[] = [];
  const grant = (scope: string) => {
    requested.push(scope);
    return scope;
  };
  const { call, seen } = openDesk({ reply: needsWrite, grant });
  for (let calls = 0; calls < 3; calls += 1) expect(await call()).toMatchObject({ type: 'result' });
  expect([requested, seen()]).toEqual([['read write'], [2, 4]]);
});

it.each<[name: string, desk: Desk]>([
  ['the configuration chooses the scopes', { reply: needsWrite }],
  ['the token has what is wanted', { reply: () => ({ ...lacking, scope: 'read' }), grant: (scope) => scope }],
  ['nothing is named', { reply: () => ({ type: 'unauthorized', status: 403 }), grant: (scope) => scope }],
])('a refusal for its scopes replaces no token where %s', async (_name, desk) => {
  const { call, seen } = openDesk(desk);
  expect(await call()).toMatchObject({ type: 'unauthorized', status: 403 });
  expect(seen()).toEqual([1, 1]);
});
