import type { HistoryEvent } from './events.ts';
import { alice, asked, bob, looked, pushed, server } from './legal-run.ts';
import { adding, changed, lacking, type PlantedRuns } from './planting.ts';

const final = (elicitationId: string) => ({ type: 'final', elicitationId });
const wait = (elicitationId: string) => ({ type: 'wait', elicitationId });
const event = (eventId: string) => ({ type: 'stream-event', eventId });
const form = { mode: 'form' } as const;
const lostAsk = { elicitationId: undefined, createdAt: undefined, expiresAt: undefined, httpStatus: 0 };

/** Wrongs in when, to whom and in what order things are told, and in what is left behind. */
export const defectsOfCourse: PlantedRuns = {
  'I6: a wait ends long after its bound': changed(wait('el_form'), { deadlineMs: 200, at: 1_600 }),
  'I6: a wait ends with nothing': changed(wait('el_late'), { outcome: 'none' }),
  'I7: expired before the deadline': changed(final('el_late'), { settledAt: server(1_804) }),
  'I7 (I16): expired without a time': changed(final('el_late'), { settledAt: undefined }),
  'I7: a deadline that moves closer': changed(final('el_late'), {
    settledAt: server(1_300),
    expiresAt: server(1_290),
  }),
  'I7: shown as expired too early by the server time': changed(
    { type: 'read', at: 1_950 },
    { serverTime: server(1_700) },
  ),
  'I7: told as expired sooner than the time it was given': changed(event('s1a-7'), { at: 1_500 }),
  'I8: accepted after the deadline': changed(final('el_page'), { settledAt: server(7_406) }),
  'I8: withdrawn after the deadline': changed(final('el_back'), { settledAt: server(7_006) }),
  'I8: a deadline that moves away': changed(final('el_bob'), {
    settledAt: server(7_300),
    expiresAt: server(8_000),
  }),
  'I9: a read shows pending after the answer': changed(
    { type: 'read', at: 460 },
    { status: 'pending', content: undefined },
  ),
  'I9: a read shows pending after consent': changed({ type: 'read', at: 640 }, { status: 'pending' }),
  'I9: a read shows opened after completion': adding(looked('el_url', 800, 'opened')),
  'I9: a read shows pending after another saw the end': adding(looked('el_late', 1_990, 'pending')),
  'I9: a waiter sleeps through the answer': changed(wait('el_form'), {
    outcome: 'pending',
    content: undefined,
    action: undefined,
    at: 3_015,
  }),
  "I11: another user's event": changed(event('s2a-3'), { ownerUserId: 'alice' }),
  "I11: a namesake's event from another tenant": adding({
    ...pushed('c4', 4, 'el_page', 'accepted', 2_600),
    streamRequestId: 's2',
    subscriber: { ...bob, tenant: 'other' },
    ownerUserId: 'bob',
  }),
  'I11: an event of another stream': adding({
    ...pushed('c3', 5, 'el_form', 'accepted', 2_600),
    subscriber: alice,
    ownerUserId: 'alice',
  }),
  'I11: a stranger reads': adding(looked('el_form', 480, 'accepted', { by: bob })),
  'I11: a service of another tenant reads': adding(
    looked('el_form', 480, 'accepted', { by: { tenant: 'other' } }),
  ),
  'I12: an event twice on one connection': adding(pushed('c3', 4, 'el_page', 'accepted', 2_600)),
  'I12: events in the wrong order': adding(pushed('c2', 6, 'el_late', 'pending', 2_600)),
  'I12: a gap on one connection': lacking(event('s1a-6')),
  'I12: a gap across a reconnect': changed(
    { type: 'connection-open', connectionId: 'c2' },
    { lastEventId: 's1a-3' },
  ),
  'I12: a repeat across a reconnect': changed(
    { type: 'connection-open', connectionId: 'c2' },
    { lastEventId: 's1a-5' },
  ),
  'I12: a new epoch without a reset': changed(event('s2a-4'), { eventId: 's2b-1' }),
  'I12: an event after the terminal one': adding(pushed('c2', 10, 'el_back', 'withdrawn', 2_600)),
  'I12: a question that goes back to pending': adding(
    pushed('c3', 5, 'el_x', 'opened', 2_600),
    pushed('c3', 6, 'el_x', 'pending', 2_601),
    pushed('c3', 7, 'el_x', 'expired', 2_602),
    { ...asked('x', 2_599, 's2', form), ...lostAsk } as HistoryEvent,
  ),
  'I12: an id without a sequence number': changed(event('s2a-4'), { eventId: '4' }),
  'I12: one id, two events': adding(
    { type: 'connection-open', connectionId: 'c4', subscriber: alice, streamRequestId: 's1', at: 3_000 },
    pushed('c4', 8, 'el_form', 'pending', 3_001),
  ),
  'I12: a connected client never hears the end': lacking(event('s2a-4')),
  'I12: a connected client never hears the end of a question whose ask was lost': adding(
    { ...asked('x', 3_000, 's1', form), ...lostAsk } as HistoryEvent,
    pushed('c2', 10, 'el_x', 'pending', 3_001),
  ),
  'I14: keys are left': changed({ label: 'after', source: 'redis' }, { keys: 11 }),
  'I14: a channel is left': changed({ label: 'after', source: 'redis' }, { channels: ['timers', 'left'] }),
  'I15: memory grows': changed({ label: 'after', source: 'pod' }, { liveBytes: 111e6 }),
  'I15: handles are left': changed({ label: 'after', source: 'pod' }, { handles: 26 }),
  'I15: sockets are left': changed({ label: 'after', source: 'pod' }, { sockets: 6 }),
};
