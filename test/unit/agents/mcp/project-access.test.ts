import { expect, it } from 'vitest';
import type { McpServerRef, McpTools } from '../../../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import { withProjectAccess } from '../../../../services/api/src/agents/mcp/project-access.ts';
import type { McpServerConfig } from '../../../../services/api/src/agents/mcp/server-config.ts';

const config: McpServerConfig = {
  id: 'desk',
  title: 'Desk',
  transport: { type: 'http', url: 'https://desk.example.com', headers: {} },
};

it('a server that refuses every token takes one new one in ten seconds, however often it is called', async () => {
  let version = 1;
  let ms = 0;
  let requests = 0;
  const call = async () => {
    requests += 1;
    return { type: 'unauthorized', status: 401 } as const;
  };
  const mcp = { open: () => ({ call }) as unknown as McpServerRef } as unknown as McpTools;
  const project = {
    has: () => true,
    present: async (_id: string, rejected?: number) => {
      if (rejected === version) version += 1;
      return { type: 'presented', headers: {}, version } as const;
    },
  };
  const server = withProjectAccess(mcp, project, () => ms).open(config);
  for (let calls = 0; calls < 5; calls += 1)
    expect(await server.call('list', {})).toMatchObject({ type: 'unauthorized' });
  expect([version, requests]).toEqual([2, 6]);
  ms = 10_000;
  await server.call('list', {});
  expect([version, requests]).toEqual([3, 8]);
});
