import { type EventOfType, type HistoryEvent, ofType } from '../events.ts';
import { conversationOf } from '../index-history.ts';
import type { CallOutcome, FeedEvent, RunFinalEvent, StoredMessage } from '../run-events.ts';
import { all, type Defects, type Plant, replace } from './plant.ts';

/** The events of one type that a conversation has. */
function own<T extends HistoryEvent['type']>(
  history: readonly HistoryEvent[],
  conversation: string,
  type: T,
) {
  return ofType(history, type).filter((event) => conversationOf(event) === conversation);
}

/** Puts events in the place of the last one of a type; undefined as the result of `change` plants nothing. */
function changeLast<T extends HistoryEvent['type']>(
  type: T,
  change: (
    last: EventOfType<T>,
    history: readonly HistoryEvent[],
    conversation: string,
  ) => HistoryEvent[] | undefined,
): Plant {
  return (history, conversation) => {
    const last = own(history, conversation, type).at(-1);
    const changed = last && change(last, history, conversation);
    return changed && replace(history, last, ...changed);
  };
}

/** Changes how a conversation stands at the end. */
const changeFinal = (change: (final: RunFinalEvent) => Partial<RunFinalEvent>): Plant =>
  changeLast('run-final', (final) => [{ ...final, ...change(final) }]);

type FeedChange = (event: FeedEvent, at: number, feed: readonly FeedEvent[]) => readonly FeedEvent[];
/** Changes a feed event by event, and renumbers it. */
const changeFeed = (change: FeedChange): Plant =>
  changeFinal(({ feed }) => ({
    feed: feed.flatMap(change).map((event, at) => ({ ...event, id: `7-${at + 1}` })),
  }));

const changeStored = (change: (one: StoredMessage) => readonly StoredMessage[]): Plant =>
  changeFinal(({ stored }) => ({ stored: stored.flatMap(change) }));

/** Events before the last one of a type, made from the last term of the run. */
const beforeLast = (
  type: 'term' | 'write' | 'run-final',
  make: (term: EventOfType<'term'>) => HistoryEvent,
): Plant =>
  changeLast<'term' | 'write' | 'run-final'>(type, (last, history, conversation) => {
    const term = own(history, conversation, 'term').at(-1);
    return term && [make(term), last];
  });

type IsFeedEvent = (event: FeedEvent) => boolean;
const named =
  (name: string, call?: string): IsFeedEvent =>
  (event) =>
    event.name === name && event.call === call;
const outcomeOf =
  (call: string): IsFeedEvent =>
  (event) =>
    event.outcome !== undefined && event.call === call;
const text =
  (words: string): IsFeedEvent =>
  (event) =>
    event.name === 'text-delta' && event.text === words;
const drop = (is: IsFeedEvent) => changeFeed((event) => (is(event) ? [] : [event]));
const repeat = (is: IsFeedEvent) => changeFeed((event) => (is(event) ? [event, event] : [event]));

type IsStored = (one: StoredMessage) => boolean;
const resultOf =
  (call: string): IsStored =>
  (one) =>
    one.type === 'result' && one.call === call;
const dropStored = (is: IsStored) => changeStored((one) => (is(one) ? [] : [one]));
const repeatStored = (is: IsStored) => changeStored((one) => (is(one) ? [one, one] : [one]));
const isMessage: IsStored = ({ type }) => type === 'message';

/** Another outcome of a call, in the feed and in the stored messages. */
const changeOutcome = (call: string, outcome: CallOutcome): Plant =>
  all(
    changeFeed((event) => [outcomeOf(call)(event) ? { ...event, outcome } : event]),
    changeStored((one) => [one.type === 'result' && one.call === call ? { ...one, outcome } : one]),
  );

/** Another answer than the person's, where the model gets it. */
const changeAnswer = (answer: string | undefined): Plant =>
  changeStored((one) => [
    one.type === 'result' && one.answer !== undefined
      ? { ...one, answer, output: { status: 'accepted', ...(answer !== undefined && { answer }) } }
      : one,
  ]);

const endings: Defects = {
  'R1: it never comes to an end': changeLast('run-final', () => []),
  'R1: it ends as interrupted': changeFinal(() => ({ status: 'failed' })),
  'R1: it begins twice': changeLast('begun', (begun) => [begun, { ...begun, run: 'run-again' }]),
  'R1 (R9): its end is written twice': changeLast('write', (end) => [end, end]),
  'R1: its end is appended twice': repeat(named('turn-finished')),
  'R1: something is appended after its end': changeFeed((event, at, feed) =>
    at === feed.length - 1 ? [event, { id: '', name: 'tool-progress' }] : [event],
  ),
};

const feeds: Defects = {
  'R2 (R11, R12): text is lost': drop(text('Looking again. ')),
  'R2 (R11, R12): text is appended twice': repeat(text('Looking again. ')),
  'R2 (R11, R12): text is appended out of order': changeFeed((event, at, feed) => {
    if (text('all of it.')(event)) return [];
    const later = text('Done: ')(event) ? feed.slice(at + 1).find(text('all of it.')) : undefined;
    return later === undefined ? [event] : [...feed.filter(text('all of it.')), event];
  }),
  'R2 (R11, R12): a step is appended again without a restart': changeLast('run-final', (final) => {
    const feed = final.feed.filter(({ name }) => name !== 'step-restarted');
    if (feed.length === final.feed.length) return undefined;
    return [{ ...final, feed: feed.map((event, at) => ({ ...event, id: `7-${at + 1}` })) }];
  }),
  'R2: an event of the feed is gone': changeFinal(({ feed }) => ({
    feed: feed.filter((event) => event.name !== 'step-finished'),
  })),
  'R2: the feed was lost and made anew': changeFinal(({ feed }) => ({
    feed: feed.map((event, at) => (at < 5 ? event : { ...event, id: event.id.replace('7-', '8-') })),
  })),
};

const effects: Defects = {
  'R3: a booking is made twice': (history, name) => {
    const booking = own(history, name, 'call').find(({ call }) => call === 'book#1');
    return booking && replace(history, booking, booking, booking);
  },
  'R4: a call is appended as returned that was not made': (history, name) =>
    replace(
      history,
      own(history, name, 'call').find(({ call }) => call === 'look#2'),
    ),
  'R4: a call is appended as failed that was made': changeOutcome('look#2', 'failed'),
  'R4: a harmless call is not repeated': changeOutcome('look#1', 'unknown'),
  'R4: an outcome is appended twice': repeat(outcomeOf('look#2')),
  'R4 (R12): an outcome is not appended': drop(outcomeOf('look#1')),
  'R4: a call is announced twice': repeat(named('tool-called', 'look#1')),
};

const questions: Defects = {
  'R5: a question is asked twice': changeFeed((event) =>
    event.name.startsWith('elicitation-') ? [event, { ...event, elicitationId: 'el-again' }] : [event],
  ),
  'R5: a question is shown as new twice': repeat(named('elicitation-request')),
  'R5: a question is settled twice': repeat(named('elicitation-resolved')),
  'R5: a question is never settled': drop(named('elicitation-resolved')),
  'R6: an answer is lost': changeAnswer(undefined),
  'R6: an answer is used that the person never gave': changeAnswer('13F'),
};

/** Moves the payment before the first decision. */
const payFirst: Plant = (history, name) => {
  const payment = own(history, name, 'call').find(({ call }) => call === 'pay#1');
  const [sent] = own(history, name, 'decision');
  const rest = replace(history, payment);
  return rest && sent && payment && replace(rest, sent, payment, sent);
};

const changePayment = (change: Partial<EventOfType<'call'>>): Plant => {
  return (history, name) => {
    const payment = own(history, name, 'call').find(({ call }) => call === 'pay#1');
    return payment && replace(history, payment, { ...payment, ...change });
  };
};

const approvals: Defects = {
  'R14: a call is made before anyone has decided': payFirst,
  'R14: a call is made with other arguments than were approved': changePayment({ amount: 1_000 }),
  'R14: a call is made that was denied': (history, name) =>
    own(history, name, 'call').some(({ call }) => call === 'pay#1')
      ? history.map((event) =>
          event.type === 'decision' && event.conversation === name ? { ...event, choice: 'deny' } : event,
        )
      : undefined,
  'R14: a decision is refused': changeLast('decision', (last) => [{ ...last, reply: 409 }]),
  'R14: an approval is asked twice': changeFeed((event) =>
    event.name.startsWith('approval-') ? [event, { ...event, approvalId: 'ap-again' }] : [event],
  ),
  'R14: an approval is shown as new twice': repeat(named('approval-request')),
  'R14: an approval is never settled': drop(named('approval-resolved')),
  'R4: a call that was made is appended as denied': (history, name) =>
    changePayment({})(history, name) && changeOutcome('pay#1', 'failed')(history, name),
};

const owners: Defects = {
  'R7: a term comes back': changeLast('write', (write, history, name) => [
    ...own(history, name, 'term').slice(0, 1),
    write,
  ]),
  'R7: a term is left out': (history, name) => {
    const last = own(history, name, 'term').at(-1)?.term;
    return history.map((event) =>
      'term' in event && event.conversation === name && event.term === last
        ? { ...event, term: event.term + 1 }
        : event,
    );
  },
  'R8 (R7): a term has two owners': beforeLast('term', (term) => ({ ...term, owner: 'pod-elsewhere/x' })),
  'R9: a write of an older term is taken': changeLast('write', (write, history, name) =>
    own(history, name, 'term').length < 2
      ? undefined
      : [{ type: 'write', conversation: name, run: write.run, term: 1, accepted: true }, write],
  ),
  'R9: something is written after the end': beforeLast('run-final', (term) => ({
    ...term,
    type: 'write',
    accepted: true,
  })),
  'R9: it is taken over after its end': beforeLast('run-final', (term) => ({ ...term, term: term.term + 1 })),
  'R10: a pod writes under a term of another': beforeLast('run-final', (term) => ({
    ...term,
    type: 'attempt',
    pod: 'pod-elsewhere',
  })),
};

/** Changes the last text that the connection with the clean end has shown. */
const changeLastShown = (change: (text: string) => readonly string[]): Plant =>
  changeLast('seen', (last) => change(last.text).map((shown) => ({ ...last, text: shown })));

const readers: Defects = {
  'R11: a reader sees text out of order': changeLastShown((shown) => [
    `${shown.slice(5)}${shown.slice(0, 5)}`,
    shown,
  ]),
  'R11: a reader sees text again': changeLastShown((shown) => [shown, shown + shown.slice(-4)]),
  'R11: text is taken back from a reader': changeLastShown((shown) => [shown, shown.slice(0, 9), shown]),
  'R11: a replay begins in the middle': changeLastShown((shown) => [shown.slice(7)]),
  'R11: a stream ends cleanly too early': changeLastShown(() => []),
};

const stores: Defects = {
  'R12: text is not stored': dropStored((one) => one.type === 'text' && one.text === 'Looking again. '),
  'R12: text is stored twice': repeatStored(({ type }) => type === 'text'),
  "R12: the person's message is lost": dropStored(isMessage),
  "R12: the person's message is stored twice": repeatStored(isMessage),
  'R12: another output is stored': changeStored((one) => [
    resultOf('look#2')(one) ? { ...one, output: 'something else' } : one,
  ]),
  'R12: a result is lost': dropStored(resultOf('look#2')),
  'R13: it stays in an index': changeFinal(() => ({ remaining: ['the index'] })),
};

/** One defect each, for any conversation of any history. */
export const RUN_DEFECTS: Defects = {
  ...endings,
  ...feeds,
  ...effects,
  ...questions,
  ...approvals,
  ...owners,
  ...readers,
  ...stores,
};
