import type { RecordFacts, RunFacts, WhyFacts } from '@parley/shared/domain/why/facts';
import { why } from '@parley/shared/domain/why/why';
import { describe, expect, it } from 'vitest';

const NOW = Date.UTC(2026, 0, 15, 10, 0, 0);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const QUESTION: RecordFacts = {
  name: 'alice',
  kind: 'question',
  status: 'pending',
  hasEnded: false,
  trigger: 'credential_required',
  tool: 'tracker',
  createdAt: NOW - 14 * MINUTE,
  expiresAt: NOW + 20 * MINUTE,
};
const ENDED = { hasEnded: true, settledAt: QUESTION.createdAt + 90_000 };
const RUN: RunFacts = {
  streamRequestId: 'sr_1',
  agent: 'desk',
  status: 'running',
  startedAt: NOW - 15 * MINUTE,
  holder: { type: 'pod', pod: 'pod-1', isAlive: true },
  isStopping: false,
  takeOvers: 0,
  waits: [],
  calls: [],
};
const ALICE = { name: 'alice', streams: [] };
const ASKED = 'alice was asked 14 minutes ago (credential_required for tracker)';
const NO_PAGE =
  'alice has no event stream open on any pod: no chat or inbox follows it now. Clients that poll, such as those of MCP and A2A, hold none.';
const BEGAN = 'The turn sr_1 of the agent desk began 15 minutes ago';
const EXPIRES = 'It expires by itself at 10:20:00 UTC, in 20 minutes.';
const HELD = 'The pod pod-1 holds it.';
const WAIT = { id: 'el_1', trigger: 'agent', since: NOW - 14 * MINUTE, openUntil: NOW + 26 * HOUR };

const reasonsOf = (facts: Partial<WhyFacts>) => why({ now: NOW, deliveries: [], ...facts }, 'en');
const ofRecord = (more: Partial<RecordFacts>, facts: Partial<WhyFacts> = {}) =>
  reasonsOf({ record: { ...QUESTION, ...more }, person: ALICE, ...facts });
const ofRun = (more: Partial<RunFacts>, facts: Partial<WhyFacts> = {}) =>
  reasonsOf({ run: { ...RUN, ...more }, person: ALICE, ...facts });

describe('why', () => {
  it.each<[what: string, reasons: string[], expected: string[]]>([
    ['a pending question', ofRecord({}), [`${ASKED} and has not answered.`, EXPIRES, NO_PAGE]],
    [
      'an opened one',
      ofRecord({ status: 'opened' }),
      [`${ASKED}, opened the page and has not finished there.`, EXPIRES, NO_PAGE],
    ],
    [
      'an overdue one',
      ofRecord({ expiresAt: NOW - 3_000 }),
      [
        `${ASKED} and has not answered.`,
        'Its deadline passed 3 seconds ago and nothing has expired it yet: if it stays, no pod or worker sweeps.',
        NO_PAGE,
      ],
    ],
    [
      'an approval',
      ofRecord({ kind: 'approval', tool: 'bookings_cancel', createdAt: NOW - 1_000 }),
      [
        'alice was asked 1 second ago for the approval of bookings_cancel and has not answered.',
        EXPIRES,
        NO_PAGE,
      ],
    ],
    [
      'an accepted one',
      ofRecord({ ...ENDED, status: 'accepted', surface: 'slack' }),
      [`${ASKED}.`, 'It was accepted by alice 1 minute later, on the surface slack.'],
    ],
    [
      'an expired one',
      ofRecord({ ...ENDED, status: 'expired' }),
      [`${ASKED}.`, 'It expired 1 minute later: nobody answered before the deadline.'],
    ],
    [
      'a withdrawn one',
      ofRecord({ ...ENDED, status: 'withdrawn', reason: 'run_stopped' }),
      [
        `${ASKED}.`,
        'It was taken back 1 minute later, with the reason run_stopped: its turn was stopped or ended.',
      ],
    ],
    [
      'one with a reason of its asker',
      ofRecord({ ...ENDED, status: 'withdrawn', reason: 'price_changed' }),
      [`${ASKED}.`, 'It was taken back 1 minute later, with the reason price_changed.'],
    ],
  ])('%s', (_what, reasons, expected) => expect(reasons).toEqual(expected));

  it.each<[what: string, person: NonNullable<WhyFacts['person']>, expected: string[]]>([
    [
      'streams',
      { ...ALICE, streams: ['chat/c', 'inbox'] },
      ['alice has 2 event streams open: chat/c, inbox.'],
    ],
    ['one stream', { ...ALICE, streams: ['inbox'] }, ['alice has 1 event stream open: inbox.']],
    [
      'a channel that comes later',
      { ...ALICE, channel: { name: 'slack', isLinked: true, dueInMs: 6 * MINUTE } },
      [NO_PAGE, 'alice is linked to slack, which notifies them in 6 minutes.'],
    ],
    [
      'a channel that has notified',
      { ...ALICE, channel: { name: 'slack', isLinked: true, dueInMs: 0 } },
      [NO_PAGE, 'alice is linked to slack; the notice has been sent or is due.'],
    ],
    [
      'a channel without a link',
      { ...ALICE, channel: { name: 'slack', isLinked: false, dueInMs: 0 } },
      [NO_PAGE, 'It is to be sent to slack, but alice is not linked there.'],
    ],
    [
      'a channel that is not configured',
      { ...ALICE, channel: { name: 'slack' } },
      [NO_PAGE, 'It is to be sent to slack, which this deployment has not configured.'],
    ],
  ])('a person with %s', (_what, person, expected) => {
    expect(ofRecord({}, { person }).slice(2)).toEqual(expected);
  });

  it.each<[what: string, reasons: string[], expected: string[]]>([
    ['a turn at work', ofRun({}), [`${BEGAN} and has not ended.`, HELD]],
    [
      'one that stops',
      ofRun({ isStopping: true, takeOvers: 2 }),
      [
        `${BEGAN} and was asked to stop.`,
        'The pod pod-1 holds it and ends it with its next write.',
        '2 of its pods died before.',
      ],
    ],
    [
      'an orphan',
      ofRun({ holder: { type: 'pod', pod: 'pod-1', isAlive: false } }),
      [
        `${BEGAN} and has not ended.`,
        'The pod pod-1 that held it is gone: another one takes it over within seconds.',
      ],
    ],
    [
      'a queued one',
      ofRun({ holder: { type: 'queued' }, parent: 'sr_0' }),
      [
        `${BEGAN} and has not ended.`,
        'No pod holds it: it waits until one has room.',
        'It works for the turn sr_0.',
      ],
    ],
    [
      'a detached one that waits',
      ofRun({ holder: { type: 'detached' }, waits: [WAIT] }),
      [
        `${BEGAN} and has not ended.`,
        'It is detached: no pod holds it, and it goes on when what it waits for has ended.',
        'It has waited for el_1 (agent) for 14 minutes, which is open until 12:00:00 UTC on 2026-01-16.',
        NO_PAGE,
      ],
    ],
    [
      'one that rests, and missed the end of a wait',
      ofRun({
        holder: { type: 'detached', restsUntil: NOW + HOUR },
        waits: [{ ...WAIT, openUntil: undefined }],
      }),
      [
        `${BEGAN} and has not ended.`,
        'It is detached: no pod holds it, and it goes on when what it waits for has ended, and at 11:00:00 UTC at the latest.',
        'It has waited for el_1 (agent) for 14 minutes, which has ended.',
        'A wait has ended, so a worker or a reader resumes it; if it stays, no worker runs: resume it.',
      ],
    ],
    [
      'a detached one that stops',
      ofRun({
        isStopping: true,
        holder: { type: 'detached', restsUntil: NOW + HOUR },
        waits: [{ ...WAIT, openUntil: undefined }],
      }),
      [
        `${BEGAN} and was asked to stop.`,
        'It is detached: no pod holds it, and a worker hands it to one that ends it; if it stays, no worker runs: resume it.',
        'It has waited for el_1 (agent) for 14 minutes, which has ended.',
      ],
    ],
    [
      'one that waits for calls',
      ofRun({
        calls: [
          { toolName: 'list', since: NOW - 2 * MINUTE },
          { toolName: 'delegate_to_helper', since: NOW - 3 * HOUR, delegate: 'sr_2' },
        ],
      }),
      [
        `${BEGAN} and has not ended.`,
        HELD,
        'The call of list was sent 2 minutes ago and has not returned.',
        'It waits for the turn sr_2, to which delegate_to_helper delegated 3 hours ago.',
      ],
    ],
    [
      'one that waits for many calls',
      ofRun({ calls: Array.from({ length: 12 }, () => ({ toolName: 'list', since: NOW - MINUTE })) }).slice(
        -2,
      ),
      ['The call of list was sent 1 minute ago and has not returned.', 'So it is with 2 more calls.'],
    ],
    [
      'one that has ended',
      ofRun({ status: 'failed', endedAt: NOW - 49 * HOUR, startedAt: NOW - 50 * HOUR }),
      ['The turn sr_1 of the agent desk began 2 days ago and failed 2 days ago.'],
    ],
  ])('%s', (_what, reasons, expected) => expect(reasons).toEqual(expected));

  it.each<[delivery: WhyFacts['deliveries'][number], expected: string]>([
    [
      { kind: 'webhook', state: 'outstanding', dueInMs: 0, attempts: 0, isLeased: false },
      'The delivery webhook is due: if it stays, no worker runs.',
    ],
    [
      { kind: 'webhook', state: 'outstanding', dueInMs: 40_000, attempts: 2, isLeased: false },
      'The delivery webhook comes in 40 seconds, after 2 attempts that failed.',
    ],
    [
      { kind: 'slack', state: 'outstanding', dueInMs: 40_000, attempts: 1, isLeased: true },
      'The delivery slack is under way, after 1 attempt that failed.',
    ],
    [
      {
        kind: 'webhook',
        state: 'dead',
        attempts: 10,
        lastError: 'status',
        lastStatus: 503,
        diedAt: NOW - HOUR,
      },
      'The delivery webhook was given up 1 hour ago, after 10 attempts that failed; the last one ended with status 503. Deliver it again once its receiver works.',
    ],
  ])('a delivery', (delivery, expected) => {
    expect(reasonsOf({ deliveries: [delivery] })).toEqual([expected]);
  });
});
