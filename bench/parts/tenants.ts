import { Redis } from 'ioredis';
import { decideAs, requestApproval } from '../../test/harness/engines/approvals.ts';
import { adminKeyOf, serveAdmin } from '../../test/harness/http/admin.ts';
import type { Bench } from '../bench.ts';
import { type Measurement, median } from '../measurement.ts';
import { openBenchEngine, QUESTION } from '../pod/engine.ts';
import { countCommands, redisCpu } from '../redis-usage.ts';
import { inSlots } from '../slots.ts';

const OPEN = 100_000;
const TENANTS = 1_000;
/** The share of the open questions that one large tenant has. */
const LARGE = 0.5;
const SAMPLES = 30;
const SLOTS = 64;
/** What a page of the small tenant may cost among others, over what it costs alone. */
const WITHIN = 3;
const SMALL = { tenant: 'small', userId: 'person-0' };
/** What the small tenant has open of each kind. As many approvals have ended. */
const OF_SMALL = { questions: 50, approvals: 20 };
const PEOPLE = 20;

/** What an operator of the small tenant opens. A page of a list is as large as it may be. */
const PAGES = {
  questions: '/elicitations?limit=100',
  approvals: '/approvals?limit=100',
  turns: '/turns?limit=100',
  counts: '/counts?window=day',
  insights: '/insights?window=day',
} as const;
type Name = keyof typeof PAGES;

type Opened = Awaited<ReturnType<typeof openBenchEngine>>;

/** What one page costs. */
interface PageCost {
  readonly commands: number;
  readonly cpuUs: number;
  readonly ms: number;
}

/** What an operator of a small tenant pays for the questions of all others. */
export async function tenants({ redisUrl, scaled, progress }: Bench): Promise<Measurement[]> {
  const redis = new Redis(redisUrl);
  const opened = await openBenchEngine(redisUrl);
  const samples = scaled(SAMPLES, 2);
  await askSmall(opened, scaled(OF_SMALL.questions, 10), scaled(OF_SMALL.approvals, 5));
  const alone = await costs(opened, redis, samples);
  const count = scaled(OPEN, 100);
  const others = scaled(TENANTS, 10) - 2;
  const large = Math.round(count * LARGE);
  await ask(opened, large, () => 'large');
  await ask(opened, count - large, (index) => `other-${index % others}`);
  const all = count + scaled(OF_SMALL.questions, 10);
  progress(`tenants: ${all} open questions of ${others + 2} tenants`);
  const among = await costs(opened, redis, samples);
  await opened.backend.close();
  redis.disconnect();
  return [...alone.keys()].flatMap((name) => rowsOf(name, alone.get(name), among.get(name)));
}

async function ask({ engine }: Opened, count: number, tenantOf: (index: number) => string): Promise<void> {
  await inSlots(count, SLOTS, async (index) => {
    const input = { ...QUESTION, timeoutSeconds: 86_400, userId: `person-${index % (PEOPLE * 50)}` } as never;
    await engine.ask({ tenant: tenantOf(index), input });
  });
}

async function askSmall(opened: Opened, questions: number, approvals: number): Promise<void> {
  await ask(opened, questions, () => SMALL.tenant);
  for (let index = 0; index < 2 * approvals; index += 1) {
    const stream = {
      tenant: SMALL.tenant,
      userId: `person-${index % PEOPLE}`,
      streamRequestId: `run-${index}`,
    };
    const { row } = await requestApproval(opened.engine, stream);
    if (index < approvals) await decideAs(opened.engine, stream, row.id, { decision: 'approve' });
  }
}

/** Opens each page several times. A pod keeps figures for seconds, so that each time has a pod of its own. */
async function costs(
  { backend }: Opened,
  redis: Redis,
  samples: number,
): Promise<ReadonlyMap<Name, PageCost>> {
  const found = new Map<Name, PageCost>();
  const token = adminKeyOf(SMALL, 'operate');
  for (const [name, path] of Object.entries(PAGES) as [Name, string][]) {
    const pods = await Promise.all(Array.from({ length: samples + 1 }, () => serveAdmin(backend, [SMALL])));
    const times: number[] = [];
    const open = async (pod: (typeof pods)[number]) => {
      const from = performance.now();
      const { status } = await pod.get(path, token);
      if (status !== 200) throw new Error(`${path}: ${status}`);
      times.push(performance.now() - from);
    };
    const [first, ...rest] = pods;
    // The first call loads the scripts.
    if (first !== undefined) await open(first);
    times.length = 0;
    const before = await countCommands(redis);
    const cpuUs = await redisCpu(redis, samples, async () => {
      for (const pod of rest) await open(pod);
    });
    const commands = ((await countCommands(redis)) - before) / samples;
    for (const pod of pods) pod.close();
    found.set(name, { commands, cpuUs, ms: median(times) });
  }
  return found;
}

function rowsOf(name: Name, alone: PageCost | undefined, among: PageCost | undefined): Measurement[] {
  if (alone === undefined || among === undefined) return [];
  const row = (what: string, of: (cost: PageCost) => number, unit: string, digits = 0): Measurement => ({
    what: `a small tenant among others over alone, ${name}: ${what}`,
    measured: `${of(among).toFixed(digits)} over ${of(alone).toFixed(digits)}${unit}`,
    ratios: [of(among) / of(alone)],
    aim: { atMost: WITHIN },
  });
  return [
    row('commands of Redis', ({ commands }) => commands, ''),
    row('CPU of Redis', ({ cpuUs }) => cpuUs, ' us'),
    row('time (p50)', ({ ms }) => ms, ' ms', 2),
  ];
}
