import type { Script } from '../../../stand-ins/scripted-model/script.ts';
import type {
  ScriptedModel,
  ScriptedModelOptions,
} from '../../../stand-ins/scripted-model/scripted-model.ts';
import { createRoundRobin, type RoundRobin, type RoundRobinOptions } from '../http/round-robin.ts';
import { startBookingTools } from '../site/booking-tools.ts';
import { openSite, type Site, type SitePod } from '../site/site.ts';
import { waitUntil } from '../wait-until.ts';
import { SECRET } from './client.ts';
import { type ModelGate, startModelGate } from './model-gate.ts';

/** Pods with an agent, behind a balancer. */
export interface ChatSite {
  readonly site: Site;
  readonly model: ScriptedModel;
  /** In front of the model. */
  readonly gate: ModelGate;
  /** The calls of the bookings server, by the name in their arguments. */
  readonly booked: readonly string[];
  /** Of its pods. */
  readonly env: Readonly<Record<string, string>>;
  readonly balancer: RoundRobin;
  /** The pods by their index behind the balancer. */
  readonly pods: readonly SitePod[];
  /** Ends the pod at a place, and starts another there once it is gone: of this build, or of another tree. */
  replace(at: number, how: 'SIGTERM' | 'SIGKILL', root?: string): Promise<void>;
  /** Sends what comes now to the pod at a place only; without one to all pods again. */
  route(at?: number): Promise<void>;
  /** The place of the pod that owns the running turn of a conversation. */
  ownerOf(authorization: string, conversationId: string): Promise<number>;
  /** Waits until no turn of a conversation runs. */
  untilOver(authorization: string, conversationId: string): Promise<void>;
  stop(): Promise<void>;
}

export interface ChatSiteOptions {
  readonly script: Script;
  /** Pause before each piece of the model's reply, ms. */
  readonly delayMs: number;
  /** How many. @default 3 */
  readonly pods?: number;
  readonly env?: Record<string, string>;
  /** True for an agent `desk` with the tools of a bookings server. Each call needs an approval. */
  readonly hasDesk?: boolean;
  /** Breaks replies of the model. */
  readonly fault?: ScriptedModelOptions['fault'];
  /** Further parts of the agents file: settings of the helper, agents and MCP servers. */
  readonly file?: { readonly helper: string; readonly agents: string; readonly servers: string };
  /** @default helper */
  readonly defaultAgent?: 'helper' | 'desk';
  /** How the balancer checks the pods. @default PATIENT_HEALTH */
  readonly health?: Pick<RoundRobinOptions, 'healthIntervalMs' | 'healthTimeoutMs'>;
}

const bookingsAt = (url: string) => `  bookings:
    title: Bookings
    transport: http
    url: "${url}"
    credentialScope: none
    approval: { ask: always, remember: conversation }
`;
const DESK =
  '  desk: { title: Desk, model: scripted, instructions: Help., elicit: true, tools: [{ server: bookings }] }\n';

/**
 * A starved pod keeps its place, and one that is gone refuses its check at once. A test takes a pod that is to
 * end out of the balancer by itself, or has clients that try again.
 */
const PATIENT_HEALTH = { healthTimeoutMs: 30_000 };

/** Opens a site whose agent replies by the script. */
export async function openChatSite(options: ChatSiteOptions): Promise<ChatSite> {
  const { script, delayMs, pods: count = 3, env: more, hasDesk = false, defaultAgent = 'helper' } = options;
  const { fault, file, health = PATIENT_HEALTH } = options;
  const booked: string[] = [];
  const site = await openSite();
  const [model, bookings] = await Promise.all([
    site.model({ script, delayMs, ...(fault !== undefined && { fault }) }),
    hasDesk
      ? startBookingTools({ workMs: 1, onCall: async ({ name }) => void booked.push(name) })
      : undefined,
  ]);
  const gate = await startModelGate(model.url);
  const servers = `${file?.servers ?? ''}${bookings === undefined ? '' : bookingsAt(bookings.url)}`;
  const config = site.agents(
    gate.url,
    `agents:
  helper: { title: Helper, model: scripted, instructions: Help., elicit: true${file === undefined ? '' : `, ${file.helper}`} }
${file?.agents ?? ''}${bookings === undefined ? '' : DESK}defaultAgent: ${defaultAgent}
${servers === '' ? '' : `mcpServers:\n${servers}`}`,
  );
  const env = {
    PARLEY_CONFIG: config,
    PARLEY_JWT_SECRET: SECRET,
    // So short that a killed pod is noticed soon, and so long that no starved pod loses its turn to another.
    PARLEY_LEASE_MS: '10000',
    // Each look costs the worker a job, all the time that the site stands.
    PARLEY_TAKE_OVER_MS: '1000',
    PARLEY_DRAIN_MS: '8000',
    ...more,
  };
  await site.worker({ ...env, PARLEY_POD: 'worker' });
  const podOf = (at: number, tree?: string) =>
    site.pod({ ...env, PARLEY_POD: `${at}` }, tree === undefined ? {} : { root: tree });
  const pods = await Promise.all(Array.from({ length: count }, (_, at) => podOf(at)));
  const targets = () => pods.map(({ url }, at) => ({ name: `${at}`, url }));
  const balancer = await createRoundRobin({ targets: targets(), ...health });
  const read = (path: string, authorization: string) =>
    fetch(`${balancer.url}/run/api/chat/${path}`, { headers: { authorization } });
  return {
    site,
    model,
    gate,
    env,
    booked,
    balancer,
    pods,
    async replace(at, how, tree) {
      pods[at]?.kill(how);
      await pods[at]?.exited;
      pods[at] = await podOf(at, tree);
      await balancer.setTargets(targets());
    },
    route: (only) => balancer.setTargets(targets().filter((_, at) => only === undefined || at === only)),
    async ownerOf(authorization, conversationId) {
      const { runs } = (await (await read(`${conversationId}/timeline`, authorization)).json()) as {
        readonly runs: readonly { readonly owners: readonly { readonly pod: string }[] }[];
      };
      return Number(runs.at(-1)?.owners.at(-1)?.pod);
    },
    async untilOver(authorization, conversationId) {
      const isOver = async () => {
        const { status, body } = await read(`${conversationId}/stream`, authorization);
        await body?.cancel();
        return status === 204;
      };
      await waitUntil(isOver, { what: 'the end of the turn', timeoutMs: 90_000, everyMs: 100 });
    },
    async stop() {
      await balancer.close();
      await site.stop();
      gate.stop();
      await bookings?.stop();
    },
  };
}
