import { microseconds } from '../measurement.ts';
import { openBenchEngine, QUESTION, SERVICE, TENANT, userOf } from '../pod/engine.ts';
import { inSlots } from '../slots.ts';
import { type Contender, openContender, type PeerModule } from './contenders.ts';
import { type Followers, startFollowers } from './followers.ts';
import type { Order, Pace, Reply, Variant } from './messages.ts';

const ASKS_UNDER_WAY = 50;

const [, , redisUrl = '', peerModule = ''] = process.argv;
const contenders = new Map<Variant, Contender>();
let followers: Followers | undefined;

function reply(message: Reply): void {
  process.send?.(message);
}

async function findContender(variant: Variant): Promise<Contender> {
  const found = contenders.get(variant) ?? (await openNew(variant));
  contenders.set(variant, found);
  return found;
}

async function openNew(variant: Variant): Promise<Contender> {
  if (variant !== 'peer') return openContender(variant, redisUrl);
  const { openPeer } = (await import(peerModule)) as PeerModule;
  return openPeer(redisUrl);
}

function cpuSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

/** Opens waits, replies with their ids, and replies again once all have been resumed. */
async function open({ variant, count, streams }: Extract<Order, { do: 'open' }>): Promise<void> {
  const contender = await findContender(variant);
  const collector = createCollector(count);
  const ids = await contender.open(count, streams, collector.onResumed);
  const cpu = process.cpuUsage();
  reply({ type: 'opened', ids });
  if (contender.continuesInSettler) return;
  await collector.done;
  reply({ type: 'collected', ...collector.figures(), cpuMicroseconds: cpuSince(cpu) });
}

/** Collects the latencies of `count` continuations. */
function createCollector(count: number) {
  const latencies: number[] = [];
  let lastAt = 0;
  let resolveDone: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    resolveDone = resolve;
  });
  return {
    done,
    figures: () => ({ latencies, lastAt }),
    onResumed(startedAt: number): void {
      lastAt = microseconds();
      latencies.push(lastAt - startedAt);
      if (latencies.length === count) resolveDone();
    },
  };
}

async function settle({ variant, ids, pace }: Extract<Order, { do: 'settle' }>): Promise<void> {
  const contender = await findContender(variant);
  const collector = createCollector(ids.length);
  await contender.prepare?.(ids);
  const cpu = process.cpuUsage();
  const startedAt = microseconds();
  await settleAll((id) => contender.settle(id, collector.onResumed), ids, pace);
  reply({ type: 'settled', startedAt, cpuMicroseconds: cpuSince(cpu) });
  if (!contender.continuesInSettler) return;
  await collector.done;
  // The time of this process is in the reply before.
  reply({ type: 'collected', ...collector.figures(), cpuMicroseconds: 0 });
}

async function settleAll(
  settleOne: (id: string) => Promise<void>,
  ids: readonly string[],
  pace: Pace,
): Promise<void> {
  if ('underWay' in pace) {
    await inSlots(ids.length, pace.underWay, async (index) => settleOne(ids[index] ?? ''));
    return;
  }
  for (const id of ids) {
    const due = microseconds() + 1e6 / pace.perSecond;
    await settleOne(id);
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

async function ask({ count, dueInSeconds, overSeconds }: Extract<Order, { do: 'ask' }>): Promise<void> {
  const { engine } = await openBenchEngine(redisUrl);
  const ids: string[] = [];
  const dueAt = performance.now() + dueInSeconds * 1_000;
  await inSlots(count, ASKS_UNDER_WAY, async (index) => {
    const leftMs = dueAt + (index % overSeconds) * 1_000 - performance.now();
    const timeoutSeconds = Math.max(1, Math.ceil(leftMs / 1_000));
    const { row } = await engine.ask({
      tenant: TENANT,
      input: { ...QUESTION, userId: userOf(index), timeoutSeconds } as never,
    });
    ids.push(row.id);
  });
  // Timers are scheduled after the reply; they must exist before this process is killed.
  await new Promise((resolve) => setTimeout(resolve, 200));
  reply({ type: 'opened', ids });
}

function replyFollowed(): void {
  const { connected = 0, refusals = {}, lastAt = 0 } = followers ?? {};
  reply({ type: 'followed', connected, refusals, lastAt });
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
    case 'follow':
      followers = await startFollowers(order.url, order.count);
      return replyFollowed();
    case 'move':
      return followers?.moveTo(order.urls);
    case 'followed':
      return replyFollowed();
  }
}

process.on('message', (order: Order) => void handle(order));
reply({ type: 'ready' });
