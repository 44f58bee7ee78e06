import type { HistoryEvent } from '../events.ts';
import { alice, ask, blue, command, end, push, read, red, respond, server, wait } from './legal-history.ts';
import { add, all, change, type Defects, remove } from './plant.ts';

const lost = { httpStatus: 0, recorded: undefined };
const lostAsk = { elicitationId: undefined, createdAt: undefined, expiresAt: undefined, httpStatus: 503 };
const form = { mode: 'form' } as const;
const newAsk = (patch: object) => ({ ...ask('el_new', 3_000, 's1', form, 1_000), ...patch }) as HistoryEvent;
const newEnd = push('c2', 10, 'el_new', 'expired', 4_100);
const page = ask('el_page2', 3_000, 's1', { mode: 'url', completion: 'server' }, 1_000);
const isOfLastConnection = (event: HistoryEvent) => 'connectionId' in event && event.connectionId === 'c2';
const opened = { status: 'opened', action: 'accept' } as const;

/** No defects: every legal outcome of a command whose reply was lost. */
export const UNKNOWN_OUTCOMES: Defects = {
  'of the only answer, which is recorded': change({ responseId: 'r5' }, lost),
  'of an answer with a 503': change({ responseId: 'r6' }, { httpStatus: 500, recorded: undefined }),
  'of an answer that was never recorded': add(respond('el_late', 'r9', 1_000, { content: red, ...lost })),
  'of a second answer, beaten by the first': add(respond('el_form', 'r9', 500, { content: blue, ...lost })),
  'of an answer that beats one that got "conflict"': add(
    respond('el_half', 'r9', 3_100, { content: red, ...lost }),
    respond('el_half', 'r9', 3_200, { content: red }),
    respond('el_half', 'r8', 3_300, { content: blue, httpStatus: 409 }),
    ask('el_half', 3_000, 's1', form),
    push('c2', 10, 'el_half', 'accepted', 3_150),
    end('el_half', 'accepted', 3_095, { content: red }),
  ),
  'of a loser, which gets "conflict" when sent again': add(
    respond('el_form', 'r9', 500, { content: blue, ...lost }),
    respond('el_form', 'r9', 600, { content: blue, httpStatus: 409 }),
  ),
  'of an answer that came too late': add(
    respond('el_late', 'r9', 1_804, { content: red, ...lost }),
    respond('el_late', 'r9', 1_900, { content: red, httpStatus: 410 }),
  ),
  'of an empty answer, recorded as such': add(
    ask('el_half', 3_000, 's1', form),
    respond('el_half', 'r9', 3_100, lost),
    respond('el_half', 'r8', 3_200, { content: blue, httpStatus: 409 }),
    push('c2', 10, 'el_half', 'accepted', 3_150),
    end('el_half', 'accepted', 3_095),
  ),
  'of consent': change({ responseId: 'r3' }, lost),
  'of a completion': change({ type: 'complete' }, { httpStatus: 504, recorded: undefined }),
  'of a withdrawal': change({ type: 'withdraw' }, lost),
  'of a withdrawal that came too late': add(command('withdraw', 'el_form', 500, { httpStatus: 0 })),
  'of an ask that made nothing': add(newAsk(lostAsk)),
  'of an ask that made an elicitation, seen on its stream': add(newAsk(lostAsk), newEnd),
  'of an ask that is acknowledged when asked again': add(
    newAsk({ ...lostAsk, startedAt: 2_000 }),
    newAsk({}),
    newEnd,
    end('el_new', 'expired', 4_050),
  ),
  'of an ask for a page, known by its id alone': add(
    { ...page, ...lostAsk } as HistoryEvent,
    respond('el_page2', 'r9', 3_100, { recorded: opened }),
    command('complete', 'el_page2', 3_200),
    respond('el_page2', 'r8', 3_300, { action: 'decline', httpStatus: 409 }),
    push('c2', 10, 'el_page2', 'accepted', 3_201),
  ),
  'of another user, whose answer changes nothing': add(
    respond('el_form', 'r9', 500, { by: { ...alice, tenant: 'other' }, content: blue, ...lost }),
  ),
  'of a wait': change({ type: 'wait', elicitationId: 'el_form' }, { outcome: 'error', content: undefined }),
};

/** No defects: what seems wrong at first sight and is legal. */
export const LEGAL_ODDITIES: Defects = {
  'an answer is refused by a rate limit, then taken': add(
    respond('el_form', 'r1', 250, { content: red, httpStatus: 429 }),
  ),
  'an invalid answer is sent again after the end': add(
    respond('el_form', 'r9', 250, { content: { colour: 7 }, httpStatus: 422 }),
    respond('el_form', 'r9', 500, { content: { colour: 7 }, httpStatus: 409 }),
  ),
  'consent is sent again after the page was finished': add(
    respond('el_url', 'r3', 800, { recorded: { status: 'accepted' } }),
  ),
  'consent is refused once the person has declined': add(
    page,
    respond('el_page2', 'r9', 3_100, { recorded: opened }),
    respond('el_page2', 'r9', 3_150, { recorded: opened }),
    respond('el_page2', 'r8', 3_200, { action: 'decline' }),
    respond('el_page2', 'r9', 3_300, { httpStatus: 409 }),
    respond('el_page2', 'r9', 3_400, { httpStatus: 409 }),
    push('c2', 10, 'el_page2', 'opened', 3_101),
    push('c2', 11, 'el_page2', 'declined', 3_201),
    end('el_page2', 'declined', 3_195, { action: 'decline' }),
  ),
  'a page expires with the consent still on it': add(
    page,
    respond('el_page2', 'r9', 3_100, { recorded: opened }),
    respond('el_page2', 'r9', 4_100, { httpStatus: 410 }),
    push('c2', 10, 'el_page2', 'opened', 3_101),
    push('c2', 11, 'el_page2', 'expired', 4_001),
    end('el_page2', 'expired', 3_998, { action: 'accept' }),
  ),
  'a wait is over just as the answer arrives': add(
    wait('el_form', 420, { outcome: 'pending', timeoutMs: 300, deadlineMs: 300 }),
  ),
  'a read that left before the answer shows pending': change(
    { type: 'read', at: 460 },
    { startedAt: 410, status: 'pending', content: undefined },
  ),
  'an answer reaches a pod before the ask is acknowledged': add(
    respond('el_form', 'r9', 120, { httpStatus: 404, startedAt: 110 }),
  ),
  'a waiter returns at the very last moment': add(
    wait('el_form', 5_000, { startedAt: 1_000, outcome: 'accepted', content: red }),
  ),
  'a waiter gets its reply late, but in time': change(
    { type: 'wait', elicitationId: 'el_form' },
    { at: 3_060 },
  ),
  'a waiter returns early without an end': change(
    { type: 'wait', elicitationId: 'el_form' },
    { outcome: 'pending', action: undefined, content: undefined, at: 1_900 },
  ),
  'expired exactly at the deadline': change(
    { type: 'final', elicitationId: 'el_late' },
    { settledAt: server(1_805) },
  ),
  'answered exactly at the deadline': change(
    { type: 'final', elicitationId: 'el_bob' },
    { settledAt: server(7_205) },
  ),
  'shown as expired within the tolerance': add(
    read('el_late', 1_960, 'expired', { serverTime: server(1_755) }),
  ),
  'shown as expired on a stream within the tolerance': change({ eventId: 's1a-7' }, { at: 1_750 }),
  'a reply that shows no content': change(
    { type: 'respond', responseId: 'r1', httpStatus: 200 },
    { recorded: { status: 'accepted' } },
  ),
  'samples that lack what others have': all(
    change({ type: 'resources', label: 'before', source: 'redis' }, { channels: undefined }),
    add(
      { type: 'resources', label: 'after', source: 'pod', handles: 20, at: 9_200 },
      { type: 'resources', label: 'after', source: 'a pod that came later', handles: 99, at: 9_200 },
    ),
  ),
  'a later connection is written down first': (history) =>
    history.toSorted((left, right) => Number(isOfLastConnection(right)) - Number(isOfLastConnection(left))),
  'a feed starts anew': all(
    remove({ eventId: 's2a-4' }),
    add(
      { type: 'stream-reset', connectionId: 'c3', at: 2_511 },
      { ...push('c3', 1, 'el_bob', 'declined', 2_512), eventId: 's2b-1' },
      { ...push('c3', 2, 'el_page', 'accepted', 2_512), eventId: 's2b-2' },
    ),
  ),
};
