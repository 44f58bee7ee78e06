import type { HistoryEvent } from './events.ts';
import {
  alice,
  answered,
  asked,
  blue,
  ended,
  legalRun,
  looked,
  pushed,
  red,
  server,
  waited,
} from './legal-run.ts';
import { adding, changed, lacking } from './planting.ts';

type LegalRuns = Readonly<Record<string, readonly HistoryEvent[]>>;

const lost = { httpStatus: 0, recorded: undefined };
const lostAsk = { elicitationId: undefined, createdAt: undefined, expiresAt: undefined, httpStatus: 503 };
const form = { mode: 'form' } as const;
const newAsk = (patch: object) =>
  ({ ...asked('el_new', 3_000, 's1', form, 1_000), ...patch }) as HistoryEvent;
const newEnd = pushed('c2', 10, 'el_new', 'expired', 4_100);
const page = asked('el_page2', 3_000, 's1', { mode: 'url', completion: 'server' }, 1_000);
const opened = { status: 'opened', action: 'accept' } as const;

/** What became of a command whose reply was lost, in every way that is legal. */
export const unknownOutcomes: LegalRuns = {
  'of the only answer, which is recorded': changed({ responseId: 'r5' }, lost),
  'of an answer with a 503': changed({ responseId: 'r6' }, { httpStatus: 500, recorded: undefined }),
  'of an answer that was never recorded': adding(answered('el_late', 'r9', 1_000, { content: red, ...lost })),
  'of a second answer, beaten by the first': adding(
    answered('el_form', 'r9', 500, { content: blue, ...lost }),
  ),
  'of an answer that beats one that was told "conflict"': adding(
    answered('el_half', 'r9', 3_100, { content: red, ...lost }),
    answered('el_half', 'r9', 3_200, { content: red }),
    answered('el_half', 'r8', 3_300, { content: blue, httpStatus: 409 }),
    asked('el_half', 3_000, 's1', form),
    pushed('c2', 10, 'el_half', 'accepted', 3_150),
    ended('el_half', 'accepted', 3_095, { content: red }),
  ),
  'of a loser, told "conflict" when it asks again': adding(
    answered('el_form', 'r9', 500, { content: blue, ...lost }),
    answered('el_form', 'r9', 600, { content: blue, httpStatus: 409 }),
  ),
  'of an answer that came too late': adding(
    answered('el_late', 'r9', 1_804, { content: red, ...lost }),
    answered('el_late', 'r9', 1_900, { content: red, httpStatus: 410 }),
  ),
  'of an empty answer, recorded as such': adding(
    asked('el_half', 3_000, 's1', form),
    answered('el_half', 'r9', 3_100, lost),
    answered('el_half', 'r8', 3_200, { content: blue, httpStatus: 409 }),
    pushed('c2', 10, 'el_half', 'accepted', 3_150),
    ended('el_half', 'accepted', 3_095),
  ),
  'of consent': changed({ responseId: 'r3' }, lost),
  'of a completion': changed({ type: 'complete' }, { httpStatus: 504, recorded: undefined }),
  'of a withdrawal': changed({ type: 'withdraw' }, lost),
  'of a withdrawal that came too late': adding({
    type: 'withdraw',
    elicitationId: 'el_form',
    httpStatus: 0,
    startedAt: 490,
    at: 500,
  }),
  'of an ask that made nothing': adding(newAsk(lostAsk)),
  'of an ask that made an elicitation, seen on its stream': adding(newAsk(lostAsk), newEnd),
  'of an ask that is acknowledged when asked again': adding(
    newAsk({ ...lostAsk, startedAt: 2_000 }),
    newAsk({}),
    newEnd,
    ended('el_new', 'expired', 4_050),
  ),
  'of an ask for a page, known by its id alone': adding(
    { ...page, ...lostAsk } as HistoryEvent,
    answered('el_page2', 'r9', 3_100, { recorded: opened }),
    { type: 'complete', elicitationId: 'el_page2', httpStatus: 200, startedAt: 3_190, at: 3_200 },
    answered('el_page2', 'r8', 3_300, { action: 'decline', httpStatus: 409 }),
    pushed('c2', 10, 'el_page2', 'accepted', 3_201),
  ),
  'of a stranger, who gets nowhere': adding(
    answered('el_form', 'r9', 500, { by: { ...alice, tenant: 'other' }, content: blue, ...lost }),
  ),
  'of a wait': changed({ type: 'wait', elicitationId: 'el_form' }, { outcome: 'error', content: undefined }),
};

/** What looks wrong at first sight and is not. */
export const oddButLegal: LegalRuns = {
  'an answer is refused at the door, then taken': adding(
    answered('el_form', 'r1', 250, { content: red, httpStatus: 429 }),
  ),
  'an unfit answer is sent again when all is over': adding(
    answered('el_form', 'r9', 250, { content: { colour: 7 }, httpStatus: 422 }),
    answered('el_form', 'r9', 500, { content: { colour: 7 }, httpStatus: 409 }),
  ),
  'consent is sent again after the page was finished': adding(
    answered('el_url', 'r3', 800, { recorded: { status: 'accepted' } }),
  ),
  'consent is refused once the person has declined': adding(
    page,
    answered('el_page2', 'r9', 3_100, { recorded: opened }),
    answered('el_page2', 'r9', 3_150, { recorded: opened }),
    answered('el_page2', 'r8', 3_200, { action: 'decline' }),
    answered('el_page2', 'r9', 3_300, { httpStatus: 409 }),
    answered('el_page2', 'r9', 3_400, { httpStatus: 409 }),
    pushed('c2', 10, 'el_page2', 'opened', 3_101),
    pushed('c2', 11, 'el_page2', 'declined', 3_201),
    ended('el_page2', 'declined', 3_195, { action: 'decline' }),
  ),
  'a page expires with the consent still on it': adding(
    page,
    answered('el_page2', 'r9', 3_100, { recorded: opened }),
    answered('el_page2', 'r9', 4_100, { httpStatus: 410 }),
    pushed('c2', 10, 'el_page2', 'opened', 3_101),
    pushed('c2', 11, 'el_page2', 'expired', 4_001),
    ended('el_page2', 'expired', 3_998, { action: 'accept' }),
  ),
  'a wait is over just as the answer arrives': adding(
    waited('el_form', 420, { outcome: 'pending', timeoutMs: 300, deadlineMs: 300 }),
  ),
  'a read that left before the answer shows pending': changed(
    { type: 'read', at: 460 },
    { startedAt: 410, status: 'pending', content: undefined },
  ),
  'an answer reaches a pod before the ask is acknowledged': adding(
    answered('el_form', 'r9', 120, { httpStatus: 404, startedAt: 110 }),
  ),
  'a waiter returns at the very last moment': adding(
    waited('el_form', 5_000, { startedAt: 1_000, outcome: 'accepted', content: red }),
  ),
  'a waiter is told late, but in time': changed({ type: 'wait', elicitationId: 'el_form' }, { at: 3_060 }),
  'a waiter is sent home early': changed(
    { type: 'wait', elicitationId: 'el_form' },
    { outcome: 'pending', action: undefined, content: undefined, at: 1_900 },
  ),
  'expired on the stroke': changed({ type: 'final', elicitationId: 'el_late' }, { settledAt: server(1_805) }),
  'answered on the stroke': changed({ type: 'final', elicitationId: 'el_bob' }, { settledAt: server(7_205) }),
  'shown as expired within the tolerance': adding(
    looked('el_late', 1_960, 'expired', { serverTime: server(1_755) }),
  ),
  'told as expired within the tolerance': changed({ eventId: 's1a-7' }, { at: 1_750 }),
  'a reply that shows no content': changed(
    { type: 'respond', responseId: 'r1', httpStatus: 200 },
    { recorded: { status: 'accepted' } },
  ),
  'samples that lack what others have': [
    ...changed({ type: 'resources', label: 'before', source: 'redis' }, { channels: undefined }),
    { type: 'resources', label: 'after', source: 'pod', handles: 20, at: 9_200 },
    { type: 'resources', label: 'after', source: 'a pod that came later', handles: 99, at: 9_200 },
  ],
  'a later connection is written down first': [
    ...legalRun.filter((event) => 'connectionId' in event && event.connectionId === 'c2'),
    ...legalRun.filter((event) => !('connectionId' in event && event.connectionId === 'c2')),
  ],
  'a feed starts anew': [
    ...lacking({ eventId: 's2a-4' }),
    { type: 'stream-reset', connectionId: 'c3', at: 2_511 },
    { ...pushed('c3', 1, 'el_bob', 'declined', 2_512), eventId: 's2b-1' },
    { ...pushed('c3', 2, 'el_page', 'accepted', 2_512), eventId: 's2b-2' },
  ],
};
