import { currentEvents, type RunCase } from '../run-case.ts';
import type { FeedEvent } from '../run-events.ts';

/** R3: no call with an effect is made twice. */
export function* effectsOnce({ calls }: RunCase): Generator<string> {
  for (const [call, { times, effect }] of arrivalsOf(calls))
    if (effect && times > 1) yield `${call} reached its server ${times} times`;
}

/** R4: one outcome for each call that was announced, and one that agrees with what its server saw. */
export function* outcomesAreTrue({ calls, decided, finals }: RunCase): Generator<string> {
  const arrivals = arrivalsOf(calls);
  const denied = new Set(
    decided.flatMap((event) => (event.type === 'decision' && event.choice === 'deny' ? [event.call] : [])),
  );
  for (const { feed } of finals) {
    const current = currentEvents(feed);
    const outcomes = current.filter(({ outcome }) => outcome !== undefined);
    const announced = current.filter(({ name }) => name === 'tool-called').map(({ call }) => call ?? '');
    for (const call of new Set([...announced, ...arrivals.keys()])) {
      const appended = outcomes.filter((one) => one.call === call);
      if (announced.filter((one) => one === call).length !== 1) yield `${call} was not announced once`;
      if (appended.length !== 1) yield `the outcome of ${call} was appended ${appended.length} times`;
      const untruth = appended
        .map((one) => untruthOf(one, arrivals.get(call), denied.has(call)))
        .find((one) => one !== undefined);
      if (untruth !== undefined) yield `${call} ${untruth}`;
    }
  }
}

interface Arrivals {
  readonly effect: boolean;
  readonly times: number;
}

function untruthOf(
  { outcome, call }: FeedEvent,
  arrivals: Arrivals | undefined,
  isDenied: boolean,
): string | undefined {
  if (isQuestion(call)) return outcome === 'returned' ? undefined : `came to nothing: ${outcome}`;
  if (outcome === 'failed' && isDenied && arrivals === undefined) return undefined;
  if (outcome === 'failed')
    return `is appended as failed, and reached its server ${arrivals?.times ?? 0} times`;
  if (outcome === 'returned' && arrivals === undefined)
    return 'is appended as returned, and never reached its server';
  // Its server declares that a repetition does no harm.
  if (outcome === 'unknown' && arrivals?.effect === false) return 'is harmless, and was not repeated';
  return undefined;
}

function arrivalsOf(calls: RunCase['calls']): Map<string, Arrivals> {
  const arrivals = new Map<string, Arrivals>();
  for (const { call, effect } of calls)
    arrivals.set(call, { effect, times: (arrivals.get(call)?.times ?? 0) + 1 });
  return arrivals;
}

/** R5: each question of the model is one elicitation, shown once and settled once. */
export function* questionsOnce({ finals }: RunCase): Generator<string> {
  for (const { feed } of finals) {
    const asked = feed.filter(({ name }) => name === 'elicitation-request');
    const ids = new Set(asked.map(({ elicitationId }) => elicitationId));
    const questions = currentEvents(feed).filter(
      ({ name, call }) => name === 'tool-called' && isQuestion(call),
    );
    if (ids.size !== questions.length)
      yield `${questions.length} questions of the model became ${ids.size} elicitations`;
    if (asked.length !== ids.size) yield 'an elicitation is shown as new more than once';
    const settled = feed.filter(({ name }) => name === 'elicitation-resolved');
    if (settled.length !== ids.size) yield `${ids.size} elicitations were settled ${settled.length} times`;
  }
}

/** R6: the model gets the person's answer, and no answer that the person did not give. */
export function* answersAreUsed({ answers, finals }: RunCase): Generator<string> {
  const taken = new Set(answers.filter(({ httpStatus }) => httpStatus === 200).map(({ answer }) => answer));
  // An answer without a reply may be the one that counts.
  const possible = new Set(answers.map(({ answer }) => answer));
  for (const { stored } of finals) {
    const used = new Set(
      stored.flatMap((one) => (one.type === 'result' && isQuestion(one.call) ? [one.answer] : [])),
    );
    for (const answer of taken) if (!used.has(answer)) yield 'an answer that was taken is not used';
    for (const answer of used)
      if (answer === undefined || !possible.has(answer)) yield 'an answer is used that the person never gave';
  }
}

/** Questions are calls of the built-in tool. */
export function isQuestion(call: string | undefined): boolean {
  return call?.startsWith('elicit') === true;
}
