import { inLanes } from '../lanes.ts';
import { microseconds } from '../measurement.ts';
import { openBenchEngine, QUESTION, SERVICE, TENANT, userOf } from '../pod/engine.ts';
import { type Contender, openContender } from './contenders.ts';
import type { Order, Pace, Reply, Variant } from './messages.ts';

const redisUrl = process.argv[2] ?? '';
const contenders = new Map<Variant, Contender>();

function reply(message: Reply): void {
  process.send?.(message);
}

async function findContender(variant: Variant): Promise<Contender> {
  const found = contenders.get(variant) ?? (await openContender(variant, redisUrl));
  contenders.set(variant, found);
  return found;
}

function cpuSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

/** Opens waits, replies with their ids, and replies again once all have been resumed. */
async function open({ variant, count, streams }: Extract<Order, { do: 'open' }>): Promise<void> {
  const contender = await findContender(variant);
  const latencies: number[] = [];
  let lastAt = 0;
  let resumeAll: () => void = () => undefined;
  const allResumed = new Promise<void>((resolve) => {
    resumeAll = resolve;
  });
  const ids = await contender.open(count, streams, (startedAt) => {
    lastAt = microseconds();
    latencies.push(lastAt - startedAt);
    if (latencies.length === count) resumeAll();
  });
  const cpu = process.cpuUsage();
  reply({ type: 'opened', ids });
  await allResumed;
  reply({ type: 'collected', latencies, lastAt, cpuMicroseconds: cpuSince(cpu) });
}

async function settle({ variant, ids, pace }: Extract<Order, { do: 'settle' }>): Promise<void> {
  const contender = await findContender(variant);
  const cpu = process.cpuUsage();
  const startedAt = microseconds();
  await settleAll(contender, ids, pace);
  reply({ type: 'settled', startedAt, cpuMicroseconds: cpuSince(cpu) });
}

async function settleAll(contender: Contender, ids: readonly string[], pace: Pace): Promise<void> {
  if ('underWay' in pace) {
    await inLanes(ids.length, pace.underWay, async (index) => contender.settle(ids[index] ?? ''));
    return;
  }
  for (const id of ids) {
    const due = microseconds() + 1e6 / pace.perSecond;
    await contender.settle(id);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, (due - microseconds()) / 1000)));
  }
}

async function measureHeap({ count }: Extract<Order, { do: 'heap' }>): Promise<void> {
  const { engine } = await openBenchEngine(redisUrl);
  const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined);
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const streamRequestId = `heap-${index % 1_000}`;
    const { row } = await engine.ask({
      tenant: TENANT,
      input: { ...QUESTION, userId: userOf(index), streamRequestId } as never,
    });
    ids.push(row.id);
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  collect();
  const before = process.memoryUsage().heapUsed;
  for (const id of ids) void engine.wait({ caller: SERVICE, id });
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  collect();
  reply({ type: 'heap', bytesEach: (process.memoryUsage().heapUsed - before) / count });
}

async function ask({ count, timeoutSeconds }: Extract<Order, { do: 'ask' }>): Promise<void> {
  const { engine } = await openBenchEngine(redisUrl);
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { row } = await engine.ask({
      tenant: TENANT,
      input: { ...QUESTION, userId: userOf(index), timeoutSeconds } as never,
    });
    ids.push(row.id);
  }
  // Timers are scheduled after the reply; they must exist before this process is killed.
  await new Promise((resolve) => setTimeout(resolve, 200));
  reply({ type: 'opened', ids });
}

async function handle(order: Order): Promise<void> {
  switch (order.do) {
    case 'open':
      return open(order);
    case 'settle':
      return settle(order);
    case 'heap':
      return measureHeap(order);
    case 'ask':
      return ask(order);
  }
}

process.on('message', (order: Order) => void handle(order));
reply({ type: 'ready' });
