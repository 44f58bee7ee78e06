import type { Claim, ElicitationCase } from '../elicitation-case.ts';
import { claimKey, getOrAdd, groupBy, type IndexedHistory } from '../index-history.ts';
import { agree, canonical, isTerminal, label, verdictOf } from '../outcome.ts';
import type { Breach } from '../rule.ts';

type Result = 'taken' | 'conflict' | 'too late' | 'unknown id' | 'invalid';

const RESULT_OF_REFUSAL: Readonly<Record<number, Result>> = {
  400: 'invalid',
  404: 'unknown id',
  409: 'conflict',
  410: 'too late',
  422: 'invalid',
};

/** I13: the same answer under the same response id always gets the same result. */
export function* sameResponseSameResult({ claims }: ElicitationCase): Generator<string> {
  for (const [, group] of groupBy(claims, repeatKey)) if (group.length > 1) yield* repeatBreaches(group);
}

/** A response id used again for another answer is another matter, which I3 and I4 judge. */
function repeatKey({ event, status, content }: Claim): string | undefined {
  if (event.type !== 'respond' || event.responseId === undefined) return undefined;
  const { by, responseId } = event;
  return JSON.stringify([by.tenant, by.userId, responseId, status, content ?? canonical(event.content)]);
}

function* repeatBreaches(group: readonly Claim[]): Generator<string> {
  const results = groupBy(group, resultOf);
  for (const [index, [left, lefts]] of results.entries()) {
    for (const [right, rights] of results.slice(index + 1)) {
      if (!mayBoth(left, lefts, right, rights) && !mayBoth(right, rights, left, lefts)) {
        yield `one response id got "${left}" at ${lefts[0]?.event.at} and "${right}" at ${rights[0]?.event.at}`;
      }
    }
  }
  const ends = group.flatMap(({ recorded }) => (recorded && isTerminal(recorded.status) ? [recorded] : []));
  const other = ends.find((end) => ends[0] && !agree(ends[0], end));
  if (ends[0] && other) yield `one response id was shown ${label(ends[0])} and ${label(other)}`;
}

/** Undefined for replies that carry no result: unknown outcomes, and refusals before the command is read (401, 413, 429). */
function resultOf({ verdict, event }: Claim): Result | undefined {
  return verdict === 'acked' ? 'taken' : RESULT_OF_REFUSAL[event.httpStatus];
}

function mayBoth(left: string, lefts: readonly Claim[], right: string, rights: readonly Claim[]): boolean {
  const settledElsewhere = right === 'conflict' || right === 'too late';
  // An invalid answer stays invalid; the elicitation may end in between.
  if (left === 'invalid') return settledElsewhere;
  // Consent to open is not the end: the person may decline later, or the time may run out. Never the other way round.
  if (left !== 'taken' || !settledElsewhere || !lefts.every(isMereConsent)) return false;
  const refusedAt = Math.min(...rights.map(({ event }) => event.at));
  return lefts.every(({ event }) => event.startedAt <= refusedAt);
}

function isMereConsent({ recorded, role }: Claim): boolean {
  return role === 'consents' && recorded?.status === 'opened';
}

/** I13 for asks: one Idempotency-Key names one elicitation. */
export function* sameKeySameElicitation({ asks }: IndexedHistory): Generator<Breach> {
  const ids = new Map<string, string>();
  for (const ask of asks) {
    const key = claimKey(ask);
    const { elicitationId } = ask;
    if (key === undefined || elicitationId === undefined || verdictOf(ask.httpStatus) !== 'acked') continue;
    const first = getOrAdd(ids, key, () => elicitationId);
    if (first !== elicitationId)
      yield { subject: elicitationId, message: `its Idempotency-Key already made ${first}` };
  }
}
