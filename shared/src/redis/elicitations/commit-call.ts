import type { Definition, Row } from '../../domain/elicitations/row.ts';
import { isTerminal } from '../../domain/elicitations/status.ts';
import type { Step } from '../../domain/elicitations/transition.ts';
import { isMintedStream } from '../../domain/ids.ts';
import type { BackendSettings } from '../../ports/backend.ts';
import type { CommitNotes } from '../../ports/delivery/kind.ts';
import type { OutboxTask } from '../../ports/delivery/outbox.ts';
import { RESUME_RUN } from '../../ports/runs/resume-task.ts';
import { commitNames } from '../client/keys.ts';
import { encodeWakeTail } from '../feed/wake-codec.ts';
import { memberOf } from '../outbox/member.ts';

/** Keys and arguments of one call of commit.lua. */
export interface CommitCall {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

type CommitSettings = Pick<
  BackendSettings,
  'retentionMs' | 'feedEventsMax' | 'openPerUserMax' | 'openBytesPerUserMax' | 'historyPerUserMax'
>;

/** The call that creates an elicitation. */
export function createCall(
  settings: CommitSettings,
  id: string,
  definition: Definition,
  tasks: readonly OutboxTask[],
): CommitCall {
  const names = commitNames(id, definition, kindsOf(tasks));
  const status = 'pending';
  const { type, ...data } = { type: 'elicitation-request', elicitationId: id, revision: 1, status } as const;
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
      encodeWakeTail({ type, ...data }, undefined),
      names.streamChannel,
      names.inboxChannel,
      settings.retentionMs,
      feedEventsMax(settings, definition),
      definition.timeoutSeconds * 1000,
      JSON.stringify(definition),
      settings.openPerUserMax,
      settings.openBytesPerUserMax,
      definition.conversationId,
      ...tasks.map(memberOf),
    ],
  };
}

/** The call that moves an elicitation from `row` by `step`. */
export function commitCall(
  settings: CommitSettings,
  row: Row,
  { event, settlement, status, guard }: Step,
  { tasks, keepEndedMs = 0 }: CommitNotes,
): CommitCall {
  const terminal = isTerminal(status);
  // Only the end of an elicitation notes the tasks of the runs that wait for it.
  const kinds = terminal ? [RESUME_RUN, ...kindsOf(tasks)] : kindsOf(tasks);
  const names = commitNames(row.id, row.definition, new Set(kinds));
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
      encodeWakeTail(event, settlement),
      names.streamChannel,
      names.inboxChannel,
      settings.retentionMs,
      feedEventsMax(settings, row.definition),
      JSON.stringify(settlement ?? {}),
      settings.historyPerUserMax,
      Math.max(settings.retentionMs, keepEndedMs),
      '',
      '',
      ...tasks.map(memberOf),
    ],
  };
}

function kindsOf(tasks: readonly OutboxTask[]): Set<string> {
  return new Set(tasks.map(({ kind }) => kind));
}

/** The feed of a turn is bounded by its bytes, and a question must not push out events of its turn. */
function feedEventsMax({ feedEventsMax: max }: CommitSettings, { streamRequestId }: Definition): number {
  return isMintedStream(streamRequestId) ? Number.MAX_SAFE_INTEGER : max;
}
