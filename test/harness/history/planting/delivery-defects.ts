import type { HistoryEvent } from '../events.ts';
import { alice, ask, bob, push, read, server } from './legal-history.ts';
import { add, change, type Defects, remove } from './plant.ts';

const final = (elicitationId: string) => ({ type: 'final', elicitationId });
const wait = (elicitationId: string) => ({ type: 'wait', elicitationId });
const event = (eventId: string) => ({ type: 'stream-event', eventId });
const form = { mode: 'form' } as const;
const lostAsk = { elicitationId: undefined, createdAt: undefined, expiresAt: undefined, httpStatus: 0 };

/** Defects in when, to whom and in what order things are delivered, and in what remains afterwards. */
export const DELIVERY_DEFECTS: Defects = {
  'I6: a wait ends long after its bound': change(wait('el_form'), { deadlineMs: 200, at: 1_600 }),
  'I6: a wait ends with nothing': change(wait('el_late'), { outcome: 'none' }),
  'I7: expired before the deadline': change(final('el_late'), { settledAt: server(1_804) }),
  'I7 (I16): expired without a time': change(final('el_late'), { settledAt: undefined }),
  'I7: a deadline that moves closer': change(final('el_late'), {
    settledAt: server(1_300),
    expiresAt: server(1_290),
  }),
  'I7: shown as expired too early by the server time': change(
    { type: 'read', at: 1_950 },
    { serverTime: server(1_700) },
  ),
  'I7: shown as expired sooner than its timeout': change(event('s1a-7'), { at: 1_500 }),
  'I8: accepted after the deadline': change(final('el_page'), { settledAt: server(7_406) }),
  'I8: withdrawn after the deadline': change(final('el_back'), { settledAt: server(7_006) }),
  'I8: a deadline that moves away': change(final('el_bob'), {
    settledAt: server(7_300),
    expiresAt: server(8_000),
  }),
  'I9: a read shows pending after the answer': change(
    { type: 'read', at: 460 },
    { status: 'pending', content: undefined },
  ),
  'I9: a read shows pending after consent': change({ type: 'read', at: 640 }, { status: 'pending' }),
  'I9: a read shows opened after completion': add(read('el_url', 800, 'opened')),
  'I9: a read shows pending after another saw the end': add(read('el_late', 1_990, 'pending')),
  'I9: a waiter sleeps through the answer': change(wait('el_form'), {
    outcome: 'pending',
    content: undefined,
    action: undefined,
    at: 3_015,
  }),
  "I11: another user's event": change(event('s2a-3'), { ownerUserId: 'alice' }),
  "I11: a namesake's event from another tenant": add({
    ...push('c4', 4, 'el_page', 'accepted', 2_600),
    streamRequestId: 's2',
    subscriber: { ...bob, tenant: 'other' },
    ownerUserId: 'bob',
  }),
  'I11: an event of another stream': add({
    ...push('c3', 5, 'el_form', 'accepted', 2_600),
    subscriber: alice,
    ownerUserId: 'alice',
  }),
  'I11: another user reads': add(read('el_form', 480, 'accepted', { by: bob })),
  'I11: a service of another tenant reads': add(
    read('el_form', 480, 'accepted', { by: { tenant: 'other' } }),
  ),
  'I12: an event twice on one connection': add(push('c3', 4, 'el_page', 'accepted', 2_600)),
  'I12: events in the wrong order': add(push('c2', 6, 'el_late', 'pending', 2_600)),
  'I12: a gap on one connection': remove(event('s1a-6')),
  'I12: a gap across a reconnect': change(
    { type: 'connection-open', connectionId: 'c2' },
    { lastEventId: 's1a-3' },
  ),
  'I12: a repeat across a reconnect': change(
    { type: 'connection-open', connectionId: 'c2' },
    { lastEventId: 's1a-5' },
  ),
  'I12: a new epoch without a reset': change(event('s2a-4'), { eventId: 's2b-1' }),
  'I12: an event after the terminal one': add(push('c2', 10, 'el_back', 'withdrawn', 2_600)),
  'I12: an elicitation that goes back to pending': add(
    push('c3', 5, 'el_x', 'opened', 2_600),
    push('c3', 6, 'el_x', 'pending', 2_601),
    push('c3', 7, 'el_x', 'expired', 2_602),
    { ...ask('x', 2_599, 's2', form), ...lostAsk } as HistoryEvent,
  ),
  'I12: an id without a sequence number': change(event('s2a-4'), { eventId: '4' }),
  'I12: one id, two events': add(
    { type: 'connection-open', connectionId: 'c4', subscriber: alice, streamRequestId: 's1', at: 3_000 },
    push('c4', 8, 'el_form', 'pending', 3_001),
  ),
  'I12: a connected client never sees the end': remove(event('s2a-4')),
  'I12: a connected client never sees the end of an elicitation whose ask was lost': add(
    { ...ask('x', 3_000, 's1', form), ...lostAsk } as HistoryEvent,
    push('c2', 10, 'el_x', 'pending', 3_001),
  ),
  'I14: keys remain': change({ label: 'after', source: 'redis' }, { keys: 11 }),
  'I14: a channel remains': change({ label: 'after', source: 'redis' }, { channels: ['timers', 'left'] }),
  'I15: memory grows': change({ label: 'after', source: 'pod' }, { liveBytes: 111e6 }),
  'I15: handles remain open': change({ label: 'after', source: 'pod' }, { handles: 26 }),
  'I15: sockets remain open': change({ label: 'after', source: 'pod' }, { sockets: 6 }),
};
