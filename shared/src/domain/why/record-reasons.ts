import type { PersonFacts, RecordFacts } from './facts.ts';
import { atTime, inWords } from './times.ts';

/** Reasons that Parley gives itself when it takes a record back. */
const REASONS: Readonly<Record<string, string>> = {
  run_stopped: 'its turn was stopped or ended',
  superseded: 'something newer took its place',
  undeliverable: 'nothing of the person could show it',
  user_erased: 'its user was erased',
};

/** Why a record is as it is. `name`: the person. Pure. */
export function recordReasons(record: RecordFacts, name: string, now: number): string[] {
  const asked = `${name} was asked ${inWords(now - record.createdAt)} ago ${aboutOf(record)}`;
  if (record.hasEnded) return [`${asked}.`, endOf(record, name)];
  const isOverdue = now >= record.expiresAt;
  return [
    record.status === 'opened'
      ? `${asked}, opened the page and has not finished there.`
      : `${asked} and has not answered.`,
    isOverdue
      ? `Its deadline passed ${inWords(now - record.expiresAt)} ago and nothing has expired it yet: if it stays, no pod or worker sweeps.`
      : `It expires by itself ${atTime(record.expiresAt, now)}, in ${inWords(record.expiresAt - now)}.`,
  ];
}

function aboutOf({ kind, trigger, tool }: RecordFacts): string {
  const about = tool === undefined ? '' : ` ${kind === 'approval' ? 'of' : 'for'} ${tool}`;
  return kind === 'approval' ? `for the approval${about}` : `(${trigger}${about})`;
}

function endOf(
  { status, createdAt, settledAt = createdAt, surface, reason }: RecordFacts,
  name: string,
): string {
  const after = `${inWords(settledAt - createdAt)} later`;
  switch (status) {
    case 'expired':
      return `It expired ${after}: nobody answered before the deadline.`;
    case 'withdrawn': {
      const meaning = REASONS[reason ?? ''];
      const why = reason === undefined ? '' : `, with the reason ${reason}`;
      return `It was taken back ${after}${why}${meaning === undefined ? '' : `: ${meaning}`}.`;
    }
    default:
      return `It was ${status} by ${name} ${after}${surface === undefined ? '' : `, on the surface ${surface}`}.`;
  }
}

/** Where the person can see an open record, or why they do not. Pure. */
export function personReasons({ name, streams, channel }: PersonFacts): string[] {
  const reasons = [
    streams.length === 0
      ? `${name} has no event stream open on any pod: no chat or inbox follows it now. Clients that poll, such as those of MCP and A2A, hold none.`
      : `${name} has ${streams.length} event stream${streams.length === 1 ? '' : 's'} open: ${streams.join(', ')}.`,
  ];
  if (channel !== undefined) reasons.push(channelReason(name, channel));
  return reasons;
}

function channelReason(
  name: string,
  { name: channel, isLinked, dueInMs }: NonNullable<PersonFacts['channel']>,
): string {
  if (isLinked === undefined)
    return `It is to be sent to ${channel}, which this deployment has not configured.`;
  if (!isLinked) return `It is to be sent to ${channel}, but ${name} is not linked there.`;
  if (dueInMs === undefined) return `${name} is linked to ${channel}.`;
  return dueInMs > 0
    ? `${name} is linked to ${channel}, which notifies them in ${inWords(dueInMs)}.`
    : `${name} is linked to ${channel}; the notice has been sent or is due.`;
}
