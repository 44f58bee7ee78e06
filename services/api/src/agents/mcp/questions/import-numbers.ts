import { own } from '@parley/core/domain/plain-record';
import type { RawSchema } from './parts.ts';

/**
 * A number field in the notation of forms: an exclusive bound becomes the next allowed number, and a whole-number step becomes
 * an integer field.
 */
export function withFormNumbers(field: RawSchema): RawSchema {
  const { exclusiveMinimum, exclusiveMaximum, multipleOf, ...others } = field;
  if (field.type !== 'number' && field.type !== 'integer') return field;
  const isWhole = field.type === 'integer' || multipleOf === 1;
  const least = inclusive(own(others, 'minimum'), exclusiveMinimum, isWhole, 1);
  const most = inclusive(own(others, 'maximum'), exclusiveMaximum, isWhole, -1);
  return {
    ...others,
    type: isWhole ? 'integer' : 'number',
    ...(least !== undefined && { minimum: least }),
    ...(most !== undefined && { maximum: most }),
    ...(multipleOf !== undefined && multipleOf !== 1 && { multipleOf }),
  };
}

/** Combines both bounds into one inclusive bound. Draft 4 writes `true` for an exclusive bound, beside the bound. */
function inclusive(bound: unknown, exclusive: unknown, isWhole: boolean, direction: 1 | -1): unknown {
  const limit = exclusive === true ? bound : exclusive;
  if (typeof limit !== 'number' || !Number.isFinite(limit)) return bound;
  const next = isWhole
    ? (direction === 1 ? Math.floor(limit) : Math.ceil(limit)) + direction
    : direction * nextUp(direction * limit);
  if (exclusive === true || typeof bound !== 'number') return next;
  return direction === 1 ? Math.max(bound, next) : Math.min(bound, next);
}

/** The smallest number that is greater than this one. */
function nextUp(value: number): number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value === 0 ? 0 : value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (value < 0 ? -1n : 1n));
  return bits.getFloat64(0);
}
