/**
 * The text form of wakes on Redis channels. It is decoded by hand where it can be, because a pod gets a wake for every write of
 * a turn; what a wake means is in `domain/elicitations/wake.ts`.
 */

import { ACTIONS, type Status } from '@parley/core/domain/elicitations/status';
import type { z } from 'zod';
import { ApprovalWake } from '../../domain/approvals/wake.ts';
import { WAKE_BYTES_MAX } from '../../domain/commit-mark.ts';
import type { Settlement } from '../../domain/elicitations/settlement.ts';
import {
  type ElicitationWake,
  InboxWake,
  type LiveText,
  type TurnWake,
  Wake,
} from '../../domain/elicitations/wake.ts';

/**
 * Encodes the part of a wake that the caller of the commit knows; the script puts position and time before it. `identity` is
 * the result of the family's `wakeHintOf`, and `settlement` the JSON of the settlement.
 */
export function encodeWakeTail(identity: object, settlement: string | undefined): string {
  const hint = JSON.stringify(identity);
  if (settlement === undefined) return hint;
  const whole = `${hint.slice(0, -1)},"settlement":${settlement}}`;
  return Buffer.byteLength(whole) <= WAKE_BYTES_MAX ? whole : hint;
}

/** The tail of the wake for a write of a turn. */
export const TURN_WAKE_TAIL = JSON.stringify({ turn: true });

/** Encodes the tail of a wake that carries live text of a turn. */
export function encodeLiveTail({ block, offset, text }: LiveText): string {
  return JSON.stringify({ turn: true, live: { block, offset, text } });
}

/** Decodes `<epoch>-<seq> <ms> <json>`; undefined when it is not a wake that this version understands. */
export function decodeWake(message: string): Wake | undefined {
  return decoded(message, Wake, (mark, tail) =>
    tail.turn === true && tail.elicitationId === undefined ? turnWake(mark, tail) : knownWake(mark, tail),
  );
}

/** The same as `decodeWake`, for channels that carry only wakes of records. */
export function decodeInboxWake(message: string): InboxWake | undefined {
  return decoded(message, InboxWake, knownWake);
}

/** The same as `decodeWake`, for readers of approvals: undefined for any other wake of the channel. */
export function decodeApprovalWake(message: string): ApprovalWake | undefined {
  // Most messages of a stream's channel announce text, and need not be parsed here.
  return message.includes('"approvalId"') ? decoded(message, ApprovalWake, () => undefined) : undefined;
}

type WakeMark = Pick<Wake, 'position' | 'at'>;
type Tail = Record<string, unknown>;

/**
 * Decodes a message. `known` reads the usual wakes without a schema, because a pod gets one for every write of a turn. Anything
 * else is parsed by the schema.
 */
function decoded<T>(
  message: string,
  schema: z.ZodType<T>,
  known: (mark: WakeMark, tail: Tail) => T | undefined,
): T | undefined {
  const afterPosition = message.indexOf(' ');
  const afterTime = message.indexOf(' ', afterPosition + 1);
  if (afterPosition < 0 || afterTime < 0) return undefined;
  const mark = {
    position: message.slice(0, afterPosition),
    at: Number(message.slice(afterPosition + 1, afterTime)),
  };
  try {
    const tail: unknown = JSON.parse(message.slice(afterTime + 1));
    const wake = isObject(tail) && Number.isFinite(mark.at) ? known(mark, tail) : undefined;
    return wake ?? schema.safeParse({ ...(tail as object), ...mark }).data;
  } catch {
    return undefined;
  }
}

/** The wake of a turn, if all its fields have the usual types. */
function turnWake({ position, at }: WakeMark, { live }: Tail): TurnWake | undefined {
  if (live === undefined) return { position, at, turn: true };
  if (!isObject(live)) return undefined;
  const { block, offset, text } = live;
  if (typeof block !== 'string' || typeof text !== 'string') return undefined;
  if (!Number.isSafeInteger(offset) || (offset as number) < 0) return undefined;
  return { position, at, turn: true, live: { block, offset: offset as number, text } };
}

/** The wake of an elicitation, if all its fields have the usual types. */
function knownWake(
  mark: WakeMark,
  { elicitationId, revision, status, settlement }: Tail,
): ElicitationWake | undefined {
  if (typeof elicitationId !== 'string' || !Number.isSafeInteger(revision) || typeof status !== 'string')
    return undefined;
  if (settlement !== undefined && !isKnownSettlement(settlement)) return undefined;
  const { position, at } = mark;
  const wake = { position, at, elicitationId, revision: revision as number, status: status as Status };
  return settlement === undefined ? wake : { ...wake, settlement };
}

function isKnownSettlement(value: unknown): value is Settlement {
  if (!isObject(value)) return false;
  for (const name in value) if (!isKnownField(name, value[name])) return false;
  return true;
}

function isKnownField(name: string, value: unknown): boolean {
  switch (name) {
    case 'action':
      return (ACTIONS as readonly unknown[]).includes(value);
    case 'content':
      return isKnownContent(value);
    case 'responseId':
    case 'reason':
    case 'surface':
    case 'key':
      return typeof value === 'string';
    default:
      return false;
  }
}

function isKnownContent(value: unknown): boolean {
  if (!isObject(value)) return false;
  for (const name in value) if (name === '__proto__' || !isKnownValue(value[name])) return false;
  return true;
}

function isKnownValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string');
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

/** This check is sufficient for values from JSON.parse. */
function isObject(value: unknown): value is Tail {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Encodes a whole wake in the form that the commit script writes. */
export function encodeWake({ position, at, ...tail }: Wake): string {
  return `${position} ${at} ${JSON.stringify(tail)}`;
}
