import { isDeepStrictEqual } from 'node:util';
import { eventNumberOf } from '@parley/core/domain/events';
import { currentEvents, isTurnEnd, type RunCase, textByStep, wholeText } from '../run-case.ts';
import type { FeedEvent, StoredMessage } from '../run-events.ts';

/** R1: one run, which finished, with one end in its feed and one in Redis. */
export function* finishesOnce({ begun, done, finals }: RunCase): Generator<string> {
  if (begun.length !== 1) yield `it began ${begun.length} runs`;
  const [final] = finals;
  if (final === undefined) return yield 'it never came to an end';
  if (final.status !== 'finished') yield `it is ${final.status} at the end`;
  const ends = done.filter((event) => event.type === 'write' && event.accepted && event.ends !== undefined);
  if (ends.length !== 1) yield `its end was written ${ends.length} times`;
  const endings = final.feed.filter(isTurnEnd);
  if (endings.length !== 1) yield `its end was appended ${endings.length} times`;
  const last = final.feed.at(-1);
  if (endings.length > 0 && last !== undefined && !isTurnEnd(last))
    yield `${last.name} was appended after its end`;
}

/** R2: the feed has no gap, its steps follow each other, and the text of each is the model's. */
export function* appendedWhole({ said, finals }: RunCase): Generator<string> {
  for (const { feed } of finals) {
    yield* gapsIn(feed);
    const steps = currentEvents(feed).flatMap(({ name, step }) => (name === 'step-started' ? [step] : []));
    const isInOrder = steps.every((step, at) => step === at);
    if (!isInOrder) yield `its steps stand as ${steps.join(', ')}`;
    const texts = textByStep(feed);
    for (const step of new Set(said.map((one) => one.step))) {
      const appended = texts.get(step) ?? '';
      const isSaid = said.some((one) => one.step === step && one.text === appended);
      if (!isSaid) yield `the text of step ${step} is not what the model said`;
    }
    for (const step of texts.keys())
      if (!said.some((one) => one.step === step)) yield `the model said nothing in step ${step}`;
  }
}

function* gapsIn(feed: readonly FeedEvent[]): Generator<string> {
  for (const [at, { id }] of feed.entries()) {
    const [epoch, seq = ''] = id.split('-');
    if (epoch !== feed[0]?.id.split('-')[0]) yield `its feed has a second epoch at ${id}`;
    if (eventNumberOf({ seq: Number(seq) }) !== at + 1)
      return yield `its feed has ${id} as its event ${at + 1}`;
  }
}

/** R11: a connection only adds to what it shows, which is always a prefix of the whole text. */
export function* readInOrder({ readings, finals: [final] }: RunCase): Generator<string> {
  if (final === undefined) return;
  const whole = wholeText(final.feed);
  for (const [connection, { texts, clean }] of readings) {
    for (const [at, text] of texts.entries()) {
      const isLonger = text.startsWith(texts[at - 1] ?? '');
      if (isLonger && whole.startsWith(text)) continue;
      yield `${connection} ${isLonger ? 'shows what was not appended' : 'takes text back'}`;
      break;
    }
    if (clean === true && (texts.at(-1) ?? '') !== whole)
      yield `${connection} ended like a finished turn, and has not shown all of it`;
  }
}

/** R12: the stored messages hold the turn's text and outcomes, once and in order. */
export function* storesTheFeed({ finals }: RunCase): Generator<string> {
  for (const { feed, stored } of finals) {
    const messages = stored.filter(({ type }) => type === 'message');
    if (messages.length !== 1 || stored[0]?.type !== 'message')
      yield `it stores ${messages.length} messages of the person`;
    const text = stored.map((one) => (one.type === 'text' ? one.text : '')).join('');
    if (text !== wholeText(feed)) yield 'its stored text is not that of the feed';
    yield* resultsDiffer(feed, stored);
  }
}

function* resultsDiffer(feed: readonly FeedEvent[], stored: readonly StoredMessage[]): Generator<string> {
  const outcomes = currentEvents(feed).filter(({ outcome }) => outcome !== undefined);
  const results = stored.filter((one) => one.type === 'result');
  const called = stored.filter((one) => one.type === 'called');
  for (const { call } of called)
    if (results.filter((one) => one.call === call).length !== 1) yield `${call} has not one result`;
  for (const { call, outcome, output, answer } of results) {
    const same = outcomes.find((one) => one.call === call);
    if (same === undefined) yield `the outcome of ${call} is stored and was not appended`;
    else if (same.outcome !== outcome) yield `${call} is stored as ${outcome}, appended as ${same.outcome}`;
    // Readers learn that there is an answer; only the model learns which.
    else if (answer === undefined && !isDeepStrictEqual(same.output, output))
      yield `the output of ${call} is stored otherwise than appended`;
  }
  for (const { call } of outcomes)
    if (!results.some((one) => one.call === call)) yield `the outcome of ${call} is not stored`;
}

/** R13: no index, queue or inbox holds it any more. */
export function* nothingRemains({ finals }: RunCase): Generator<string> {
  for (const { remaining } of finals) for (const place of remaining) yield `it is still in ${place}`;
}
