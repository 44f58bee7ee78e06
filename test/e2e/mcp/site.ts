import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { type RemoteAgent, startRemoteAgent } from '../../harness/a2a/remote-agent.ts';
import { serviceKeyOf } from '../../harness/load/load-env.ts';
import { PACE } from '../../harness/pace.ts';
import { startBookingTools } from '../../harness/site/booking-tools.ts';
import { openBalancer, openPodPair, type PodPair } from '../../harness/site/pod-pair.ts';
import { openSite, type Site } from '../../harness/site/site.ts';
import { startDesk } from './desk.ts';

/** Two pods with an agent for MCP and A2A clients, behind a proxy that picks a random one for each request. */
export interface McpPods {
  readonly url: string;
  /** A remote agent that pushes, the stock server of `@a2a-js/sdk`, to which `stock` hands on. */
  readonly stock: RemoteAgent;
  /** How often each call had its effect, by its name. */
  readonly booked: ReadonlyMap<string, number>;
  /** How often the desk ended each call without an effect, by its name. */
  readonly refused: ReadonlyMap<string, number>;
  token(userId: string, tenant?: string): Promise<string>;
  /** Kills a pod; another one takes its place once the returned function is called. */
  kill(): Promise<() => Promise<void>>;
  /** Starts another Parley, whose agents and those of this one delegate to each other through A2A. */
  openPeer(): Promise<Pick<PodPair, 'url' | 'kill'>>;
  stop(): Promise<void>;
}

/** What the agent of a word hands on: to which agent, and the word that this one gets. */
const HOPS: Readonly<Record<string, readonly [string, string]>> = {
  deep: ['delegate_to_one', 'middle'],
  middle: ['delegate_to_two', 'far'],
  far: ['delegate_to_three', 'one'],
};

/** How long the questions of the brief servers are open: so long that even a slow machine asks them before. */
export const BRIEF_SECONDS = Math.ceil(6 * PACE);

/** The number of steps that the agent may take. */
export const STEPS = 5;

/**
 * The agent asks as often as the first word says, then books in the name of the call, then repeats what it heard. After
 * `filter` it is held back, after `endless` it books until it may not; with `page` the desk asks.
 * With the other words it hands the rest to an agent of the other Parley.
 */
function line({ userText, results }: Turn): ScriptedReply {
  const [word = '', name = ''] = userText.split(' ');
  if (word === 'stock')
    return results.length > 0
      ? { text: `Heard ${results[0]?.text}` }
      : { calls: [{ name: 'delegate_to_stock', arguments: { task: 'page' } }] };
  const [hop, next] = HOPS[word] ?? [];
  if (hop !== undefined)
    return results.length > 0
      ? { text: `Heard ${results[0]?.text}.` }
      : { calls: [{ name: hop, arguments: { task: `${next} ${name}` } }] };
  if (word === 'page' && results.length === 0)
    return { text: 'One moment.', calls: [{ name: 'desk__ticket', arguments: { message: name } }] };
  if (word === 'page') return { text: results[0]?.text ?? '' };
  if (word === 'filter' && results.length > 0) return { text: 'That is', finishReason: 'content_filter' };
  const ask = { name: 'elicit', arguments: { kind: 'text', message: `Which colour for ${name}?` } };
  if (results.length === 0) return { text: 'One moment.', calls: word === 'two' ? [ask, ask] : [ask] };
  if (word === 'endless' || !results.some((result) => result.name === 'bookings__book'))
    return { calls: [{ name: 'bookings__book', arguments: { name, round: results.length } }] };
  return { text: `Heard ${results.map(({ text }) => text).join(' and ')}.` };
}

export async function openMcpPods(): Promise<McpPods> {
  const booked = new Map<string, number>();
  const refused = new Map<string, number>();
  const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  const site = await openSite();
  const [desk, model, bookings, stock] = await Promise.all([
    startDesk((name, isDone) => count(isDone ? booked : refused, name)),
    site.model({ script: [line], delayMs: 1 }),
    startBookingTools({
      workMs: 1,
      async onCall({ name }) {
        count(booked, name);
      },
    }),
    startRemoteAgent({ streaming: false, push: true }),
  ]);
  const [balancer, peerBalancer] = await Promise.all([openBalancer('random'), openBalancer('random')]);
  const remote = (id: string, url: string) =>
    `  ${id}: { title: Remote ${id}, cardUrl: "${url}/run/a2a/${id}/", credentialScope: project, headersFromEnv: { Authorization: PEER_KEY }, userHeader: Parley-User, userTenant: acme }`;
  // The key acts for people at the other Parley.
  const key = serviceKeyOf('acme');
  const env = { PEER_KEY: `Bearer ${key}`, PARLEY_API_KEYS: `acme/peers/ask+read+chat+act:${key}` };
  const pages = {
    PARLEY_PUBLIC_URL: balancer.url,
    PARLEY_CONNECT_IDENTITY: 'dev',
    PARLEY_CONNECT_TENANTS: 'acme',
  };
  // The desk, where each person has an account of their own.
  const account = `{ title: Account, transport: http, url: "${desk.url}", credentialScope: user, connector: key, announcedTools: [{ name: stamp, description: Stamps., inputSchema: { type: object } }] }`;
  const config = site.agents(
    model.url,
    `a2aAgents:
${remote('one', peerBalancer.url)}
${remote('three', peerBalancer.url)}
  stock: { title: Stock, cardUrl: "${stock.url}", credentialScope: none }
mcpServers:
  bookings: { title: Bookings, transport: http, url: "${bookings.url}", credentialScope: none }
  desk: { title: Desk, transport: http, url: "${desk.url}", credentialScope: none }
  brief_desk: { title: Brief Desk, transport: http, url: "${desk.url}", credentialScope: none }
  account: ${account}
  brief_account: ${account}
connectors:
  key: { type: api_key, title: Account, instructions: Ask the desk. }
agents:
  helper: { title: Helper, model: scripted, instructions: Help., elicit: true, tools: [{ server: bookings }, { server: desk }], delegates: [{ agent: one, description: First. }, { agent: three, description: Third. }, { agent: stock, description: Pushes. }], limits: { steps: ${STEPS} } }
  two: { title: Two, model: scripted, instructions: Help., delegates: [{ agent: three, description: Third. }] }
defaultAgent: helper
mcpOffer:
  tools: [{ server: desk, prefix: false }, { server: brief_desk, limits: { questionTimeoutSeconds: ${BRIEF_SECONDS} } }, { server: account }, { server: brief_account, limits: { questionTimeoutSeconds: ${BRIEF_SECONDS} } }]
a2aOffer:
  agents: [{ agent: helper }, { agent: two, answers: caller }]
`,
  );
  const peerConfig = site.agents(
    model.url,
    `a2aAgents:
${remote('two', balancer.url)}
mcpServers:
  bookings: { title: Bookings, transport: http, url: "${bookings.url}", credentialScope: none }
agents:
  one: { title: One, model: scripted, instructions: Help., delegates: [{ agent: two, description: Second. }] }
  three: { title: Three, model: scripted, instructions: Help., elicit: true, tools: [{ server: bookings }] }
defaultAgent: one
a2aOffer:
  agents: [{ agent: one, answers: caller }, { agent: three, answers: caller }]
`,
  );
  const pods = await openPodPair(site, { config, balancer, env: { ...env, ...pages } });
  let peer: { readonly site: Site; readonly pods: PodPair } | undefined;
  return {
    url: pods.url,
    booked,
    stock,
    refused,
    token: pods.token,
    kill: pods.kill,
    async openPeer() {
      const peerSite = await openSite();
      peer = {
        site: peerSite,
        pods: await openPodPair(peerSite, { config: peerConfig, balancer: peerBalancer, env }),
      };
      return peer.pods;
    },
    async stop() {
      await pods.close();
      await peerBalancer.close();
      await peer?.site.stop();
      await site.stop();
      await bookings.stop();
      await desk.stop();
      await stock.stop();
    },
  };
}

/** A `fetch` whose streams can be cut, as a broken connection would. */
export function cuttableFetch() {
  const streams = new Set<AbortController>();
  return {
    async fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
      const cut = new AbortController();
      const signal = init.signal == null ? cut.signal : AbortSignal.any([init.signal, cut.signal]);
      const reply = await fetch(input, { ...init, signal });
      const isStream = reply.headers.get('content-type')?.startsWith('text/event-stream') === true;
      if (init.method === 'POST' && isStream) streams.add(cut);
      return reply;
    },
    /** Destroys the sockets of all streams that a POST has opened. */
    cut() {
      for (const stream of streams) stream.abort(new TypeError('terminated'));
      streams.clear();
    },
  };
}
