import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startScriptedModel } from '../../stand-ins/scripted-model/scripted-model.ts';
import { createRoundRobin } from '../harness/http/round-robin.ts';
import { startPod } from '../harness/processes/processes.ts';
import { startRedis } from '../harness/redis/redis-server.ts';
import { userToken } from '../harness/tokens.ts';
import { ASKING_AGENTS, askingLine, startMessageWriter } from './asking-agents.ts';
import { TASK_RULES } from './fixture-tasks.ts';

const SECRET = 'a-secret-of-the-conformance-run-0001';

/** Two pods that offer the tools of a server, behind a proxy that picks a random one for each request. */
export interface ConformancePods {
  /** The MCP endpoint behind the proxy. The proxy adds a user's token: the kit cannot. */
  readonly url: string;
  close(): Promise<void>;
}

/** With `hasAgents`, those tools of the scenarios of tasks that ask are agents. */
export async function startConformancePods(
  serverUrl: string,
  { hasAgents = false }: { readonly hasAgents?: boolean } = {},
): Promise<ConformancePods> {
  const redis = await startRedis();
  const model = hasAgents ? await startScriptedModel({ script: [askingLine] }) : undefined;
  const folder = await mkdtemp(join(tmpdir(), 'parley-conformance-'));
  const config = join(folder, 'agents.yaml');
  await writeFile(
    config,
    `${model === undefined ? '' : agentsOf(model.url)}mcpServers:
  fixture: { title: Fixture, transport: http, url: "${serverUrl}", credentialScope: none }
mcpOffer:
  agents: ${JSON.stringify(model === undefined ? [] : Object.entries(ASKING_AGENTS).map(([agent, rule]) => ({ agent, ...rule })))}
  tools: [{ server: fixture, prefix: false, prompts: true, resources: true, perTool: ${JSON.stringify(TASK_RULES)} }]
`,
  );
  const env = { REDIS_URL: redis.url, PARLEY_CONFIG: config, PARLEY_JWT_SECRET: SECRET };
  const pods = await Promise.all([startPod(env), startPod(env)]);
  const token = await userToken({ secret: SECRET, userId: 'ada' });
  const proxy = await createRoundRobin({
    targets: pods.map(({ url }) => url),
    pick: 'random',
    headers: { authorization: `Bearer ${token}` },
  });
  const writer = hasAgents ? await startMessageWriter(proxy.url) : undefined;
  return {
    url: `${(writer ?? proxy).url}/run/v1/mcp`,
    async close() {
      await writer?.close();
      await proxy.close();
      await Promise.all(pods.map((pod) => pod.stop()));
      await model?.stop();
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function agentsOf(modelUrl: string): string {
  const agents = Object.keys(ASKING_AGENTS).map(
    (name) =>
      `  ${name}: { title: ${name}, model: scripted, instructions: ${name}, elicit: true, tools: [{ server: fixture }] }`,
  );
  return `models:
  scripted: { provider: openai-compatible, baseUrl: "${modelUrl}", model: scripted }
defaultAgent: confirm_delete
agents:
${agents.join('\n')}
`;
}
