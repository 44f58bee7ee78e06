import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { bucketOf, formatStreamPath, parseStreamPath, type StreamRef } from '@parley/core/domain/ids';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import type { OutboxResult, OutboxTask } from '@parley/shared/ports/delivery/outbox';
import { isDecidedTogether, stepMessage } from '../mapping/step.ts';
import type { SlackThread } from '../store/threads.ts';
import { SLACK, type SlackDeliveryDeps } from './deps.ts';
import { failed } from './faults.ts';
import { clientFor, noticePlace } from './reach.ts';
import { showMessage } from './record.ts';

/** The calls of one step of a run, on the stream request of its turn. */
interface StepRef {
  readonly stream: StreamRef;
  readonly step: string;
}

/** The task that updates the message about all calls of a step. */
export function stepTask({ definition }: ApprovalRow): OutboxTask {
  const subject = `${formatStreamPath(definition)}/${encodeURIComponent(definition.step)}`;
  return { kind: SLACK, subject, bucket: bucketOf(definition) };
}

/** Parses the subject of `stepTask`. Undefined for other text. */
export function parseStep(subject: string): StepRef | undefined {
  const end = subject.lastIndexOf('/');
  const stream = parseStreamPath(subject.slice(0, Math.max(end, 0)));
  try {
    return stream && { stream, step: decodeURIComponent(subject.slice(end + 1)) };
  } catch {
    return undefined;
  }
}

/**
 * Updates the message with which a person decides on all calls of a step. It is posted once two calls are open, and contains
 * only calls whose own messages were posted. Pods of earlier versions do not record the messages that they post. If fewer than
 * two are recorded, such a pod posted this message, which is then left unchanged.
 */
export async function deliverStep(
  deps: SlackDeliveryDeps,
  { stream, step }: StepRef,
  attempt: number,
): Promise<OutboxResult> {
  const ids = await deps.places.calls(stream, step);
  if (ids.length < 2) return 'done';
  const id = `calls ${step}`;
  try {
    const place = await placeOf(deps, stream, ids);
    const client = place && (await clientFor(deps, stream, place));
    if (place === undefined || client === undefined) return 'done';
    const open = await openCalls(deps, ids);
    const isOpen = isDecidedTogether(open);
    const message = stepMessage(open, { user: place.userId, isPrivate: place.isPrivate });
    const shown = { id, owner: stream, isUntouched: false, isOpen, message };
    const result = await showMessage(deps, client, shown, place);
    return result !== undefined && 'deferInMs' in result ? result : 'done';
  } catch (error) {
    return failed(deps, error, id, attempt);
  }
}

/** The thread of the turn, or the direct messages in which these calls' notices were posted. */
async function placeOf(
  deps: SlackDeliveryDeps,
  stream: StreamRef,
  [first]: readonly string[],
): Promise<SlackThread | undefined> {
  const ofTurn = await deps.places.turn(stream);
  if (ofTurn !== undefined || first === undefined) return ofTurn;
  return (await noticePlace(deps, stream, first))?.place;
}

/** The calls with these ids that are open, oldest first. */
async function openCalls({ approvals }: SlackDeliveryDeps, ids: readonly string[]): Promise<ApprovalRow[]> {
  const readings = await Promise.all(ids.map((id) => approvals.read(id)));
  return readings
    .flatMap(({ row }) => (row === undefined || isApprovalEnded(row.status) ? [] : [row]))
    .sort((one, other) => one.createdAt - other.createdAt);
}
