import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { openBalancer, openPodPair } from '../../harness/site/pod-pair.ts';
import { openSite } from '../../harness/site/site.ts';
import { startOldA2aAgent } from '../../harness/stacks/a2a.ts';
import { startEverything, startFastMcp, startMcpUse } from '../../harness/stacks/servers.ts';

/** Two pods behind random routing, with servers and an agent behind them that others made. */
export interface StackPods {
  readonly url: string;
  token(): Promise<string>;
  stop(): Promise<void>;
}

const TENANT = 'acme';
/** The tools of the everything server that do not change from day to day. */
const SERVED = ['echo', 'trigger-elicitation-request', 'trigger-url-elicitation'];

/** `ask` asks for a colour, `old` hands on to the agent of A2A 0.3. */
function line({ userText, results }: Turn): ScriptedReply {
  if (results.length > 0) return { text: `Heard ${results.map(({ text }) => text).join(' ')}.` };
  if (userText.startsWith('ask'))
    return { calls: [{ name: 'elicit', arguments: { kind: 'text', message: 'Which colour?' } }] };
  if (userText === 'old') return { calls: [{ name: 'delegate_to_old', arguments: { task: 'paint' } }] };
  return { text: `Hello ${userText}.` };
}

export async function openStackPods(): Promise<StackPods> {
  const site = await openSite();
  const [model, balancer, fast, use, everything, old] = await Promise.all([
    site.model({ script: [line], delayMs: 1 }),
    openBalancer('random'),
    startFastMcp(),
    startMcpUse(),
    startEverything(),
    startOldA2aAgent(),
  ]);
  const server = (id: string, url: string, more = '') =>
    `  ${id}: { title: ${id}, transport: http, url: "${url}", credentialScope: none${more} }`;
  const config = site.agents(
    model.url,
    `agents:
  helper: { title: Helper, model: scripted, instructions: Help., elicit: true, delegates: [{ agent: old, description: Old. }] }
a2aAgents:
  old: { title: Old, cardUrl: "${old.url}", credentialScope: none }
mcpServers:
${server('fast', fast.url)}
${server('held', fast.url, ', approval: { ask: always }')}
${server('use', use.url)}
${server('all', everything.url)}
defaultAgent: helper
mcpOffer:
  tools: [{ server: fast, task: always }, { server: held, task: always }, { server: use }, { server: all, allow: [${SERVED}] }]
a2aOffer:
  agents: [{ agent: helper }]
`,
  );
  const env = {
    PARLEY_PUBLIC_URL: balancer.url,
    PARLEY_CONNECT_IDENTITY: 'dev',
    PARLEY_CONNECT_TENANTS: TENANT,
  };
  const pods = await openPodPair(site, { config, balancer, env });
  let people = 0;
  return {
    url: pods.url,
    token() {
      people += 1;
      return pods.token(`person-${people}`, TENANT);
    },
    async stop() {
      await pods.close();
      await site.stop();
      await Promise.all([fast, use, everything, old].map((one) => one.stop()));
    },
  };
}
