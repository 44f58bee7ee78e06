/**
 * The events of a stream request and the positions in its feed, as clients and servers exchange them. The events of agents'
 * turns are not here, because most clients get them encoded.
 */

import { z } from 'zod';
import { ACTIONS, STATUSES } from './elicitations/status.ts';

/** The names of the events that an elicitation adds to its stream request's feed. */
export const ELICITATION_EVENTS = [
  'elicitation-request',
  'elicitation-updated',
  'elicitation-resolved',
] as const;
export type ElicitationEventName = (typeof ELICITATION_EVENTS)[number];

/**
 * A change of an elicitation as the feed stores it: what happened, but never the answer. A reader combines it with the row's
 * definition, which never changes.
 */
export const ElicitationEvent = z.looseObject({
  type: z.enum(ELICITATION_EVENTS),
  elicitationId: z.string(),
  revision: z.int(),
  status: z.enum(STATUSES),
  action: z.enum(ACTIONS).optional(),
  reason: z.string().optional(),
  surface: z.string().optional(),
  /** The deadline, if the commit set one. */
  expiresAt: z.string().optional(),
});
export type ElicitationEvent = z.infer<typeof ElicitationEvent>;

/** An event of an unknown type. It is passed on unchanged, so that new types break no reader. */
export const UnknownEvent = z.looseObject({ type: z.string() });
export type UnknownEvent = z.infer<typeof UnknownEvent>;

/** One event of a stream request. */
export const StreamEvent = z.union([ElicitationEvent, UnknownEvent]);
export type StreamEvent = z.infer<typeof StreamEvent>;

/** True for an elicitation event whose fields this reader understands. */
export function isElicitationEvent(event: StreamEvent): event is ElicitationEvent {
  // This check is written by hand because it runs for every event. A property test compares it with the schema.
  const { type, elicitationId, revision, status, action, reason, surface, expiresAt } = event as UnknownEvent;
  return (
    isOneOf(ELICITATION_EVENTS, type) &&
    typeof elicitationId === 'string' &&
    Number.isSafeInteger(revision) &&
    isOneOf(STATUSES, status) &&
    (action === undefined || isOneOf(ACTIONS, action)) &&
    [reason, surface, expiresAt].every((text) => text === undefined || typeof text === 'string')
  );
}

function isOneOf(values: readonly unknown[], value: unknown): boolean {
  return values.includes(value);
}

/**
 * A place in a feed. `epoch` identifies the feed, which may be lost and created again. `seq` rises from event to event and
 * identifies the write: its last six digits are the microsecond within the second of the write, and the digits before them
 * count the events from 1. A feed that lost its last events therefore never gives their positions to other events. Older
 * versions wrote the count alone.
 */
export interface FeedPosition {
  readonly epoch: string;
  readonly seq: number;
}

const POSITION = /^([1-9][0-9]{0,18})-(0|[1-9][0-9]{0,14})$/;

/** Parses `<epoch>-<seq>`. Undefined for any other text. */
export function parseFeedPosition(text: string): FeedPosition | undefined {
  const match = POSITION.exec(text);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  return { epoch: match[1], seq: Number(match[2]) };
}

/** Formats a position as `<epoch>-<seq>`, the id of a Redis stream entry and of an SSE event. */
export function formatFeedPosition(position: FeedPosition): string {
  return `${position.epoch}-${position.seq}`;
}

/** True for the position of the event after this one, in the same feed. */
export function isNextPosition(after: FeedPosition, next: FeedPosition): boolean {
  return next.epoch === after.epoch && eventNumberOf(next) === eventNumberOf(after) + 1;
}

/** True for the position of the same write. Events of the same number differ where a feed has lost one of them. */
export function isSamePosition(a: FeedPosition, b: FeedPosition): boolean {
  return a.epoch === b.epoch && a.seq === b.seq;
}

/**
 * How far a reader of a turn has read: up to a place in its feed, plus a number of characters of the text that follows. Live
 * readers get text before it is in the feed.
 */
export interface ReaderPosition extends FeedPosition {
  readonly characters?: number;
}

const CHARACTERS_DIGITS = 6;
/** The maximum number of characters by which a reader can be ahead of the feed. */
export const CHARACTERS_AHEAD_MAX = 10 ** CHARACTERS_DIGITS - 1;

/** Parses `<epoch>-<seq>` and `<epoch>-<seq>.<characters>`. Undefined for any other text. */
export function parseReaderPosition(text: string): ReaderPosition | undefined {
  const [place = '', characters] = text.split('.', 2);
  const position = parseFeedPosition(place);
  if (position === undefined || place.length + 1 + CHARACTERS_DIGITS < text.length) return undefined;
  if (characters === undefined) return position;
  return /^[0-9]{6}$/.test(characters) ? { ...position, characters: Number(characters) } : undefined;
}

/** Formats the position of a reader. The ids of one feed increase as decimal numbers, with or without characters. */
export function formatReaderPosition({ characters = 0, ...position }: ReaderPosition): string {
  const place = formatFeedPosition(position);
  return characters === 0 ? place : `${place}.${String(characters).padStart(CHARACTERS_DIGITS, '0')}`;
}

const WRITE_MARKS = 1_000_000;

/** The `seq` of an event, from its number and the time of its write in microseconds. */
export function feedSeqOf(eventNumber: number, microseconds: number): number {
  return eventNumber * WRITE_MARKS + (Math.floor(microseconds) % WRITE_MARKS);
}

/** The number of the event at a position, counted from 1; 0 before the first event. */
export function eventNumberOf({ seq }: Pick<FeedPosition, 'seq'>): number {
  return seq < WRITE_MARKS ? seq : Math.floor(seq / WRITE_MARKS);
}
