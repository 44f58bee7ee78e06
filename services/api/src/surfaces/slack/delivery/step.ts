import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import { bucketOf, formatStreamPath, parseStreamPath, type StreamRef } from '@parley/shared/domain/ids';
import type { OutboxResult, OutboxTask } from '@parley/shared/ports/delivery/outbox';
import { isDecidedTogether, stepMessage } from '../mapping/step.ts';
import type { SlackThread } from '../store/threads.ts';
import { SLACK, type SlackDeliveryDeps } from './deps.ts';
import { failed } from './faults.ts';
import { clientFor, noticedUser } from './reach.ts';
import { showMessage } from './record.ts';

/** The calls of one step of a run, on the stream request of its turn. */
export interface StepRef {
  readonly stream: StreamRef;
  readonly step: string;
}

const PAGE = 100;

/** The task that brings the message about all calls of a step up to date. */
export function stepTask({ definition }: ApprovalRow): OutboxTask {
  const subject = `${formatStreamPath(definition)}/${encodeURIComponent(definition.step)}`;
  return { kind: SLACK, subject, bucket: bucketOf(definition) };
}

/** Reads the subject of `stepTask`. Undefined for any other text. */
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
 * Brings the message with which a person decides on all calls of a step up to date. It is posted once two calls are open,
 * and names calls whose own messages were posted only.
 */
export async function deliverStep(
  deps: SlackDeliveryDeps,
  { stream, step }: StepRef,
  attempt: number,
): Promise<OutboxResult> {
  const open = await openCalls(deps, { stream, step });
  const id = `calls ${step}`;
  const place = await placeOf(deps, stream, [id, ...open.map((row) => row.id)]);
  const client = place && (await clientFor(deps, stream, place));
  if (place === undefined || client === undefined) return 'done';
  const isOpen = isDecidedTogether(open);
  const message = stepMessage(open, { user: place.userId, isPrivate: place.isPrivate });
  const shown = { id, owner: stream, isUntouched: false, isOpen, message };
  try {
    const result = await showMessage(deps, client, shown, place);
    return result !== undefined && 'deferInMs' in result ? result : 'done';
  } catch (error) {
    return failed(deps, error, id, attempt);
  }
}

/** The thread of the turn, or the direct messages in which the notices of these messages were posted. */
async function placeOf(
  deps: SlackDeliveryDeps,
  stream: StreamRef,
  messages: readonly string[],
): Promise<SlackThread | undefined> {
  const { places } = deps;
  const ofTurn = await places.turn(stream);
  if (ofTurn !== undefined) return ofTurn;
  const posted = await Promise.all(messages.map((id) => places.posted(stream, id)));
  const first = posted.findIndex((one) => one !== undefined);
  const user = first < 0 ? undefined : await noticedUser(deps, stream, messages[first] ?? '');
  const channel = posted[first]?.channel;
  return channel === undefined || user === undefined ? undefined : { ...user, isPrivate: true, channel };
}

/** The open calls of a step whose messages were posted, oldest first. */
async function openCalls({ approvals, places }: SlackDeliveryDeps, { stream, step }: StepRef) {
  const calls: ApprovalRow[] = [];
  let cursor: string | undefined;
  do {
    const next = cursor === undefined ? {} : { cursor };
    const page = await approvals.page({ owner: stream, statuses: ['pending'], limit: PAGE, ...next });
    calls.push(...page.rows.filter(({ definition }) => definition.step === step));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const posted = await Promise.all(calls.map(({ id }) => places.posted(stream, id)));
  return calls.filter((_, index) => posted[index] !== undefined).reverse();
}
