import { countValues } from '@parley/shared/domain/json/values';

/** The maximum number of JSON values in one question: many times the number in the largest form. */
export const READ_VALUES_MAX = 10_000;

/** False if the value contains more than the maximum. It is then refused before anything traverses it. */
export function isReadable(params: unknown): boolean {
  return countValues(params, READ_VALUES_MAX) <= READ_VALUES_MAX;
}
