/**
 * Builds the keys and arguments of step.lua from a decided step. Sending the call and reading the reply are in `records.ts`.
 */

import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import type { Family, FamilyTypes, RecordDefinition, RowOf } from '@parley/core/domain/family';
import { isMintedStream, ownStreamOf } from '@parley/core/domain/ids';
import type { BackendSettings } from '../../ports/backend.ts';
import type { OutboxTask } from '../../ports/delivery/outbox.ts';
import type { CreateNotes, Move } from '../../ports/elicitations/elicitations.ts';
import { RESUME_RUN } from '../../ports/runs/resume-task.ts';
import { commitNames, fenceKey } from '../client/keys.ts';
import { encodeWakeTail } from '../feed/wake-codec.ts';
import { memberOf } from '../outbox/member.ts';

/** The keys and arguments of one step, as step.lua names them. */
interface CommitCall {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

type CommitSettings = Pick<
  BackendSettings,
  | 'retentionMs'
  | 'deadLetterMs'
  | 'feedEventsMax'
  | 'openPerUserMax'
  | 'openBytesPerUserMax'
  | 'historyPerUserMax'
>;

/** No feed is stored for an elicitation that is alone on its stream request, because its events follow from its row. */
const NO_FEED = '';

/** The call that creates a record. */
export function createCall<T extends FamilyTypes>(
  settings: CommitSettings,
  family: Family<T>,
  row: Pick<RowOf<T>, 'id' | 'definition'>,
  { tasks, idempotencyKey = '', isStreamClaimed = false }: CreateNotes,
): CommitCall {
  const { id, definition } = row;
  const names = commitNames(row, {
    more: [fenceKey(definition)],
    kinds: kindsOf(tasks),
    isOfTurn: isOfTurn(id, definition),
  });
  const status = family.initialStatus;
  const timeoutMs = definition.timeoutSeconds * 1000;
  const { type, ...data } = family.eventOf(id, 1, status);
  return {
    keys: names.keys,
    args: [
      0,
      'open',
      id,
      status,
      0,
      type,
      JSON.stringify(data),
      encodeWakeTail(family.wakeHintOf(id, 1, status), undefined),
      names.streamChannel,
      settings.retentionMs,
      definition.streamRequestId === ownStreamOf(id) ? NO_FEED : feedEventsMax(settings, definition),
      isStreamClaimed ? claimedMs(settings) : settings.retentionMs + timeoutMs,
      isOfTurn(id, definition) ? 1 : 0,
      timeoutMs,
      JSON.stringify(definition),
      settings.openPerUserMax,
      settings.openBytesPerUserMax,
      definition.conversationId,
      // Without a claim, the stream request can be found through the row.
      isStreamClaimed ? definition.streamRequestId : '',
      idempotencyKey,
      ...tasks.map(memberOf),
    ],
  };
}

/** The call that moves a record by `step` from the state `row`. */
export function commitCall<T extends FamilyTypes>(
  settings: CommitSettings,
  family: Family<T>,
  { row, step, notes }: Move<T>,
): CommitCall {
  const { event, settlement, status, guard, expiresAt = '' } = step;
  const { tasks, keepEndedMs = 0 } = notes;
  const terminal = family.isTerminal(status);
  // Only a commit that ends an elicitation notes the tasks of the runs that wait for it.
  const kinds = terminal ? [RESUME_RUN, ...kindsOf(tasks)] : kindsOf(tasks);
  const names = commitNames(row, { kinds: new Set(kinds), isOfTurn: isOfTurn(row.id, row.definition) });
  const keptMs = Math.max(settings.retentionMs, keepEndedMs);
  const settlementJson = settlement && JSON.stringify(settlement);
  const { type, ...data } = event;
  return {
    keys: names.keys,
    args: [
      row.revision,
      guard,
      row.id,
      status,
      terminal ? 1 : 0,
      type,
      JSON.stringify(data),
      encodeWakeTail(family.wakeHintOf(row.id, row.revision + 1, status), settlementJson),
      names.streamChannel,
      settings.retentionMs,
      feedEventsMax(settings, row.definition),
      // At the end of its life, the row may be kept for a dead letter.
      Math.max(claimedMs(settings), keptMs + settings.deadLetterMs),
      isOfTurn(row.id, row.definition) ? 1 : 0,
      settlementJson ?? '{}',
      settings.historyPerUserMax,
      keptMs,
      row.createdAt,
      expiresAt,
      ...tasks.map(memberOf),
    ],
  };
}

/** True when the stream request may be that of a turn, to which delivery kinds may be subscribed. */
function isOfTurn(id: string, { streamRequestId }: RecordDefinition): boolean {
  return isMintedStream(streamRequestId) && streamRequestId !== ownStreamOf(id);
}

/** How long the claims of a question may last after its ask, in ms. */
function claimedMs({ retentionMs }: CommitSettings): number {
  return retentionMs + TIMEOUT_SECONDS_MAX * 1000;
}

function kindsOf(tasks: readonly OutboxTask[]): Set<string> {
  return new Set(tasks.map(({ kind }) => kind));
}

/** The feed of a turn is limited by its bytes instead, because a question must not push out events of its turn. */
function feedEventsMax(
  { feedEventsMax: max }: CommitSettings,
  { streamRequestId }: RecordDefinition,
): number {
  return isMintedStream(streamRequestId) ? Number.MAX_SAFE_INTEGER : max;
}
