/**
 * Delivers the updates of A2A tasks to the push targets that clients registered. How targets are stored and sealed is in
 * `store.ts`; how a call is signed and sent is the caller's `send`.
 */

import { parseFeedPosition } from '@parley/core/domain/events';
import { bucketOfRecordId, parseStreamPath, type StreamRef } from '@parley/core/domain/ids';
import { createTaskFold } from '../../domain/a2a/task.ts';
import { taskHeadOf } from '../../domain/a2a/task-head.ts';
import { isInterruptedState, type WireUpdate } from '../../domain/a2a/wire.ts';
import { replayItems } from '../../elicitations/joined-feed.ts';
import { type DeliveryKind, NOT_UNDERSTOOD } from '../../ports/delivery/kind.ts';
import type { Outbox, OutboxResult } from '../../ports/delivery/outbox.ts';
import type { Feed } from '../../ports/elicitations/feed.ts';
import type { Runs } from '../../ports/runs/runs.ts';
import type { EngineDeps } from '../../records/deps.ts';
import { RECEIVER_PLACES, type ReceiverPlace, type Receivers } from '../receivers.ts';
import {
  A2A_DELIVER,
  A2A_PUSH,
  deliverTask,
  type OpenTarget,
  type PushStore,
  type PushTarget,
  parseDeliverTask,
} from './store.ts';

/** How a receiver replied to one update. `final`: another attempt would fail too. */
type PushReply = 'delivered' | 'failed' | 'final';

export type SendPush = (target: PushTarget, update: WireUpdate) => Promise<PushReply>;

/**
 * The outcome of an attempt. `again`: it failed and will be repeated. `dropped`: it failed for the last time, and the target
 * gets no more updates of the task.
 */
export const PUSH_OUTCOMES = ['delivered', 'again', 'dropped'] as const;
export type PushOutcome = (typeof PUSH_OUTCOMES)[number];

export interface DeliverPushDeps {
  readonly store: PushStore;
  readonly runs: Pick<Runs, 'read'>;
  readonly feed: Feed;
  readonly records: EngineDeps['records'];
  readonly outbox: Pick<Outbox, 'add'>;
  readonly send: SendPush;
  /** Shares the places for deliveries among tenants and receivers. */
  readonly receivers: Receivers;
  /** Called for each attempt to deliver an update, for logs and metrics. Never throws. */
  readonly onAttempt: (outcome: PushOutcome, task: StreamRef) => void;
}

const PLACES = 16;
// No call starts after this time. This time plus the longest call is shorter than the lease of the outbox, which is a minute.
const WORK_MS = 40_000;
// During an upgrade, pods of an earlier version commit changes without noting a push task. Such changes are found after this
// time.
const LOOK_AGAIN_MS = 5 * 60_000;
const AGAIN = { deferInMs: 1 } as const;
const SECOND = 1_000;
const PAUSES_MS = [1, 5, 15, 60, 300, 1_800, 7_200, 21_600].map((seconds) => seconds * SECOND);

/** The two delivery kinds of push notifications: one follows turns, the other delivers the updates of one target in order. */
export function a2aPushKinds(deps: DeliverPushDeps): DeliveryKind[] {
  return [
    {
      name: A2A_PUSH,
      places: PLACES,
      async handle({ subject }) {
        const stream = parseStreamPath(subject) ?? (await streamOfRecord(deps, subject));
        if (stream === undefined) return 'done';
        const slots = await deps.store.slots(stream);
        await Promise.all(slots.map((slot) => deps.outbox.add(deliverTask(stream, slot), stream.tenant)));
        return 'done';
      },
    },
    {
      name: A2A_DELIVER,
      places: RECEIVER_PLACES,
      async handle(task, attempt) {
        const parsed = parseDeliverTask(task);
        return parsed === undefined ? NOT_UNDERSTOOD : deliver(deps, parsed.stream, parsed.slot, attempt);
      },
    },
  ];
}

/** The turn of an elicitation or an approval. */
async function streamOfRecord({ records }: DeliverPushDeps, id: string): Promise<StreamRef | undefined> {
  if (bucketOfRecordId(id) === undefined) return undefined;
  const [record] = (await records.readMany([id])).records;
  return record?.row.definition;
}

async function deliver(
  deps: DeliverPushDeps,
  stream: StreamRef,
  slot: number,
  attempt: number,
): Promise<OutboxResult> {
  const open = await deps.store.open(stream, slot);
  if (open === undefined) return 'done';
  const entry = deps.receivers.enter(stream.tenant, open.target.url);
  if (entry.type === 'full') return { deferInMs: entry.deferInMs };
  return deliverTo(deps, stream, { open, attempt, place: entry }).finally(entry.leave);
}

interface PushAttempt {
  readonly open: OpenTarget;
  readonly attempt: number;
  readonly place: ReceiverPlace;
}

async function deliverTo(
  deps: DeliverPushDeps,
  stream: StreamRef,
  { open: { target, position, move }, attempt, place }: PushAttempt,
): Promise<OutboxResult> {
  const endsAt = performance.now() + WORK_MS;
  const { run } = await deps.runs.read(stream);
  if (run === undefined) {
    await deps.store.remove(stream, target.id);
    return 'done';
  }
  const fold = createTaskFold(taskHeadOf(run), { text: 'whole' });
  for await (const item of replayItems(deps, stream)) {
    const updates = fold.take(item);
    if (!isAfter(item.id, position)) continue;
    const reply = await sendAll(updates, endsAt, async (update) => {
      const send = () => deps.send(target, update);
      const sent = await place.call(send, (reply) => reply === 'delivered');
      if (sent === 'delivered') deps.onAttempt('delivered', stream);
      return sent;
    });
    if (reply === 'late') return AGAIN;
    if (reply !== 'delivered') {
      const pause = reply === 'final' ? undefined : PAUSES_MS[attempt - 1];
      return failed(deps, stream, target, pause);
    }
    if (updates.length > 0 && !(await move(item.id))) return AGAIN;
  }
  return fold.state !== undefined && isInterruptedState(fold.state) ? { restInMs: LOOK_AGAIN_MS } : 'done';
}

/** Handles a failed delivery: schedules another attempt after `pause`, or removes the target when `pause` is undefined. */
async function failed(
  { store, onAttempt }: DeliverPushDeps,
  stream: StreamRef,
  { id }: PushTarget,
  pause: number | undefined,
): Promise<OutboxResult> {
  onAttempt(pause === undefined ? 'dropped' : 'again', stream);
  if (pause !== undefined) return { retryInMs: pause, failure: { code: 'failed' } };
  await store.remove(stream, id);
  return 'done';
}

/** Sends updates in order and stops at the first that is not delivered. `late`: the time for this attempt was used up. */
async function sendAll(
  updates: readonly WireUpdate[],
  endsAt: number,
  send: (update: WireUpdate) => Promise<PushReply>,
): Promise<PushReply | 'late'> {
  for (const update of updates) {
    if (performance.now() > endsAt) return 'late';
    const reply = await send(update);
    if (reply !== 'delivered') return reply;
  }
  return 'delivered';
}

function isAfter(id: string, last: string | undefined): boolean {
  const [position, before] = [
    parseFeedPosition(id),
    last === undefined ? undefined : parseFeedPosition(last),
  ];
  if (position === undefined || before === undefined || position.epoch !== before.epoch) return true;
  return position.seq > before.seq;
}
