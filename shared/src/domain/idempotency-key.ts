import { ParleyError } from '@parley/core/domain/errors';
import { z } from 'zod';

const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/)
  .optional();

/** Parses the Idempotency-Key of a request. Throws `invalid_request` when it is malformed. */
export function parseIdempotencyKey(given: string | undefined): string | undefined {
  const key = IdempotencyKey.safeParse(given);
  if (key.success) return key.data;
  throw new ParleyError('invalid_request', 'Idempotency-Key must be 1 to 255 printable ASCII characters.');
}
