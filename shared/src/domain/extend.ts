import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import type { DecisionOf, ExtendCommand, FamilyTypes, RowOf } from '@parley/core/domain/family';
import { isoOf } from '@parley/core/domain/text';

/** How often the deadline of one record may be moved. The number is limited because the row lists every move. */
export const EXTENSIONS_MAX = 100;

/**
 * Decides on a later deadline of an open record, by one rule for all families. The new deadline may be at most the longest
 * timeout of an ask after the record's creation, because all data of a record is stored for that long. `event` is the event of
 * the next revision in the same status.
 */
export function extend<T extends FamilyTypes>(
  row: RowOf<T>,
  { expiresAt }: ExtendCommand,
  event: T['event'],
): DecisionOf<T> {
  const latest = row.createdAt + TIMEOUT_SECONDS_MAX * 1000;
  // A client that lost the reply repeats its call, and then the deadline has already moved.
  if (expiresAt <= row.expiresAt) return { type: 'unchanged' };
  if (expiresAt > latest)
    return refuse(
      `The deadline can be at most ${TIMEOUT_SECONDS_MAX} seconds after the ask: ${Math.floor((latest - row.expiresAt) / 1000)} seconds later than it is.`,
    );
  if ((row.extensions ?? []).length >= EXTENSIONS_MAX)
    return refuse(`The deadline was moved ${EXTENSIONS_MAX} times, and cannot be moved again.`);
  return {
    type: 'commit',
    step: { status: row.status, guard: 'open', expiresAt, event: { ...event, expiresAt: isoOf(expiresAt) } },
  };
}

function refuse(message: string): DecisionOf<FamilyTypes> & { readonly type: 'refused' } {
  return { type: 'refused', refusal: { code: 'invalid_request', message } };
}

/** The deadline and the extensions of a row after a commit has moved the deadline. */
export function extendedTo<T extends FamilyTypes>(
  { revision, extensions = [] }: RowOf<T>,
  expiresAt: number,
): Required<Pick<RowOf<T>, 'expiresAt' | 'extensions'>> {
  return { expiresAt, extensions: [...extensions, { revision: revision + 1, expiresAt }] };
}
