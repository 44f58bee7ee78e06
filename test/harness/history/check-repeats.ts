import type { Claim, Dossier } from './dossier.ts';
import { claimKey, getOrAdd, type IndexedHistory } from './index-history.ts';
import { agree, canonical, isTerminal, label, verdictOf } from './outcome.ts';
import type { Finding } from './rules.ts';

type Result = 'taken' | 'conflict' | 'too late' | 'unknown id' | 'invalid';

const RESULT_OF_REFUSAL: Readonly<Record<number, Result>> = {
  400: 'invalid',
  404: 'unknown id',
  409: 'conflict',
  410: 'too late',
  422: 'invalid',
};

/** I13: the same answer under the same response id always gets the same result. */
export function* sameResponseSameResult({ claims }: Dossier): Generator<string> {
  const repeats = new Map<string, Claim[]>();
  for (const claim of claims) {
    const key = repeatKey(claim);
    if (key !== undefined) getOrAdd(repeats, key, (): Claim[] => []).push(claim);
  }
  for (const group of repeats.values()) {
    if (group.length > 1) yield* repeatBreaches(group);
  }
}

/** A response id used again for another answer is another question, which I3 and I4 look into. */
function repeatKey({ event, status, content }: Claim): string | undefined {
  if (event.type !== 'respond' || event.responseId === undefined) return undefined;
  const { by, responseId } = event;
  return JSON.stringify([by.tenant, by.userId, responseId, status, content ?? canonical(event.content)]);
}

function* repeatBreaches(group: readonly Claim[]): Generator<string> {
  const byResult = new Map<Result, Claim[]>();
  for (const claim of group) {
    const result = resultOf(claim);
    if (result) getOrAdd(byResult, result, (): Claim[] => []).push(claim);
  }
  const results = [...byResult];
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

/** Nothing for what says nothing about the elicitation: unknown outcomes, and refusals at the door (401, 413, 429). */
function resultOf({ verdict, event }: Claim): Result | undefined {
  return verdict === 'acked' ? 'taken' : RESULT_OF_REFUSAL[event.httpStatus];
}

function mayBoth(left: Result, lefts: readonly Claim[], right: Result, rights: readonly Claim[]): boolean {
  const settledElsewhere = right === 'conflict' || right === 'too late';
  // An answer that does not fit stays unfit; the question may end meanwhile.
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
export function* sameKeySameElicitation({ asks }: IndexedHistory): Generator<Finding> {
  const ids = new Map<string, string>();
  for (const ask of asks) {
    const key = claimKey(ask);
    const { elicitationId } = ask;
    if (key === undefined || elicitationId === undefined || verdictOf(ask.httpStatus) !== 'acked') continue;
    const first = getOrAdd(ids, key, () => elicitationId);
    if (first !== elicitationId)
      yield {
        elicitationId,
        message: `its Idempotency-Key already made ${first}`,
      };
  }
}
