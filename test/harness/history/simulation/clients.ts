import type { HistoryEvent, Mode, Owner } from '../events.ts';
import { apply, type SimulatedCommand } from './commands.ts';
import {
  addRow,
  advance,
  connect,
  createWorld,
  drop,
  expireIfDue,
  loseFeed,
  pickOf,
  SERVER_CLOCK,
  type SimulatedRow,
  seen,
  sleep,
  type World,
} from './store.ts';

export const OPERATIONS = [
  'ask',
  'respond',
  'retry',
  'complete',
  'withdraw',
  'read',
  'wait',
  'connect',
  'drop',
  'lose-feed',
] as const;

/** `request`: never arrived. `reply`: done, but the reply was lost. `late`: done after the caller had given up. */
export const FATES = ['reply-seen', 'request', 'reply', 'late'] as const;

export const CALLERS = ['owner', 'neighbour', 'namesake'] as const;

/** One thing that happens. `target` and `pick` are any natural numbers; each operation uses them as it needs. */
export type Step = {
  readonly op: (typeof OPERATIONS)[number];
  readonly gapMs: number;
  readonly target: number;
  readonly pick: number;
  readonly fate: (typeof FATES)[number];
  readonly who: (typeof CALLERS)[number];
};

type Sent = {
  readonly row: SimulatedRow;
  readonly command: SimulatedCommand;
  readonly by: Owner;
  readonly responseId: string;
};

const MODES: readonly Mode[] = [
  { mode: 'form' },
  { mode: 'url', completion: 'server' },
  { mode: 'url', completion: 'client' },
];

/** Runs the steps against a small store and records what its clients notice: by construction, a legal history. */
export function simulateClients(steps: readonly Step[]): HistoryEvent[] {
  const world = createWorld();
  const sent: Sent[] = [];
  for (const step of steps) {
    advance(world, world.now + step.gapMs);
    perform(world, step, sent);
  }
  advance(world, world.now + 10_000);
  const { now: at, rows, out } = world;
  const sample = { type: 'resources', keys: 3, sockets: 0 } as const;
  out.push({ ...sample, label: 'before', channels: ['ambient'], liveBytes: 9e7, at: 0 });
  for (const { acked, id: elicitationId, ask, status, action, content, ...row } of rows) {
    if (!acked) continue;
    const settledAt = row.settledAt && row.settledAt + SERVER_CLOCK;
    const stamps = { expiresAt: row.expiresAt + SERVER_CLOCK, settledAt, at };
    out.push({ type: 'final', elicitationId, status, action, content, owner: ask.owner, ...stamps });
  }
  out.push({ ...sample, label: 'after', channels: [], liveBytes: 9.9e7, at });
  return out.sort((left, right) => momentOf(left) - momentOf(right));
}

function momentOf(event: HistoryEvent): number {
  return 'at' in event ? event.at : 0;
}

function perform(world: World, step: Step, sent: Sent[]): void {
  const { op, target, pick } = step;
  const row = pickOf(world.rows, target);
  if (op === 'ask') ask(world, step);
  else if (op === 'connect') connect(world, target, pick % 2 === 0);
  else if (op === 'drop') drop(world, target);
  else if (op === 'lose-feed') loseFeed(world, target);
  else if (op === 'retry') send(world, step, pickOf(sent, pick));
  else if (!row) return;
  else if (op === 'read') read(world, row, pick);
  else if (op === 'wait') sleep(world, row, 10 + pick);
  else {
    const by = callerOf(row.ask.owner, step.who);
    const next: Sent = { row, command: commandOf(op, pick), by, responseId: `r${sent.length}` };
    if (op === 'respond') sent.push(next);
    send(world, step, next);
  }
}

function ask(world: World, { pick, target, fate }: Step): void {
  const owner = { tenant: `t${target % 2}`, userId: `u${target % 3}` };
  const streamRequestId = `s-${owner.tenant}-${owner.userId}-${pick % 2}`;
  const idempotencyKey = pick % 3 === 0 ? undefined : `k${pick % 7}-${streamRequestId}`;
  const mode = pickOf(MODES, pick) ?? { mode: 'form' };
  const request = { type: 'ask', owner, streamRequestId, idempotencyKey, ...mode } as const;
  const times = timesOf(world.now, fate, pick);
  const lost = { ...request, ...times, httpStatus: pick % 2 === 0 ? 0 : 503 };
  const isRepeat = (each: SimulatedRow) =>
    idempotencyKey !== undefined && each.ask.idempotencyKey === idempotencyKey;
  const made =
    fate === 'request' ? undefined : (world.rows.find(isRepeat) ?? addRow(world, lost, 100 + pick * 10));
  if (!made || fate !== 'reply-seen') {
    world.out.push(lost);
    return;
  }
  made.acked = true;
  const stamps = { createdAt: made.createdAt + SERVER_CLOCK, expiresAt: made.expiresAt + SERVER_CLOCK };
  world.out.push({ ...made.ask, ...times, httpStatus: 201, elicitationId: made.id, ...stamps });
}

function read(world: World, row: SimulatedRow, pick: number): void {
  expireIfDue(world, row);
  const { tenant, userId } = row.ask.owner;
  const by = pick % 2 === 0 ? { tenant, userId } : { tenant };
  const times = { startedAt: world.now - (pick % 30), at: world.now + 4 };
  world.out.push({ type: 'read', elicitationId: row.id, by, ...seen(world, row), ...times });
}

function send(world: World, { pick, fate }: Step, sent: Sent | undefined): void {
  if (!sent) return;
  const { row, command, by, responseId } = sent;
  const { kind, action = 'accept', content } = command;
  const httpStatus = fate === 'request' ? 0 : apply(world, row, command, by);
  const isSeen = fate === 'reply-seen';
  const common = {
    elicitationId: row.id,
    httpStatus: isSeen ? httpStatus : pick % 2 === 0 ? 0 : 504,
    recorded: isSeen && [200, 409].includes(httpStatus) ? seen(world, row) : undefined,
    ...timesOf(world.now, fate, pick),
  };
  if (kind === 'respond') world.out.push({ type: kind, by, responseId, action, content, ...common });
  else world.out.push({ type: kind, by: { tenant: by.tenant }, ...common });
}

/** When the client sent, and gave up or got its reply, around the moment at which the store acts. */
function timesOf(now: number, fate: Step['fate'], pick: number): { startedAt: number; at: number } {
  if (fate === 'late') return { startedAt: now - 40, at: now - 10 };
  return { startedAt: now - (pick % 30), at: now + 5 + (pick % 17) };
}

function commandOf(op: Step['op'], pick: number): SimulatedCommand {
  if (op === 'complete' || op === 'withdraw') return { kind: op };
  const action = pickOf(['accept', 'accept', 'accept', 'decline', 'cancel'] as const, pick) ?? 'accept';
  const content = pickOf(
    [undefined, { colour: 'red' }, { more: [1, 2], colour: 'blue' }, { unfit: true }],
    pick,
  );
  return action === 'accept' ? { kind: 'respond', action, content } : { kind: 'respond', action };
}

function callerOf(owner: Owner, who: Step['who']): Owner {
  if (who === 'neighbour') return { ...owner, userId: `not-${owner.userId}` };
  return who === 'namesake' ? { ...owner, tenant: `not-${owner.tenant}` } : owner;
}
