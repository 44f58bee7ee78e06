import { type Claim, type ElicitationCase, type View, wholeOutcome } from '../elicitation-case.ts';
import type { IndexedHistory } from '../index-history.ts';
import {
  agree,
  isTerminal,
  label,
  type Outcome,
  outcomeKey,
  sameOwner,
  uniqueBy,
  verdictOf,
} from '../outcome.ts';
import type { Breach } from '../rule.ts';

/** I1: every acknowledged elicitation has ended once all is quiet. */
export function* everyAskEnds({ ask, finals }: ElicitationCase): Generator<string> {
  if (!ask) return;
  const final = finals[0];
  if (!final) yield 'asked and acknowledged, but no read found it at the end';
  else if (!isTerminal(final.status)) yield `asked and acknowledged, but still ${final.status} at the end`;
}

/** I1 for asks: an acknowledged ask names its elicitation. */
export function* everyAckHasAnId({ asks }: IndexedHistory): Generator<Breach> {
  for (const { httpStatus, elicitationId, at } of asks) {
    if (verdictOf(httpStatus) === 'acked' && elicitationId === undefined) {
      yield { message: `an ask was acknowledged with ${httpStatus} at ${at}, without an id` };
    }
  }
}

/** I2: no two observers see different terminal states. */
export function* oneTerminalForAll({ views }: ElicitationCase): Generator<string> {
  const ends = uniqueBy(
    views.filter(({ status }) => isTerminal(status)),
    outcomeKey,
  );
  for (const [left, right] of clashes(ends)) {
    yield `${left.source} showed ${label(left)} at ${left.at}, ${right.source} showed ${label(right)} at ${right.at}`;
  }
}

/** I3: all acknowledgements of one elicitation stand for one recorded outcome. */
export function* oneAckedOutcome({ claims }: ElicitationCase): Generator<string> {
  const acked: Outcome[] = [];
  for (const claim of claims) {
    if (claim.verdict !== 'acked') continue;
    if (claim.recorded && isTerminal(claim.recorded.status)) acked.push(claim.recorded);
    if (claim.role === 'settles') acked.push(claim);
  }
  for (const [left, right] of clashes(uniqueBy(acked, outcomeKey))) {
    yield `${label(left)} and ${label(right)} were both acknowledged`;
  }
}

/** I4: what was acknowledged is what the reply shows, what is recorded at the end, and what every waiter got. */
export function* ackedIsRecorded(record: ElicitationCase): Generator<string> {
  const acked = record.claims.filter(({ verdict }) => verdict === 'acked');
  for (const claim of acked) yield* replyBreach(claim);
  const answers = uniqueBy(
    acked.filter(({ role }) => role === 'settles'),
    outcomeKey,
  );
  if (answers.length === 0) return;
  const shownLater = record.views.filter(
    ({ source, status }) => source === 'final' || (source === 'wait' && isTerminal(status)),
  );
  for (const view of uniqueBy(shownLater, (each) => `${each.source} ${outcomeKey(each)}`)) {
    const shown = wholeOutcome(view, record.kind);
    const denied = answers.find((answer) => !agree(answer, shown));
    if (!denied) continue;
    yield `${label(denied)} was acknowledged at ${denied.event.at}, but ${view.source} shows ${label(shown)}`;
  }
}

function* replyBreach(claim: Claim): Generator<string> {
  const { role, recorded, event } = claim;
  const what = `${event.type} acknowledged at ${event.at}`;
  if (role === 'void') yield `${what}, which cannot settle this kind of elicitation`;
  if (!recorded) return;
  if (role === 'settles' && !agree(claim, recorded)) {
    yield `${what} as ${label(claim)}, but its reply shows ${label(recorded)}`;
  }
  if (role === 'consents' && recorded.status !== 'opened' && recorded.status !== 'accepted') {
    yield `${what} as consent to open, but its reply shows ${label(recorded)}`;
  }
}

/** I5: an outcome is seen only after some client sent a command for it. */
export function* nothingFromNowhere({ views, claims }: ElicitationCase): Generator<string> {
  const sent = new Map<string, number>();
  const sentByStatus = new Map<string, number>();
  for (const claim of claims) {
    if (!mayHaveSettled(claim) || claim.ofAnother) continue;
    keepEarliest(sent, outcomeKey(claim), claim.event.startedAt);
    keepEarliest(sentByStatus, claim.status, claim.event.startedAt);
  }
  const sentSince = (view: View) => {
    const since = view.content === undefined ? sentByStatus.get(view.status) : sent.get(outcomeKey(view));
    return since ?? Number.POSITIVE_INFINITY;
  };
  const reported = new Set<string>();
  for (const view of views) {
    if (!isTerminal(view.status) || view.status === 'expired' || reported.has(outcomeKey(view))) continue;
    const since = sentSince(view);
    if (since <= view.at) continue;
    reported.add(outcomeKey(view));
    const why =
      since === Number.POSITIVE_INFINITY ? 'but no client sent that' : `but it was first sent at ${since}`;
    yield `${view.source} shows ${label(view)} at ${view.at}, ${why}`;
  }
}

function keepEarliest(map: Map<string, number>, key: string, at: number): void {
  map.set(key, Math.min(map.get(key) ?? at, at));
}

/** I10: only the owner's answer is taken. */
export function* onlyTheOwnerAnswers({ claims, ask, finals }: ElicitationCase): Generator<string> {
  for (const { ofAnother, verdict, event } of claims) {
    if (ofAnother && verdict === 'acked')
      yield `a ${event.type} by another caller was acknowledged at ${event.at}`;
  }
  for (const { owner, status } of finals) {
    if (ask && !sameOwner(owner, ask.owner)) yield 'the owner at the end is not the one it was asked for';
    const explaining = claims.filter((claim) => claim.status === status && mayHaveSettled(claim));
    if (explaining.length > 0 && explaining.every(({ ofAnother }) => ofAnother)) {
      yield `only a call by another caller explains ${status}`;
    }
  }
}

function mayHaveSettled({ verdict, role }: Claim): boolean {
  return verdict !== 'refused' && (role === 'settles' || role === 'either');
}

/** Pairs that contradict each other; every outcome is compared with the first of its status and the first of all. */
function clashes<T extends Outcome>(outcomes: readonly T[]): [T, T][] {
  const [first] = outcomes;
  if (!first) return [];
  const shown = new Map<string, T>();
  const pairs: [T, T][] = [];
  for (const outcome of outcomes) {
    if (outcome.status !== first.status) pairs.push([first, outcome]);
    if (outcome.content === undefined) continue;
    const earlier = shown.get(outcome.status);
    if (earlier) pairs.push([earlier, outcome]);
    else shown.set(outcome.status, outcome);
  }
  return pairs;
}
