import { type ElicitationCase, type View, wholeOutcome } from '../elicitation-case.ts';
import type { AskEvent, Owner } from '../events.ts';
import { claimKey, getOrAdd, type IndexedHistory } from '../index-history.ts';
import { EMPTY_CONTENT, isTerminal, label, outcomeKey, STATUS_OF_ACTION, verdictOf } from '../outcome.ts';
import type { Breach } from '../rule.ts';

/** I16 for views: an outcome shows all its parts, or none. */
export function* nothingByHalves(record: ElicitationCase): Generator<string> {
  const { views, finals, kind, claims } = record;
  const reported = new Set<string>();
  for (const view of views) {
    const breach = halfView(view, record);
    if (!breach || reported.has(breach)) continue;
    reported.add(breach);
    yield `${view.source} at ${view.at}: ${breach}`;
  }
  const wasEmpty = claims.some(({ status, content }) => status === 'accepted' && content === EMPTY_CONTENT);
  for (const { status, content, settledAt } of finals) {
    if (isTerminal(status) !== (settledAt !== undefined)) yield `${status} with settledAt ${settledAt}`;
    const isBare = kind === 'form' && status === 'accepted' && content === undefined;
    if (isBare && !wasEmpty) yield 'accepted without its content';
  }
}

function halfView({ status, action, content }: View, { kind }: ElicitationCase): string | undefined {
  if (content !== undefined && status !== 'accepted') return `${status}, yet with content`;
  if (content !== undefined && kind !== undefined && kind !== 'form') return 'a url with content';
  if (action === undefined) return undefined;
  if (status === 'accepted' || status === 'declined' || status === 'cancelled') {
    return STATUS_OF_ACTION[action] === status ? undefined : `${status}, yet with action ${action}`;
  }
  // Consent to open keeps its action on the row, whatever the end is.
  const consented = action === 'accept' && status !== 'pending' && kind !== 'form' && kind !== 'url-client';
  return consented ? undefined : `${status}, yet with action ${action}`;
}

/** I16 for refusals: a conflict is true, and an elicitation that lived to the end was never "not found". */
export function* refusalsAreTrue({ claims, views, ask, kind }: ElicitationCase): Generator<string> {
  const final = views.find(({ source }) => source === 'final');
  if (!final) return;
  const end = outcomeKey(wholeOutcome(final, kind));
  for (const claim of claims) {
    const { role, event, ofAnother } = claim;
    if (ofAnother) continue;
    if (event.httpStatus === 409 && role === 'settles' && outcomeKey(claim) === end) {
      yield `${event.type} at ${event.at} got "conflict", yet ${label(claim)} is what is recorded`;
    }
    if (event.httpStatus === 404 && ask && event.startedAt > ask.at && event.at <= final.at) {
      yield `${event.type} at ${event.at} got "not found", yet it was asked before and read later`;
    }
  }
}

/** I16 for asks: an ask without a reply creates one whole elicitation that ends, or nothing. */
export function* strayAskEnds({ ask, finals }: ElicitationCase): Generator<string> {
  if (ask) return;
  for (const { status } of finals) {
    if (!isTerminal(status)) yield `its ask was never acknowledged, and it is still ${status} at the end`;
  }
}

/** I16 for asks: on a stream that was asked on, every elicitation comes from one ask. */
export function* everyElicitationWasAsked({ asks, elicitations }: IndexedHistory): Generator<Breach> {
  const acked = new Set<string>();
  for (const ask of asks) if (verdictOf(ask.httpStatus) === 'acked') acked.add(claimKey(ask) ?? '');
  const open = new Map<string, Set<string>>();
  for (const [index, ask] of asks.entries()) {
    if (ask.streamRequestId === undefined) continue;
    const unresolved = getOrAdd(open, placeOf(ask.owner, ask.streamRequestId), () => new Set<string>());
    const origin = originOf(ask, index);
    if (verdictOf(ask.httpStatus) === 'unknown' && !acked.has(origin)) unresolved.add(origin);
  }
  const unexplained = new Map<string, string[]>();
  for (const { elicitationId, ask, streamEvents } of elicitations) {
    const [event] = streamEvents;
    if (ask || !event) continue;
    const place = placeOf(event.subscriber, event.streamRequestId);
    if (open.has(place)) getOrAdd(unexplained, place, (): string[] => []).push(elicitationId);
  }
  for (const [place, ids] of unexplained) {
    for (const elicitationId of ids.slice(open.get(place)?.size ?? 0)) {
      yield {
        subject: elicitationId,
        message: 'more elicitations appeared on its stream than were asked for',
      };
    }
  }
}

/** Retries under one Idempotency-Key are one ask; without a key each may make its own elicitation. */
function originOf(ask: AskEvent, index: number): string {
  return claimKey(ask) ?? `ask ${index}`;
}

function placeOf({ tenant, userId }: Owner, streamRequestId: string): string {
  return JSON.stringify([tenant, userId, streamRequestId]);
}
