/** Converts between runs and the fields of their Redis hash. Reading and writing the hash is in `runs.ts` and the scripts. */

import type { StreamRef } from '@parley/core/domain/ids';
import {
  CallRecord,
  DelegateRequest,
  type Delivery,
  Message,
  ParentCall,
  PauseRecord,
  type Run,
  type RunHead,
  type RunStanding,
  type RunStatus,
  StepRecord,
  Support,
} from '../../domain/runs/run.ts';
import type { RunNote } from '../../ports/runs/runs.ts';
import { timesOf } from './run-times.ts';

/** The hash field of a note, and its value. */
export function fieldOf(note: RunNote): [field: string, value: string] {
  switch (note.type) {
    case 'step':
      return [`step:${note.index}`, JSON.stringify(note.step)];
    case 'call':
      return [`call:${note.call.toolCallId}`, JSON.stringify(note.call)];
    case 'pause':
      return [`pause:${note.pause.elicitationId}`, JSON.stringify(note.pause)];
  }
}

/** The hash fields that a run's standing consists of. */
export const STANDING_FIELDS = [
  'conversationId',
  'status',
  'owner',
  'term',
  'parent',
  'deaths',
  'takeOvers',
] as const;

/** Reads a run's standing from the values of `STANDING_FIELDS`; undefined when the hash does not exist. */
export function standingOf(values: readonly (string | null)[]): RunStanding | undefined {
  const [conversationId, status, owner, term, parent, deaths, takeOvers] = values;
  if (conversationId == null || status == null || owner == null) return undefined;
  return {
    conversationId,
    status: status as RunStatus,
    owner,
    term: Number(term),
    deaths: Number(deaths ?? 0),
    takeOvers: Number(takeOvers ?? 0),
    ...(parent != null && { parent: ParentCall.parse(JSON.parse(parent)) }),
  };
}

/** The hash fields that a run's head consists of. */
export const HEAD_FIELDS = [
  ...STANDING_FIELDS,
  'agent',
  'startedAt',
  'endedAt',
  'restsUntil',
  'stop',
] as const;

/** Reads a run's head from the values of `HEAD_FIELDS`; undefined when the hash does not exist. */
export function headOf(
  { tenant, userId, streamRequestId }: StreamRef,
  values: readonly (string | null)[],
): RunHead | undefined {
  const standing = standingOf(values);
  if (standing === undefined) return undefined;
  const [agent, startedAt, endedAt, restsUntil, stop] = values.slice(STANDING_FIELDS.length);
  return {
    tenant,
    userId,
    streamRequestId,
    ...standing,
    agent: agent ?? '',
    startedAt: Number(startedAt),
    ...(endedAt != null && { endedAt: Number(endedAt) }),
    ...(restsUntil != null && { restsUntil: Number(restsUntil) }),
    ...(stop != null && { isStopping: true as const }),
  };
}

/** Reads a run from the flat field-value reply of HGETALL; undefined when the hash is empty. */
export function runOf(stream: StreamRef, fields: readonly unknown[]): Run | undefined {
  if (fields.length === 0) return undefined;
  const { head, steps, calls, pauses } = sortFields(fields);
  const { tenant, userId, streamRequestId } = stream;
  const endedAt = head.get('endedAt');
  const restsUntil = head.get('restsUntil');
  const traceparent = head.get('traceparent');
  const parent = head.get('parent');
  const delegateRequest = head.get('delegateRequest');
  return {
    tenant,
    userId,
    streamRequestId,
    conversationId: head.get('conversationId') ?? '',
    agent: head.get('agent') ?? '',
    ...(parent !== undefined && { parent: ParentCall.parse(JSON.parse(parent)) }),
    ...(delegateRequest !== undefined && {
      delegateRequest: DelegateRequest.parse(JSON.parse(delegateRequest)),
    }),
    support: Support.parse(JSON.parse(head.get('support') ?? '{"form":false,"url":false}')),
    delivery: (head.get('delivery') ?? 'hold') as Delivery,
    ...(head.has('unlisted') && { unlisted: true as const }),
    ...(traceparent !== undefined && { traceparent }),
    status: head.get('status') as RunStatus,
    owner: head.get('owner') ?? '',
    term: Number(head.get('term')),
    deaths: Number(head.get('deaths') ?? 0),
    takeOvers: Number(head.get('takeOvers') ?? 0),
    writerSeq: Number(head.get('writerSeq')),
    startedAt: Number(head.get('startedAt')),
    ...(endedAt !== undefined && { endedAt: Number(endedAt) }),
    ...(restsUntil !== undefined && { restsUntil: Number(restsUntil) }),
    input: Message.array().parse(JSON.parse(head.get('input') ?? '[]')),
    steps: steps.sort(([a], [b]) => a - b).map(([, step]) => step),
    calls,
    pauses: pauses.sort((a, b) => a.pausedAt - b.pausedAt),
    times: timesOf(head),
  };
}

/** Separates the checkpoints from the other fields, which are returned by name. */
function sortFields(fields: readonly unknown[]) {
  const head = new Map<string, string>();
  const steps: [index: number, step: StepRecord][] = [];
  const calls: CallRecord[] = [];
  const pauses: PauseRecord[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = String(fields[index]);
    const value = String(fields[index + 1]);
    if (name.startsWith('step:')) steps.push([Number(name.slice(5)), StepRecord.parse(JSON.parse(value))]);
    else if (name.startsWith('call:')) calls.push(CallRecord.parse(JSON.parse(value)));
    else if (name.startsWith('pause:')) pauses.push(PauseRecord.parse(JSON.parse(value)));
    else head.set(name, value);
  }
  return { head, steps, calls, pauses };
}
