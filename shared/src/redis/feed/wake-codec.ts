import type { z } from 'zod';
import type { Settlement } from '../../domain/elicitations/settlement.ts';
import { ElicitationWake, WAKE_BYTES_MAX, Wake } from '../../domain/elicitations/wake.ts';
import type { ElicitationEvent } from '../../domain/events.ts';

/** The part of a wake that the caller of the commit knows; the script puts position and time before it. */
export function encodeWakeTail(event: ElicitationEvent, settlement: Settlement | undefined): string {
  const { elicitationId, revision, status } = event;
  if (settlement === undefined) return JSON.stringify({ elicitationId, revision, status });
  const whole = JSON.stringify({ elicitationId, revision, status, settlement });
  return Buffer.byteLength(whole) <= WAKE_BYTES_MAX
    ? whole
    : JSON.stringify({ elicitationId, revision, status });
}

/** The tail of a wake for a write of a turn. */
export const TURN_WAKE_TAIL = JSON.stringify({ turn: true });

/** Reads `<epoch>-<seq> <ms> <json>`; nothing when it is not a wake this version understands. */
export function decodeWake(message: string): Wake | undefined {
  return decoded(message, Wake);
}

/** The same, on channels that carry the wakes of elicitations only. */
export function decodeElicitationWake(message: string): ElicitationWake | undefined {
  return decoded(message, ElicitationWake);
}

function decoded<T>(message: string, schema: z.ZodType<T>): T | undefined {
  const afterPosition = message.indexOf(' ');
  const afterTime = message.indexOf(' ', afterPosition + 1);
  if (afterPosition < 0 || afterTime < 0) return undefined;
  try {
    const tail: unknown = JSON.parse(message.slice(afterTime + 1));
    const wake = schema.safeParse({
      ...(tail as object),
      position: message.slice(0, afterPosition),
      at: Number(message.slice(afterPosition + 1, afterTime)),
    });
    return wake.success ? wake.data : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a whole wake as the commit script would. */
export function encodeWake({ position, at, ...tail }: Wake): string {
  return `${position} ${at} ${JSON.stringify(tail)}`;
}
