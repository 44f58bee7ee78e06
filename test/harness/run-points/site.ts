import { Redis } from 'ioredis';
import type { ModelFault } from '../../../stand-ins/scripted-model/faults.ts';
import type { ScriptedModel } from '../../../stand-ins/scripted-model/scripted-model.ts';
import { type ChaosGate, createChaosGate, type GateVerdict } from '../chaos/gate.ts';
import { SECRET } from '../chat/client.ts';
import type { RunEvent } from '../history/run-events.ts';
import type { ServedMcp } from '../mcp-servers/serve-mcp.ts';
import { type BookingCall, startBookingTools } from '../site/booking-tools.ts';
import { openSite, type Site, type SitePod } from '../site/site.ts';
import { waitUntil } from '../wait-until.ts';
import { parseRunCommand, type RunCommand } from './commands.ts';
import { recording, watchRuns } from './monitor.ts';
import { callNameOf, line, readSaying, type Saying } from './script.ts';

type Env = Record<string, string>;

/** A pod that runs turns, with its gate to Redis. */
export interface RunPod extends SitePod {
  /** The name under which the pod owns runs. */
  readonly podName: string;
  readonly gate: ChaosGate;
}

/** Hooks that observe, and may interfere with, each point of a run that is visible from outside. */
export interface RunHooks {
  /** A pod sends a command that concerns the run of a conversation. */
  readonly onCommand?: (name: string, pod: string, command: RunCommand) => GateVerdict;
  /** A tool's server received a call; it replies after this resolves. */
  readonly onCall?: (call: BookingCall) => Promise<void>;
  /** The model received a request. */
  readonly onSaying?: (saying: Saying) => ModelFault | undefined;
  /** A run got another owner in Redis. */
  readonly onTerm?: (name: string, term: number, owner: string) => void;
  /** Redis accepted or refused a write of a run. */
  readonly onWrite?: (name: string, write: RunCommand & { type: 'write' }, accepted: boolean) => void;
}

/** Pods over one Redis, whose turns are observed at the pods, the model, the tools and Redis. */
export interface RunSite {
  readonly redis: Redis;
  readonly redisUrl: string;
  /** The events so far; grows. */
  readonly events: readonly RunEvent[];
  record(event: RunEvent): void;
  /** Sets the name under which a person's turn is recorded. */
  name(userId: string, conversation: string): void;
  /** All pods that take calls. */
  pods(): readonly RunPod[];
  /** Any pod that takes calls. */
  pick(except?: string): Promise<RunPod>;
  /** One of the pods that own the fewest running runs. */
  pickIdle(): Promise<RunPod>;
  start(env?: Env): Promise<RunPod>;
  /** The pod by its name, until it has ended. */
  pod(podName: string): RunPod | undefined;
  /** Signals a pod and starts a replacement if configured; false when the pod already got this or a stronger signal. */
  end(podName: string, signal: 'SIGKILL' | 'SIGTERM', label?: string): boolean;
  /** Name of the pod that owns a conversation's run, as last seen in Redis. */
  ownerOf(conversation: string): string | undefined;
  /** The run of a conversation, once it has begun. */
  runOf(conversation: string): string | undefined;
  stop(): Promise<void>;
}

export interface RunSiteOptions {
  readonly pods: number;
  readonly env?: Env;
  readonly hooks?: RunHooks;
  /** Whether a replacement starts at once for a pod that is ended; true by default. */
  readonly replaces?: boolean;
}

/** Settings under which a take-over happens within one or two seconds. */
export const QUICK_ENV: Env = {
  PARLEY_LEASE_MS: '1000',
  PARLEY_TAKE_OVER_MS: '500',
  PARLEY_DRAIN_MS: '8000',
  // A run at full size kills pods faster than any turn could.
  PARLEY_LIMIT_TURN_DEATHS: '1000',
};

/** Starts Redis, a worker, a model, a tool server and pods, each pod behind a gate of its own. */
export async function openRunSite({
  pods: count,
  env: given = QUICK_ENV,
  hooks = {},
  replaces = true,
}: RunSiteOptions): Promise<RunSite> {
  const events: RunEvent[] = [];
  const record = (event: RunEvent) => void events.push(event);
  const names = new Map<string, string>();
  const site = await openSite();
  const parties = await startParties(site, record, hooks);
  const redis = new Redis(site.redis.url);
  const standing = new Map<string, { readonly run: string; readonly owner: string }>();
  const over = new Set<string>();
  const ownerOf = (conversation: string) => standing.get(conversation)?.owner.replace(/\/.*$/, '');
  const loadOf = (podName: string) =>
    [...standing.keys()].filter((name) => !over.has(name) && ownerOf(name) === podName).length;
  const seen = recording((userId) => names.get(userId), record);
  const stopWatching = await watchRuns(site.redis.url, {
    onTerm(term) {
      seen.onTerm(term);
      const name = names.get(term.userId);
      if (name === undefined) return;
      standing.set(name, term);
      hooks.onTerm?.(name, term.term, term.owner);
    },
    onWrite(write, accepted) {
      seen.onWrite(write, accepted);
      const name = names.get(write.userId);
      if (accepted && write.ends !== undefined) over.add(name ?? '');
      if (name !== undefined) hooks.onWrite?.(name, write, accepted);
    },
  });
  const env = { ...given, PARLEY_JWT_SECRET: SECRET, PARLEY_CONFIG: agentsWith(site, parties) };
  const fleet = createFleet({
    record,
    loadOf,
    replaces,
    async launch(podName, more) {
      const gate = await createChaosGate({
        targetPort: site.redis.port,
        judge: judgeFor(podName, (userId) => names.get(userId), record, hooks),
      });
      const pod = await site.pod({ ...env, ...more, PARLEY_POD: podName, REDIS_URL: gate.url });
      void pod.exited.then(() => gate.close());
      return { ...pod, podName, gate };
    },
  });
  await site.worker(env);
  await Promise.all(Array.from({ length: count }, () => fleet.start()));
  return {
    ...fleet,
    redis,
    redisUrl: site.redis.url,
    events,
    record,
    name: (userId, conversation) => void names.set(userId, conversation),
    ownerOf,
    runOf: (conversation) => standing.get(conversation)?.run,
    async stop() {
      stopWatching();
      redis.disconnect();
      await fleet.settled();
      await site.stop();
      await parties.tools.stop();
    },
  };
}

/** Records which pod attempts a write, and lets the hooks decide whether it passes. */
function judgeFor(
  pod: string,
  nameOf: (userId: string) => string | undefined,
  record: (event: RunEvent) => void,
  { onCommand }: RunHooks,
) {
  return (args: readonly string[]): GateVerdict => {
    const command = parseRunCommand(args);
    const conversation = command === undefined ? undefined : nameOf(command.userId);
    if (command === undefined || conversation === undefined) return 'pass';
    if (command.type === 'write')
      record({ type: 'attempt', conversation, run: command.run, term: command.term, pod });
    return onCommand?.(conversation, pod, command) ?? 'pass';
  };
}

interface Parties {
  readonly model: ScriptedModel;
  readonly tools: ServedMcp;
}

async function startParties(
  site: Site,
  record: (event: RunEvent) => void,
  hooks: RunHooks,
): Promise<Parties> {
  const [model, tools] = await Promise.all([
    site.model({
      script: [line],
      delayMs: 10,
      fault({ body }) {
        const saying = readSaying(body);
        record({ type: 'said', conversation: saying.name, step: saying.step, text: saying.text });
        return hooks.onSaying?.(saying);
      },
    }),
    startBookingTools({
      workMs: 50,
      async onCall(call) {
        const name = callNameOf(call.tool, call);
        const { amount } = call;
        record({
          type: 'call',
          conversation: call.name,
          call: name,
          effect: call.effect,
          ...(amount !== undefined && { amount }),
        });
        await hooks.onCall?.(call);
      },
    }),
  ]);
  return { model, tools };
}

function agentsWith(site: Site, { model, tools }: Parties): string {
  return site.agents(
    model.url,
    `mcpServers:
  bookings:
    title: Bookings
    transport: http
    credentialScope: none
    url: "${tools.url}"
    toolApprovals: { pay: { ask: always } }
agents:
  helper: { title: Helper, model: scripted, instructions: Help., elicit: true, tools: [{ server: bookings }] }
defaultAgent: helper
`,
  );
}

interface FleetDeps {
  readonly record: (event: RunEvent) => void;
  readonly loadOf: (podName: string) => number;
  readonly replaces: boolean;
  readonly launch: (podName: string, env: Env) => Promise<RunPod>;
}

/** Starts, ends and replaces pods. */
function createFleet({ record, loadOf, replaces, launch }: FleetDeps) {
  const pods = new Map<string, RunPod>();
  const ending = new Map<string, string>();
  const starting = new Set<Promise<unknown>>();
  let started = 0;

  async function start(env: Env = {}): Promise<RunPod> {
    started += 1;
    const launching = launch(`pod-${started}`, env);
    starting.add(launching);
    const pod = await launching.finally(() => starting.delete(launching));
    pods.set(pod.podName, pod);
    void pod.exited.then(() => pods.delete(pod.podName));
    return pod;
  }

  const open = (except?: string) =>
    [...pods.values()].filter(({ podName }) => !ending.has(podName) && podName !== except);

  return {
    start,
    pods: () => open(),
    pod: (podName: string) => pods.get(podName),
    pick: (except?: string) => untilAny(() => open(except)),
    pickIdle: () =>
      untilAny(() => {
        const least = Math.min(...open().map(({ podName }) => loadOf(podName)));
        return open().filter(({ podName }) => loadOf(podName) === least);
      }),
    end(podName: string, signal: 'SIGKILL' | 'SIGTERM', label?: string): boolean {
      const pod = pods.get(podName);
      const before = ending.get(podName);
      if (pod === undefined || before === 'SIGKILL' || before === signal) return false;
      ending.set(podName, signal);
      record({ type: 'kill', pod: podName, signal, ...(label !== undefined && { label }) });
      pod.kill(signal);
      if (replaces && before === undefined) void start().catch(() => undefined);
      return true;
    },
    settled: () => Promise.allSettled(starting),
  };
}

/** Waits for a candidate and picks one at random. */
function untilAny<T>(all: () => readonly T[]): Promise<T> {
  const any = () => {
    const known = all();
    return known.length === 0 ? undefined : { one: known[Math.floor(Math.random() * known.length)] as T };
  };
  return waitUntil(any, { what: 'a pod that takes calls' }).then(({ one }) => one);
}
