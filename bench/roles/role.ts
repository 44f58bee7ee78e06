import { openBenchEngine, QUESTION, SERVICE, TENANT, userOf } from '../engine.ts';
import { microseconds, type Order, type Pace, type Told, type Variant } from '../peers.ts';
import { openRacer, type Racer } from './variants.ts';

const redisUrl = process.argv[2] ?? '';
const racers = new Map<Variant, Racer>();
const latencies: number[] = [];
let expected = 0;
let lastAt = 0;
let cpuAtStart = process.cpuUsage();
let allResumed: () => void = () => undefined;

function tell(told: Told): void {
  process.send?.(told);
}

async function racerOf(variant: Variant): Promise<Racer> {
  const known = racers.get(variant) ?? (await openRacer(variant, redisUrl));
  racers.set(variant, known);
  return known;
}

function cpuSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

async function settleAll(racer: Racer, ids: readonly string[], pace: Pace): Promise<void> {
  if ('perSecond' in pace) {
    for (const id of ids) {
      const due = microseconds() + 1e6 / pace.perSecond;
      await racer.settle(id);
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, (due - microseconds()) / 1000)));
    }
    return;
  }
  let next = 0;
  const lane = async () => {
    for (let id = ids[next]; id !== undefined; id = ids[next]) {
      next += 1;
      await racer.settle(id);
    }
  };
  await Promise.all(Array.from({ length: pace.underWay }, lane));
}

async function heapEach(count: number): Promise<number> {
  const { engine } = await openBenchEngine(redisUrl);
  const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined);
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { row } = await engine.ask({
      tenant: TENANT,
      input: { ...QUESTION, userId: userOf(index), streamRequestId: `heap-${index % 1_000}` } as never,
    });
    ids.push(row.id);
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  collect();
  const before = process.memoryUsage().heapUsed;
  for (const id of ids) void engine.wait({ caller: SERVICE, id });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  collect();
  return (process.memoryUsage().heapUsed - before) / count;
}

async function obey(order: Order): Promise<void> {
  switch (order.do) {
    case 'open': {
      latencies.length = 0;
      expected = order.count;
      const done = new Promise<void>((resolve) => {
        allResumed = resolve;
      });
      const racer = await racerOf(order.variant);
      const ids = await racer.open(order.count, order.streams, (startedAt) => {
        lastAt = microseconds();
        latencies.push(lastAt - startedAt);
        if (latencies.length === expected) allResumed();
      });
      cpuAtStart = process.cpuUsage();
      tell({ told: 'opened', ids });
      await done;
      tell({ told: 'collected', latencies, lastAt, cpuMicroseconds: cpuSince(cpuAtStart) });
      return;
    }
    case 'settle': {
      const racer = await racerOf(order.variant);
      const cpu = process.cpuUsage();
      const startedAt = microseconds();
      await settleAll(racer, order.ids, order.pace);
      tell({ told: 'settled', startedAt, cpuMicroseconds: cpuSince(cpu) });
      return;
    }
    case 'heap':
      tell({ told: 'heap', bytesEach: await heapEach(order.count) });
      return;
    case 'ask': {
      const { engine } = await openBenchEngine(redisUrl);
      const ids: string[] = [];
      for (let index = 0; index < order.count; index += 1) {
        const { row } = await engine.ask({
          tenant: TENANT,
          input: { ...QUESTION, userId: userOf(index), timeoutSeconds: order.timeoutSeconds } as never,
        });
        ids.push(row.id);
      }
      // Timers are scheduled beside the reply; whoever kills this process should find them done.
      await new Promise((resolve) => setTimeout(resolve, 200));
      tell({ told: 'opened', ids });
      return;
    }
    case 'end':
      process.exit(0);
  }
}

process.on('message', (order: Order) => void obey(order));
tell({ told: 'ready' });
