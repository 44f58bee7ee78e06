import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Script } from '../../../infra/demo/stand-ins/scripted-model/script.ts';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { createRoundRobin, type RoundRobin } from '../http/round-robin.ts';
import { startBookingTools } from '../site/booking-tools.ts';
import { openSite, type Site, type SitePod } from '../site/site.ts';
import { SECRET } from './client.ts';

const PODS = 3;

/** Three pods with an agent, behind a balancer. */
export interface ChatSite {
  readonly site: Site;
  readonly model: ScriptedModel;
  /** The calls of the bookings server, by the name in their arguments. */
  readonly booked: readonly string[];
  /** Of its pods. */
  readonly env: Readonly<Record<string, string>>;
  readonly balancer: RoundRobin;
  /** The pods by their index behind the balancer. */
  readonly pods: readonly SitePod[];
  /** Ends the pod at a place, and starts another there once it is gone: of this build, or of another tree. */
  replace(at: number, how: 'SIGTERM' | 'SIGKILL', root?: string): Promise<void>;
  stop(): Promise<void>;
}

export interface ChatSiteOptions {
  readonly script: Script;
  /** Pause before each piece of the model's reply, ms. */
  readonly delayMs: number;
  readonly env?: Record<string, string>;
  /** True for an agent `desk` with the tools of a bookings server. Each call needs an approval. */
  readonly hasDesk?: boolean;
  /** @default helper */
  readonly defaultAgent?: 'helper' | 'desk';
  /** The tree of the first pods, as in StartOptions. A worker of each build runs all the time. */
  readonly root?: string;
}

const serversOf = (url: string) => `mcpServers:
  bookings:
    title: Bookings
    transport: http
    url: "${url}"
    credentialScope: none
    approval: { ask: always, remember: conversation }
`;
const DESK =
  '  desk: { title: Desk, model: scripted, instructions: Help., elicit: true, tools: [{ server: bookings }] }\n';

/** Opens a site whose agent replies by the script. */
export async function openChatSite(options: ChatSiteOptions): Promise<ChatSite> {
  const { script, delayMs, env: more, root, hasDesk = false, defaultAgent = 'helper' } = options;
  const booked: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'parley-chats-'));
  const [site, model, bookings] = await Promise.all([
    openSite(),
    startScriptedModel({ script, delayMs }),
    hasDesk
      ? startBookingTools({ workMs: 1, onCall: async ({ name }) => void booked.push(name) })
      : undefined,
  ]);
  const config = join(folder, 'agents.yaml');
  writeFileSync(
    config,
    `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.url}", model: scripted }
${bookings === undefined ? '' : serversOf(bookings.url)}agents:
  helper: { title: Helper, model: scripted, instructions: Help., elicit: true }
${bookings === undefined ? '' : DESK}defaultAgent: ${defaultAgent}
`,
  );
  const env = {
    PARLEY_CONFIG: config,
    PARLEY_JWT_SECRET: SECRET,
    // A pod on a busy machine must not be mistaken for a dead one.
    PARLEY_LEASE_MS: '4000',
    PARLEY_TAKE_OVER_MS: '250',
    PARLEY_DRAIN_MS: '8000',
    ...more,
  };
  await site.worker(env);
  if (root !== undefined) await site.worker(env, { root });
  const podOf = (tree: string | undefined) => site.pod(env, tree === undefined ? {} : { root: tree });
  const pods = await Promise.all(Array.from({ length: PODS }, () => podOf(root)));
  const targets = () => pods.map(({ url }, at) => ({ name: `${at}`, url }));
  const balancer = await createRoundRobin({ targets: targets(), healthIntervalMs: 100 });
  return {
    site,
    model,
    env,
    booked,
    balancer,
    pods,
    async replace(at, how, tree) {
      pods[at]?.kill(how);
      await pods[at]?.exited;
      pods[at] = await podOf(tree);
      await balancer.setTargets(targets());
    },
    async stop() {
      await balancer.close();
      await site.stop();
      await model.stop();
      await bookings?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
