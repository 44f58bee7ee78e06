import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../../stand-ins/scripted-model/scripted-model.ts';
import { createRoundRobin } from '../../http/round-robin.ts';
import { type ManagedProcess, type Pod, startProcess } from '../../processes/processes.ts';
import { userToken } from '../../tokens.ts';
import { waitUntil } from '../../wait-until.ts';
import { SECRET, serviceKeyOf, TENANTS } from '../load-env.ts';
import { SIZE } from '../size.ts';
import type { AbuseOrder, AbuseResult } from './abuser.ts';
import { ordinaryLine, writeAgents } from './agents.ts';
import { ABUSED_TENANT, type AbuseMode, expectedReplies } from './attacks.ts';
import { type CpuSeconds, cpuBetween, readCpu } from './cpu.ts';
import { createOrdinaryLoad, type OrdinaryLoad } from './ordinary.ts';
import { createSamples, PHASES, type Phase, type Samples } from './samples.ts';

/** A few calls a second reach these, and no ordinary user or key comes near them: the slowest machine meets each limit. */
const DAILY_LIMITS = {
  PARLEY_LIMIT_USER_WRITES: '30',
  PARLEY_LIMIT_USER_READS: '30',
  PARLEY_LIMIT_USER_STORED_BYTES: '600000',
  PARLEY_LIMIT_SERVICE_CALLS: '80',
} as const;

/** What the pods of an abuse need in their environment, over that of other loads. */
export const ABUSE_ENV = {
  PARLEY_API_KEYS: [...TENANTS, ABUSED_TENANT].map((tenant) => `${tenant}:${serviceKeyOf(tenant)}`).join(','),
  PARLEY_LIMIT_USER_WRITES: '',
  PARLEY_LIMIT_USER_STREAMS: '',
  PARLEY_LIMIT_USER_READS: '',
  PARLEY_LIMIT_USER_TURNS: '',
  // The defaults suit machines of many cores.
  PARLEY_LIMIT_SERVICE_CALLS: '1200',
  PARLEY_LIMIT_SERVICE_READ_BYTES: '16777216',
  PARLEY_LIMIT_SERVICE_WRITE_BYTES: '16777216',
  // The abuser can store again and again.
  // A message that is too large need not be as large as images may be.
  PARLEY_LIMIT_MESSAGES_BYTES: '262144',
  PARLEY_RETENTION_SECONDS: '120',
  PARLEY_CONVERSATION_SECONDS: '120',
  ...(SIZE.full ? {} : DAILY_LIMITS),
} as const;

const REFUSED_WITHIN_MS = 240_000;
/** How much ordinary traffic a phase needs at least. */
const ORDINARY_PER_PHASE = 25;

const SOAK_PHASES = ['baseline', 'user', 'baseline', 'key'] as const;
const SOAK_PHASE_MS = 30_000;
const SOAK_GAP_MS = 5_000;

/** The abuse once in a daily run; in a soak in turns with a baseline. */
export const ABUSE_SIZE = SIZE.full
  ? {
      users: 20,
      phases: SOAK_PHASES,
      phaseMs: SOAK_PHASE_MS,
      gapMs: SOAK_GAP_MS,
      rounds: Math.ceil((SIZE.abuseMinutes * 60_000) / (SOAK_PHASES.length * (SOAK_PHASE_MS + SOAK_GAP_MS))),
    }
  : { users: 3, phases: ['user', 'key'] as const, phaseMs: 2_000, gapMs: 500, rounds: 1 };

/** What pods need for the abuse, beside Redis: an agents file, whose models run here and in the abuser's process. */
export interface AbuseParties {
  readonly config: string;
  readonly model: ScriptedModel;
  readonly abuser: ManagedProcess;
  stop(): Promise<void>;
}

/** Starts the ordinary model and the abuser, which does nothing yet. */
export async function startAbuseParties(): Promise<AbuseParties> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-abuse-'));
  const [model, abuser] = await Promise.all([
    startScriptedModel({ script: [ordinaryLine] }),
    startProcess({
      name: 'abuser',
      entry: 'test/harness/load/abuse/abuser.ts',
      ...(SIZE.full && { env: { PARLEY_PROOF_SIZE: 'full' } }),
      readyWhen: ({ ready }) => ready === true,
      wrap: ['nice', '-n', '10'],
    }),
  ]);
  const abused = `http://127.0.0.1:${Number(abuser.ready.port)}/v1`;
  return {
    model,
    abuser,
    config: writeAgents(folder, { ordinary: model.url, abused }),
    async stop() {
      await Promise.all([model.stop(), abuser.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface AbuseRunOptions {
  readonly pods: readonly Pod[];
  readonly worker: ManagedProcess;
  readonly redisPid: number;
  readonly parties: AbuseParties;
  readonly phaseMs: number;
  /** Between two phases, when nothing is measured. */
  readonly gapMs: number;
  /** What follows what in each round. */
  readonly phases: readonly Phase[];
  readonly rounds: number;
  readonly users: number;
}

export interface AbuseRun {
  readonly samples: Samples;
  readonly ordinary: OrdinaryLoad;
  /** Replies to the abuser by mode. */
  readonly replies: Readonly<Record<AbuseMode, AbuseResult>>;
  /** Processor time of each part by phase, and the seconds that the phase lasted. */
  readonly cpu: Readonly<Record<Phase, { readonly seconds: number; readonly used: CpuSeconds }>>;
}

/** Runs ordinary traffic all the time, and the abuse in turns with a baseline, so that no drift decides. */
export async function runAbuse(options: AbuseRunOptions): Promise<AbuseRun> {
  const { pods, worker, redisPid, parties, phaseMs, gapMs, phases, rounds, users } = options;
  const proxy = await createRoundRobin({ targets: pods.map(({ url }) => url) });
  const samples = createSamples();
  const ordinary = createOrdinaryLoad({ url: proxy.url, samples, users });
  const processes = [
    ...pods.map(({ pid }) => ['pods', pid] as const),
    ['worker', worker.pid],
    ['redis', redisPid],
    ['abuser', parties.abuser.pid],
    ['load', process.pid],
  ] as const;
  const replies: Record<AbuseMode, AbuseResult> = { user: {}, key: {} };
  const cpu = Object.fromEntries(PHASES.map((phase) => [phase, { seconds: 0, used: {} }])) as Record<
    Phase,
    { seconds: number; used: CpuSeconds }
  >;
  const userId = 'mallory';
  const order = {
    userId,
    urls: pods.map(({ url }) => url),
    userToken: await userToken({
      secret: SECRET,
      userId,
      tenant: ABUSED_TENANT,
      expiresInSeconds: 4 * 3_600,
    }),
    serviceKey: serviceKeyOf(ABUSED_TENANT),
  };

  async function phase(name: Phase): Promise<void> {
    if (name !== 'baseline') await command(parties.abuser, 'begin', { ...order, mode: name });
    const before = await readCpu(processes);
    const begunBefore = ordinary.counts.begun;
    const startedAt = performance.now();
    samples.phase = name;
    await sleep(phaseMs);
    if (name !== 'baseline') await untilRefused(parties.abuser, name);
    await waitUntil(() => ordinary.counts.begun - begunBefore >= ORDINARY_PER_PHASE, {
      what: 'ordinary traffic',
      timeoutMs: REFUSED_WITHIN_MS,
    });
    samples.phase = undefined;
    const seconds = (performance.now() - startedAt) / 1000;
    const used = cpuBetween(before, await readCpu(processes));
    cpu[name] = { seconds: cpu[name].seconds + seconds, used: added(cpu[name].used, used) };
    if (name !== 'baseline') replies[name] = merged(replies[name], await command(parties.abuser, 'stop'));
    await sleep(gapMs);
  }

  const stopping = new AbortController();
  const running = ordinary.run(stopping.signal);
  try {
    // Connections, caches and compiled code come first.
    await sleep(gapMs);
    for (let round = 0; round < rounds; round += 1) {
      for (const name of phases) await phase(name);
    }
  } finally {
    stopping.abort();
    await running;
    await proxy.close();
  }
  return { samples, ordinary, replies, cpu };
}

/** Waits until the abuser has got every code that it must get: a busy machine may slow it down. */
async function untilRefused(abuser: ManagedProcess, mode: AbuseMode): Promise<void> {
  await waitUntil(
    async () => {
      const replies = await command(abuser, 'replies');
      return expectedReplies(mode).every(([attack, reply]) => replies[attack]?.[reply] !== undefined);
    },
    { what: `all limits to refuse the abusive ${mode}`, timeoutMs: REFUSED_WITHIN_MS, everyMs: 250 },
  ).catch(() => undefined);
}

async function command(
  abuser: ManagedProcess,
  path: 'begin' | 'replies' | 'stop',
  order?: AbuseOrder,
): Promise<AbuseResult> {
  const response = await fetch(`http://127.0.0.1:${Number(abuser.ready.port)}/${path}`, {
    method: 'POST',
    ...(order !== undefined && { body: JSON.stringify(order) }),
  });
  return (await response.json()) as AbuseResult;
}

function added(
  one: Readonly<Record<string, number>>,
  other: Readonly<Record<string, number>>,
): Record<string, number> {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]));
}

function merged(one: AbuseResult, other: AbuseResult): AbuseResult {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, added(one[name] ?? {}, other[name] ?? {})]));
}
