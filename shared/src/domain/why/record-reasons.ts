import type { PersonFacts, RecordFacts } from './facts.ts';
import { OWN_REASONS, type Reason } from './strings.ts';
import { momentOf } from './times.ts';

/** Explains the status of a record. Pure. */
export function recordReasons(record: RecordFacts, now: number): Reason[] {
  const { name, kind, trigger, tool, status, hasEnded, createdAt, expiresAt } = record;
  const state = hasEnded ? 'ended' : status === 'opened' ? 'opened' : 'pending';
  const values = { name, ago: now - createdAt, tool, state } as const;
  const asked: Reason =
    kind === 'approval' ? { code: 'askedToApprove', ...values } : { code: 'asked', ...values, trigger };
  if (hasEnded) return [asked, endOf(record)];
  return [
    asked,
    now >= expiresAt
      ? { code: 'overdue', ago: now - expiresAt }
      : { code: 'expires', at: momentOf(expiresAt, now), ahead: expiresAt - now },
  ];
}

function endOf(record: RecordFacts): Reason {
  const { name, status, createdAt, settledAt = createdAt, surface, reason } = record;
  const length = settledAt - createdAt;
  switch (status) {
    case 'expired':
      return { code: 'expired', length };
    case 'withdrawn':
      return { code: 'withdrawn', length, reason, own: OWN_REASONS.find((own) => own === reason) };
    default:
      return { code: 'decided', decision: status, name, length, surface };
  }
}

/** Explains where the person can see an open record, or why they cannot. Pure. */
export function personReasons({ name, streams, channel }: PersonFacts): Reason[] {
  return [
    streams.length === 0 ? { code: 'noStream', name } : { code: 'streams', name, streams },
    ...(channel === undefined ? [] : [channelReason(name, channel)]),
  ];
}

function channelReason(
  name: string,
  { name: channel, isLinked, dueInMs }: NonNullable<PersonFacts['channel']>,
): Reason {
  if (isLinked === undefined) return { code: 'noChannel', channel };
  return isLinked ? { code: 'linked', name, channel, ahead: dueInMs } : { code: 'notLinked', name, channel };
}
