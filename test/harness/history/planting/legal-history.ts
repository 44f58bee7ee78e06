import type {
  ConnectionOpenEvent,
  ElicitationStatus,
  FinalEvent,
  HistoryEvent,
  Mode,
  ReadEvent,
  RespondEvent,
  StreamEvent,
  WaitEvent,
} from '../events.ts';

/** A short history written out by hand in which nothing is wrong, to plant defects in. */

export const alice = { tenant: 'acme', userId: 'alice' };
export const bob = { tenant: 'acme', userId: 'bob' };
export const red = { colour: 'red', sizes: [1, 2] };
export const blue = { colour: 'blue' };

/** The server's clock at a moment of the client's. */
export const server = (at: number) => 1_700_000_000_000 + at;

export function ask(id: string, at: number, stream: string, mode: Mode, lifetimeMs = 5_000): HistoryEvent {
  const owner = stream === 's1' ? alice : bob;
  const stamps = { createdAt: server(at - 5), expiresAt: server(at - 5 + lifetimeMs) };
  const common = {
    httpStatus: 201,
    startedAt: at - 10,
    at,
    owner,
    streamRequestId: stream,
    idempotencyKey: `key-${id}`,
  };
  return { type: 'ask', elicitationId: id, ...common, ...mode, ...stamps };
}

export function respond(
  id: string,
  responseId: string,
  at: number,
  rest: Partial<RespondEvent>,
): RespondEvent {
  const common = { by: alice, action: 'accept', httpStatus: 200, startedAt: at - 10, at } as const;
  return { type: 'respond', elicitationId: id, responseId, ...common, ...rest };
}

export function push(
  connectionId: string,
  seq: number,
  id: string,
  status: ElicitationStatus,
  at: number,
): StreamEvent {
  const stream = connectionId === 'c3' ? 's2' : 's1';
  const subscriber = stream === 's1' ? alice : bob;
  const name = status === 'pending' ? 'request' : status === 'opened' ? 'updated' : 'resolved';
  const place = { connectionId, subscriber, streamRequestId: stream, eventId: `${stream}a-${seq}` };
  const data = { elicitationId: id, status, ownerUserId: subscriber.userId };
  return { type: 'stream-event', ...place, name: `elicitation-${name}`, ...data, at };
}

export function open(connectionId: string, streamRequestId: string, at: number): ConnectionOpenEvent {
  const subscriber = streamRequestId === 's1' ? alice : bob;
  return { type: 'connection-open', connectionId, subscriber, streamRequestId, at };
}

/** A command of a service key on an elicitation, 10 ms long. */
export function command(
  type: 'complete' | 'withdraw',
  id: string,
  at: number,
  rest: object = {},
): HistoryEvent {
  return { type, elicitationId: id, httpStatus: 200, startedAt: at - 10, at, ...rest };
}

export function wait(id: string, at: number, rest: Partial<WaitEvent>): WaitEvent {
  const bounds = { startedAt: at - 300, at, deadlineMs: 3_000, timeoutMs: 2_900 };
  return { type: 'wait', elicitationId: id, ...bounds, outcome: 'error', ...rest };
}

export function read(
  id: string,
  at: number,
  status: ElicitationStatus,
  rest: Partial<ReadEvent> = {},
): ReadEvent {
  const common = { by: alice, startedAt: at - 10, at, serverTime: server(at - 5) };
  return { type: 'read', elicitationId: id, status, ...common, ...rest };
}

export function end(
  id: string,
  status: ElicitationStatus,
  settled: number,
  rest: Partial<FinalEvent> = {},
): FinalEvent {
  const owner = id === 'el_bob' || id === 'el_page' ? bob : alice;
  const stamps = { settledAt: server(settled), expiresAt: server(60_000) };
  return { type: 'final', elicitationId: id, status, owner, ...stamps, at: 9_000, ...rest };
}

const accepted = { status: 'accepted', action: 'accept', content: red } as const;
const form = { mode: 'form' } as const;

/** Alice's stream `s1`: a form, a url that the server completes, a form that expires and one that is withdrawn. */
const aliceRun: readonly HistoryEvent[] = [
  open('c1', 's1', 90),
  ask('el_form', 110, 's1', form),
  push('c1', 1, 'el_form', 'pending', 112),
  respond('el_form', 'r1', 350, { content: red, httpStatus: 0, startedAt: 300 }),
  { type: 'fault', kind: 'reply cut', at: 350 },
  respond('el_form', 'r1', 410, { content: { sizes: [1, 2], colour: 'red' }, recorded: accepted }),
  push('c1', 2, 'el_form', 'accepted', 412),
  wait('el_form', 415, { outcome: 'accepted', action: 'accept', content: red }),
  respond('el_form', 'r-bob', 420, { by: bob, content: blue, httpStatus: 404 }),
  respond('el_form', 'r2', 430, { action: 'decline', httpStatus: 409, recorded: accepted }),
  read('el_form', 460, 'accepted', { content: red }),
  ask('el_url', 510, 's1', { mode: 'url', completion: 'server' }),
  push('c1', 3, 'el_url', 'pending', 512),
  respond('el_url', 'r3', 600, { recorded: { status: 'opened', action: 'accept' } }),
  push('c1', 4, 'el_url', 'opened', 602),
  { type: 'connection-close', connectionId: 'c1', at: 605 },
  read('el_url', 640, 'opened'),
  { ...open('c2', 's1', 650), lastEventId: 's1a-4' },
  command('complete', 'el_url', 700, { recorded: { status: 'accepted' } }),
  push('c2', 5, 'el_url', 'accepted', 702),
  ask('el_late', 810, 's1', form, 1_000),
  push('c2', 6, 'el_late', 'pending', 812),
  read('el_late', 910, 'pending'),
  push('c2', 7, 'el_late', 'expired', 1_812),
  wait('el_late', 1_815, { outcome: 'expired' }),
  respond('el_late', 'r4', 1_900, { content: red, httpStatus: 410 }),
  read('el_late', 1_950, 'expired'),
  ask('el_back', 2_010, 's1', form),
  push('c2', 8, 'el_back', 'pending', 2_012),
  command('withdraw', 'el_back', 2_100, { recorded: { status: 'withdrawn' } }),
  push('c2', 9, 'el_back', 'withdrawn', 2_102),
];

/** Bob's stream `s2`: a form that he declines and a url that the client completes. */
const bobRun: readonly HistoryEvent[] = [
  open('c3', 's2', 2_190),
  ask('el_bob', 2_210, 's2', form),
  push('c3', 1, 'el_bob', 'pending', 2_212),
  respond('el_bob', 'r5', 2_310, {
    by: bob,
    action: 'decline',
    recorded: { status: 'declined', action: 'decline' },
  }),
  push('c3', 2, 'el_bob', 'declined', 2_312),
  ask('el_page', 2_410, 's2', { mode: 'url', completion: 'client' }),
  push('c3', 3, 'el_page', 'pending', 2_412),
  respond('el_page', 'r6', 2_510, { by: bob, recorded: { status: 'accepted', action: 'accept' } }),
  push('c3', 4, 'el_page', 'accepted', 2_512),
];

export const LEGAL_HISTORY: readonly HistoryEvent[] = [
  { type: 'resources', label: 'before', source: 'redis', keys: 10, channels: ['timers'], at: 0 },
  { type: 'resources', label: 'before', source: 'pod', liveBytes: 100e6, handles: 20, sockets: 4, at: 0 },
  ...aliceRun,
  ...bobRun,
  end('el_form', 'accepted', 320, { action: 'accept', content: red }),
  end('el_url', 'accepted', 695),
  end('el_late', 'expired', 1_808, { expiresAt: server(1_805) }),
  end('el_back', 'withdrawn', 2_095),
  end('el_bob', 'declined', 2_305, { action: 'decline' }),
  end('el_page', 'accepted', 2_505, { action: 'accept' }),
  { type: 'resources', label: 'after', source: 'redis', keys: 10, channels: ['timers'], at: 9_100 },
  { type: 'resources', label: 'after', source: 'pod', liveBytes: 110e6, handles: 20, sockets: 4, at: 9_100 },
];
