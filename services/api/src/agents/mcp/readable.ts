import { countValues } from '@parley/shared/domain/json/values';

/** Values of one question that are read: many times those of the largest form. */
export const READ_VALUES_MAX = 10_000;

/** False for what holds more values than are read: it is refused before anything goes through it. */
export function isReadable(params: unknown): boolean {
  return countValues(params, READ_VALUES_MAX) <= READ_VALUES_MAX;
}
