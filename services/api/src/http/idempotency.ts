import { ParleyError } from '@parley/shared/domain/errors';
import { z } from 'zod';
import type { Call } from './route.ts';

const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/)
  .optional();

/** Says that a reply is that of an earlier call with the same key. */
export const REPLAYED = { 'idempotent-replayed': 'true' } as const;

/** The `Idempotency-Key` of a call, or nothing. Throws `invalid_request` when it is none. */
export function idempotencyKeyIn(header: Call['header']): string | undefined {
  const key = IdempotencyKey.safeParse(header('idempotency-key'));
  if (key.success) return key.data;
  throw new ParleyError('invalid_request', 'Idempotency-Key must be 1 to 255 printable ASCII characters.');
}
