import { isDeepStrictEqual } from 'node:util';
import type { FeedEvent, FinalEvent, Remembered } from './events.ts';
import { isEnding, type RunDossier, standingOf, textOf, textsOf } from './index-runs.ts';

/** R1: one run, which ended well, with one end in its feed and one in Redis. */
export function* finishesOnce({ begun, done, finals }: RunDossier): Generator<string> {
  if (begun.length !== 1) yield `it began ${begun.length} runs`;
  const [final] = finals;
  if (final === undefined) return yield 'it never came to an end';
  if (final.status !== 'finished') yield `it is ${final.status} at the end`;
  const ends = done.filter((event) => event.type === 'write' && event.accepted && event.ends !== undefined);
  if (ends.length !== 1) yield `its end was written ${ends.length} times`;
  const told = final.feed.filter(isEnding);
  if (told.length !== 1) yield `its end was told ${told.length} times`;
  const last = final.feed.at(-1);
  if (told.length > 0 && last !== undefined && !isEnding(last)) yield `${last.name} was told after its end`;
}

/** R2: the feed has no gap, its steps follow each other, and the text of each is the model's. */
export function* toldWhole({ said, finals }: RunDossier): Generator<string> {
  for (const { feed } of finals) {
    yield* gapsIn(feed);
    const steps = standingOf(feed).flatMap(({ name, step }) => (name === 'step-started' ? [step] : []));
    const isInOrder = steps.every((step, at) => step === at);
    if (!isInOrder) yield `its steps are told as ${steps.join(', ')}`;
    const texts = textsOf(feed);
    for (const step of new Set(said.map((one) => one.step))) {
      const told = texts.get(step) ?? '';
      const isSaid = said.some((one) => one.step === step && one.text === told);
      if (!isSaid) yield `what is told of step ${step} is not what the model said`;
    }
    for (const step of texts.keys())
      if (!said.some((one) => one.step === step)) yield `the model said nothing in step ${step}`;
  }
}

function* gapsIn(feed: readonly FeedEvent[]): Generator<string> {
  for (const [at, { id }] of feed.entries()) {
    const [epoch, seq] = id.split('-');
    if (epoch !== feed[0]?.id.split('-')[0]) yield `its feed has a second epoch at ${id}`;
    if (seq !== `${at + 1}`) return yield `its feed has ${id} as its event ${at + 1}`;
  }
}

/** R11: a connection only ever adds to what it shows, which is how the whole text begins. */
export function* readInOrder({ readings, finals: [final] }: RunDossier): Generator<string> {
  if (final === undefined) return;
  const whole = textOf(final.feed);
  for (const [connection, { texts, clean }] of readings) {
    for (const [at, text] of texts.entries()) {
      const isLonger = text.startsWith(texts[at - 1] ?? '');
      if (isLonger && whole.startsWith(text)) continue;
      yield `${connection} ${isLonger ? 'shows what was not told' : 'takes text back'}`;
      break;
    }
    if (clean === true && (texts.at(-1) ?? '') !== whole)
      yield `${connection} ended like a finished turn, and has not shown all of it`;
  }
}

/** R12: the conversation has the turn's own words and outcomes, once and in order. */
export function* remembersWhatWasTold({ conversation, finals }: RunDossier): Generator<string> {
  for (const { feed, remembered } of finals) {
    const heard = remembered.filter(({ type }) => type === 'heard');
    if (heard.length !== 1 || remembered[0]?.type !== 'heard')
      yield `${conversation} remembers ${heard.length} messages of the person's`;
    const text = remembered.map((one) => (one.type === 'text' ? one.text : '')).join('');
    if (text !== textOf(feed)) yield 'its text is not what was told';
    yield* resultsDiffer(feed, remembered);
  }
}

function* resultsDiffer(feed: FinalEvent['feed'], remembered: readonly Remembered[]): Generator<string> {
  const told = standingOf(feed).filter(({ outcome }) => outcome !== undefined);
  const results = remembered.filter((one) => one.type === 'result');
  const called = remembered.filter((one) => one.type === 'called');
  for (const { call } of called)
    if (results.filter((one) => one.call === call).length !== 1) yield `${call} has not one result`;
  for (const { call, outcome, output, answer } of results) {
    const same = told.find((one) => one.call === call);
    if (same === undefined) yield `the outcome of ${call} is remembered and was not told`;
    else if (same.outcome !== outcome) yield `${call} is remembered as ${outcome}, told as ${same.outcome}`;
    // Readers hear that there is an answer; only the model hears which.
    else if (answer === undefined && !isDeepStrictEqual(same.output, output))
      yield `what ${call} came to is remembered otherwise than told`;
  }
  for (const { call } of told)
    if (!results.some((one) => one.call === call)) yield `the outcome of ${call} is not remembered`;
}

/** R13: no index, queue or inbox has it any more. */
export function* nothingIsLeft({ finals }: RunDossier): Generator<string> {
  for (const { left } of finals) for (const what of left) yield `it is still in ${what}`;
}
