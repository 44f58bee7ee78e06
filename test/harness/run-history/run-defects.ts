import type { CallOutcome, FeedEvent, RunEvent, TermEvent } from './events.ts';
import { textOf } from './index-runs.ts';
import {
  both,
  ending,
  ofType,
  type RunWrongs,
  remembering,
  replaced,
  telling,
  type Wrong,
} from './run-planting.ts';

/** Puts an event before the last one of a type. */
function beforeLast(
  type: 'term' | 'write' | 'final',
  make: (run: readonly RunEvent[], conversation: string) => RunEvent | undefined,
): Wrong {
  return (run, conversation) => {
    const last = ofType(run, conversation, type).at(-1);
    const event = make(run, conversation);
    return last === undefined || event === undefined ? undefined : replaced(run, last, event, last);
  };
}

const termAt = (run: readonly RunEvent[], conversation: string, at: number): TermEvent | undefined =>
  ofType(run, conversation, 'term').at(at);
const isCall = (call: string) => (event: { readonly call?: string | undefined }) => event.call === call;
const isOutcome = (event: FeedEvent, call: string) => event.outcome !== undefined && isCall(call)(event);
const isText = (event: FeedEvent, text: string) => event.name === 'text-delta' && event.text === text;

/** A call's outcome, told and remembered as another one. */
const cameTo = (call: string, outcome: CallOutcome): Wrong =>
  both(
    telling((event) => [isOutcome(event, call) ? { ...event, outcome } : event]),
    remembering((one) => [one.type === 'result' && isCall(call)(one) ? { ...one, outcome } : one]),
  );

/** Another answer than the person's, where the model hears it. */
const heardAnswer = (answer: string | undefined): Wrong =>
  remembering((one) => [
    one.type === 'result' && one.answer !== undefined
      ? { ...one, answer, output: { status: 'accepted', ...(answer !== undefined && { answer }) } }
      : one,
  ]);

const ends: RunWrongs = {
  'R1: it never comes to an end': (run, name) => replaced(run, ofType(run, name, 'final')[0]),
  'R1: it ends as interrupted': (run, name) => ending(run, name, () => ({ status: 'failed' })),
  'R1: it begins twice': (run, name) => {
    const [begun] = ofType(run, name, 'begun');
    return begun === undefined ? undefined : replaced(run, begun, begun, { ...begun, run: 'run-again' });
  },
  'R1 (R9): its end is written twice': (run, name) => {
    const end = ofType(run, name, 'write').at(-1);
    return end === undefined ? undefined : replaced(run, end, end, end);
  },
  'R1: its end is told twice': telling((event) =>
    event.name === 'turn-finished' ? [event, event] : [event],
  ),
  'R1: something is told after its end': telling((event, at, feed) =>
    at === feed.length - 1 ? [event, { id: '', name: 'tool-progress' }] : [event],
  ),
};

const told: RunWrongs = {
  'R2 (R11, R12): text is lost': telling((event) => (isText(event, 'Looking again. ') ? [] : [event])),
  'R2 (R11, R12): text is told twice': telling((event) =>
    isText(event, 'Looking again. ') ? [event, event] : [event],
  ),
  'R2 (R11, R12): text is told out of order': telling((event, at, feed) => {
    if (isText(event, 'all of it.')) return [];
    return isText(event, 'Done: ') && feed.slice(at + 1).some((one) => isText(one, 'all of it.'))
      ? feed.filter((one) => isText(one, 'all of it.')).concat(event)
      : [event];
  }),
  'R2 (R11, R12): a step is told again and the old telling stands': (run, name) =>
    ofType(run, name, 'final').some(({ feed }) => feed.some((event) => event.name === 'step-restarted'))
      ? telling((event) => (event.name === 'step-restarted' ? [] : [event]))(run, name)
      : undefined,
  'R2: an event of the feed is gone': (run, name) =>
    ending(run, name, ({ feed }) => ({ feed: feed.filter((event) => event.name !== 'step-finished') })),
  'R2: the feed was lost and made anew': (run, name) =>
    ending(run, name, ({ feed }) => ({
      feed: feed.map((event, at) => (at < 5 ? event : { ...event, id: event.id.replace('7-', '8-') })),
    })),
};

const effects: RunWrongs = {
  'R3: a booking is made twice': (run, name) => {
    const booking = ofType(run, name, 'call').find(isCall('book#1'));
    return booking === undefined ? undefined : replaced(run, booking, booking, booking);
  },
  'R4: a call is told as made that was not': (run, name) =>
    replaced(run, ofType(run, name, 'call').find(isCall('look#2'))),
  'R4: a call is told as failed that was made': cameTo('look#2', 'failed'),
  'R4: a harmless call is not repeated': cameTo('look#1', 'unknown'),
  'R4: an outcome is told twice': telling((event) => (isOutcome(event, 'look#2') ? [event, event] : [event])),
  'R4 (R12): an outcome is not told': telling((event) => (isOutcome(event, 'look#1') ? [] : [event])),
  'R4: a call is announced twice': telling((event) =>
    event.name === 'tool-called' && isCall('look#1')(event) ? [event, event] : [event],
  ),
};

const questions: RunWrongs = {
  'R5: a question is asked twice': telling((event) =>
    event.name.startsWith('elicitation-') ? [event, { ...event, elicitationId: 'el-again' }] : [event],
  ),
  'R5: a question is shown as new twice': telling((event) =>
    event.name === 'elicitation-request' ? [event, event] : [event],
  ),
  'R5: a question is settled twice': telling((event) =>
    event.name === 'elicitation-resolved' ? [event, event] : [event],
  ),
  'R5: a question is never settled': telling((event) =>
    event.name === 'elicitation-resolved' ? [] : [event],
  ),
  'R6: an answer is lost': heardAnswer(undefined),
  'R6: an answer is used that nobody gave': heardAnswer('13F'),
};

const owners: RunWrongs = {
  'R7: a term comes back': beforeLast('write', (run, name) => termAt(run, name, 0)),
  'R7: a term is left out': (run, name) => {
    const last = termAt(run, name, -1)?.term;
    return run.map((event) =>
      'term' in event && event.conversation === name && event.term === last
        ? { ...event, term: event.term + 1 }
        : event,
    );
  },
  'R8 (R7): a term has two owners': beforeLast('term', (run, name) => {
    const term = termAt(run, name, -1);
    return term === undefined ? undefined : { ...term, owner: 'pod-elsewhere/x' };
  }),
  'R9: a write of an older term is taken': beforeLast('write', (run, name) => {
    const [first, second] = ofType(run, name, 'term');
    if (first === undefined || second === undefined) return undefined;
    return { type: 'write', conversation: name, run: first.run, term: 1, accepted: true };
  }),
  'R9: something is written after the end': beforeLast('final', (run, name) => {
    const term = termAt(run, name, -1);
    return term === undefined ? undefined : { ...term, type: 'write', accepted: true };
  }),
  'R9: it is taken over after its end': beforeLast('final', (run, name) => {
    const term = termAt(run, name, -1);
    return term === undefined ? undefined : { ...term, term: term.term + 1 };
  }),
  'R10: a pod writes under a term of another': beforeLast('final', (run, name) => {
    const term = termAt(run, name, -1);
    return term === undefined ? undefined : { ...term, type: 'attempt', pod: 'pod-elsewhere' };
  }),
};

/** Changes the last thing that the connection that ended well has shown. */
const lastShown =
  (change: (text: string, whole: string) => readonly string[]): Wrong =>
  (run, name) => {
    const last = ofType(run, name, 'seen').at(-1);
    const whole = ofType(run, name, 'final').map(({ feed }) => textOf(feed))[0] ?? '';
    if (last === undefined) return undefined;
    return replaced(run, last, ...change(last.text, whole).map((text) => ({ ...last, text })));
  };

const readers: RunWrongs = {
  'R11: a reader sees text out of order': lastShown((text) => [`${text.slice(5)}${text.slice(0, 5)}`, text]),
  'R11: a reader sees text again': lastShown((text) => [text, text + text.slice(-4)]),
  'R11: text is taken back from a reader': lastShown((text) => [text, text.slice(0, 9), text]),
  'R11: a replay begins in the middle': lastShown((text) => [text.slice(7)]),
  'R11: a stream ends like a finished turn too early': lastShown(() => []),
};

const memory: RunWrongs = {
  'R12: text is not remembered': remembering((one) =>
    one.type === 'text' && one.text === 'Looking again. ' ? [] : [one],
  ),
  'R12: text is remembered twice': remembering((one) => (one.type === 'text' ? [one, one] : [one])),
  'R12: what the person said is lost': remembering((one) => (one.type === 'heard' ? [] : [one])),
  'R12: what the person said is remembered twice': remembering((one) =>
    one.type === 'heard' ? [one, one] : [one],
  ),
  'R12: an outcome is remembered otherwise': remembering((one) => [
    one.type === 'result' && one.call === 'look#2' ? { ...one, output: 'something else' } : one,
  ]),
  'R12: a result is lost': remembering((one) =>
    one.type === 'result' && one.call === 'look#2' ? [] : [one],
  ),
  'R13: it stays in an index': (run, name) => ending(run, name, () => ({ left: ['the index'] })),
};

/** One wrong each, for any conversation of any history. */
export const RUN_DEFECTS: RunWrongs = {
  ...ends,
  ...told,
  ...effects,
  ...questions,
  ...owners,
  ...readers,
  ...memory,
};
