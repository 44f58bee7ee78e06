import type { HistoryEvent, Owner } from './events.ts';
import { answerTo, type Command } from './simulated-rules.ts';
import {
  addRow,
  advance,
  connect,
  createWorld,
  drop,
  expireIfDue,
  loseFeed,
  pickOf,
  type Row,
  SERVER_CLOCK,
  seen,
  sleep,
  type World,
} from './simulated-store.ts';

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

/** One thing that happens. `target` and `pick` are any natural numbers; each operation takes from them what it needs. */
export type Step = {
  readonly op: (typeof OPERATIONS)[number];
  readonly gapMs: number;
  readonly target: number;
  readonly pick: number;
  readonly fate: (typeof FATES)[number];
  readonly who: (typeof CALLERS)[number];
};

type Sent = {
  readonly row: Row;
  readonly command: Command;
  readonly by: Owner;
  readonly responseId: string;
};

/** Runs the steps against a tiny store and records what its clients notice: by construction, a legal history. */
export function simulate(steps: readonly Step[]): HistoryEvent[] {
  const world = createWorld();
  const sent: Sent[] = [];
  const { out } = world;
  out.push({
    type: 'resources',
    label: 'before',
    keys: 3,
    channels: ['ambient'],
    liveBytes: 9e7,
    sockets: 0,
    at: 0,
  });
  for (const step of steps) {
    advance(world, world.now + step.gapMs);
    perform(world, step, sent);
  }
  advance(world, world.now + 10_000);
  for (const { acked, id: elicitationId, ask, expiresAt, settledAt, status, action, content } of world.rows) {
    if (!acked) continue;
    const stamps = {
      expiresAt: expiresAt + SERVER_CLOCK,
      settledAt: settledAt && settledAt + SERVER_CLOCK,
    };
    out.push({
      type: 'final',
      elicitationId,
      status,
      action,
      content,
      owner: ask.owner,
      ...stamps,
      at: world.now,
    });
  }
  out.push({
    type: 'resources',
    label: 'after',
    keys: 3,
    channels: [],
    liveBytes: 9.9e7,
    sockets: 0,
    at: world.now,
  });
  return out.sort((left, right) => left.at - right.at);
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
    const next: Sent = {
      row,
      command: commandOf(op, pick),
      by,
      responseId: `r${sent.length}`,
    };
    if (op === 'respond') sent.push(next);
    send(world, step, next);
  }
}

function ask(world: World, { pick, target, fate }: Step): void {
  const owner = { tenant: `t${target % 2}`, userId: `u${target % 3}` };
  const streamRequestId = `s-${owner.tenant}-${owner.userId}-${pick % 2}`;
  const idempotencyKey = pick % 3 === 0 ? undefined : `k${pick % 7}-${streamRequestId}`;
  const asked = pickOf(
    [{ mode: 'form' }, { mode: 'url', completion: 'server' }, { mode: 'url', completion: 'client' }] as const,
    pick,
  );
  const request = {
    type: 'ask',
    owner,
    streamRequestId,
    idempotencyKey,
    ...(asked ?? { mode: 'form' }),
  } as const;
  const times = timesOf(world.now, fate, pick);
  const lost = { ...request, ...times, httpStatus: pick % 2 === 0 ? 0 : 503 };
  const isRepeat = (each: Row) => idempotencyKey !== undefined && each.ask.idempotencyKey === idempotencyKey;
  const made =
    fate === 'request' ? undefined : (world.rows.find(isRepeat) ?? addRow(world, lost, 100 + pick * 10));
  if (!made || fate !== 'reply-seen') {
    world.out.push(lost);
    return;
  }
  made.acked = true;
  const stamps = {
    createdAt: made.createdAt + SERVER_CLOCK,
    expiresAt: made.expiresAt + SERVER_CLOCK,
  };
  world.out.push({
    ...made.ask,
    ...times,
    httpStatus: 201,
    elicitationId: made.id,
    ...stamps,
  });
}

function read(world: World, row: Row, pick: number): void {
  expireIfDue(world, row);
  const { tenant, userId } = row.ask.owner;
  const by = pick % 2 === 0 ? { tenant, userId } : { tenant };
  const times = { startedAt: world.now - (pick % 30), at: world.now + 4 };
  world.out.push({
    type: 'read',
    elicitationId: row.id,
    by,
    ...seen(world, row),
    ...times,
  });
}

function send(world: World, { pick, fate }: Step, sent: Sent | undefined): void {
  if (!sent) return;
  const { row, command, by, responseId } = sent;
  const { kind, action = 'accept', content } = command;
  const httpStatus = fate === 'request' ? 0 : answerTo(world, row, command, by);
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

/** When the client sent and gave up or heard, around the moment at which the store acts. */
function timesOf(now: number, fate: Step['fate'], pick: number): { startedAt: number; at: number } {
  if (fate === 'late') return { startedAt: now - 40, at: now - 10 };
  return { startedAt: now - (pick % 30), at: now + 5 + (pick % 17) };
}

function commandOf(op: Step['op'], pick: number): Command {
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
