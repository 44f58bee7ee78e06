/**
 * Stores the push targets of A2A tasks, sealed, with the position up to which each was served. Sending is not here, but in
 * `deliver.ts`.
 */

import { ParleyError } from '@parley/core/domain/errors';
import {
  bucketOf,
  formatStreamPath,
  type Owner,
  parseStreamPath,
  type StreamRef,
} from '@parley/core/domain/ids';
import { z } from 'zod';
import { pushTargetName } from '../../domain/a2a/push-target-name.ts';
import type { OutboxTask } from '../../ports/delivery/outbox.ts';
import type { SubscribingKind } from '../../ports/delivery/subscriptions.ts';
import type { OwnerRecords } from '../../ports/owner-records.ts';

/** Where the updates of a task are pushed, and the credentials that identify Parley to the receiver. */
export const PushTarget = z.object({
  id: z.string(),
  url: z.string(),
  token: z.string(),
  authentication: z.object({ scheme: z.string(), credentials: z.string() }).optional(),
  /** The A2A version of the updates. */
  version: z.enum(['1.0', '0.3']),
});
export type PushTarget = z.infer<typeof PushTarget>;

/** Seals the push targets of a task, because they contain credentials. */
export interface PushSeals {
  seal(task: StreamRef, text: string): string;
  /** Undefined when the value cannot be opened, for example because its key was removed. */
  unseal(task: StreamRef, sealed: string): string | undefined;
}

/** The push targets of tasks. A task has a few numbered slots, each for one target. */
export interface PushStore {
  /** How long a target is kept, in ms. */
  readonly keepMs: number;
  /**
   * Stores a target and returns its slot. A target with the same id is replaced, and the new one continues from its position.
   * Throws `invalid_request` when the task has too many targets.
   */
  put(task: StreamRef, target: PushTarget): Promise<number>;
  /** Throws `invalid_request` when the task has no room for another target with this id. */
  checkRoom(task: StreamRef, id: string): Promise<void>;
  list(task: StreamRef): Promise<readonly PushTarget[]>;
  /** The slots that hold targets. */
  slots(task: StreamRef): Promise<readonly number[]>;
  /** The target in a slot, with the position up to which it was served. */
  open(task: StreamRef, slot: number): Promise<OpenTarget | undefined>;
  remove(task: StreamRef, id: string): Promise<boolean>;
}

/** A target to which updates are delivered. */
export interface OpenTarget {
  readonly target: PushTarget;
  /** The last event whose updates were delivered. */
  readonly position: string | undefined;
  /**
   * Records a later position atomically. Returns false and changes nothing when the slot now has another target, or another
   * delivery has moved the position.
   */
  move(position: string): Promise<boolean>;
}

/**
 * The delivery kind that follows turns with push targets. Its tasks name what changed; each leads to one delivery task per
 * target.
 */
export const A2A_PUSH = 'a2a-push' satisfies SubscribingKind;
/** The delivery kind that serves one target. */
export const A2A_DELIVER = 'a2a-deliver';
const SLOTS = [0, 1, 2, 3, 4] as const;

/** The task that sends a slot's target the updates that it does not have yet. */
export function deliverTask(task: StreamRef, slot: number): OutboxTask {
  return { kind: A2A_DELIVER, subject: `${formatStreamPath(task)}/${slot}`, bucket: bucketOf(task) };
}

/** The turn and the slot of a task of `deliverTask`; undefined when its subject cannot be parsed. */
export function parseDeliverTask({ subject }: OutboxTask) {
  const slash = subject.lastIndexOf('/');
  const stream = parseStreamPath(subject.slice(0, slash));
  const slot = Number(subject.slice(slash + 1));
  return stream === undefined || !Number.isSafeInteger(slot) ? undefined : { stream, slot };
}

interface PushStoreDeps {
  readonly records: OwnerRecords;
  readonly seals: PushSeals;
  /** How long a target is kept, in ms: as long as a task may last. */
  readonly keepMs: number;
}

export function createPushStore({ records, seals, keepMs }: PushStoreDeps): PushStore {
  const targetName = ({ streamRequestId }: StreamRef, slot: number) => pushTargetName(streamRequestId, slot);
  const positionName = ({ streamRequestId }: StreamRef, slot: number) =>
    `a2a-pushed/${streamRequestId}/${slot}`;
  const ownerOf = ({ tenant, userId }: StreamRef): Owner => ({ tenant, userId });

  async function entry(task: StreamRef, slot: number) {
    const sealed = await records.read(ownerOf(task), targetName(task, slot));
    const text = sealed === undefined ? undefined : seals.unseal(task, sealed);
    const target = text === undefined ? undefined : PushTarget.parse(JSON.parse(text));
    return { slot, sealed, target };
  }
  const entries = (task: StreamRef) => Promise.all(SLOTS.map((slot) => entry(task, slot)));

  /**
   * Removes the position that an earlier target left in a slot. Compare-and-remove spares the position of a new target that is
   * being served.
   */
  async function forgetPosition(task: StreamRef, slot: number): Promise<void> {
    const left = await records.read(ownerOf(task), positionName(task, slot));
    if (left !== undefined) await records.remove(ownerOf(task), positionName(task, slot), left);
  }

  return {
    keepMs,
    async put(task, target) {
      const to = seals.seal(task, JSON.stringify(target));
      // A failed replacement means that another change came first; the loop then reads the slots again.
      for (;;) {
        const kept = await entries(task);
        const { slot, sealed } =
          kept.find((one) => one.target?.id === target.id) ??
          kept.find((one) => one.sealed === undefined) ??
          {};
        if (slot === undefined) throw noRoom();
        if (sealed === undefined) await forgetPosition(task, slot);
        const change = { name: targetName(task, slot), from: sealed, to, ttlMs: keepMs };
        if (await records.replace(ownerOf(task), change)) return slot;
      }
    },
    async checkRoom(task, id) {
      const kept = await entries(task);
      if (kept.some(({ target }) => target?.id === id)) return;
      if (kept.every(({ sealed }) => sealed !== undefined)) throw noRoom();
    },
    list: async (task) => (await entries(task)).flatMap(({ target }) => target ?? []),
    slots: async (task) =>
      (await entries(task)).flatMap(({ slot, target }) => (target === undefined ? [] : [slot])),
    async open(task, slot) {
      const { sealed, target } = await entry(task, slot);
      if (sealed === undefined || target === undefined) return undefined;
      const name = positionName(task, slot);
      const whilst = { name: targetName(task, slot), value: sealed };
      let position = await records.read(ownerOf(task), name);
      return {
        target,
        position,
        async move(to) {
          const change = { name, from: position, to, ttlMs: keepMs, whilst };
          if (!(await records.replace(ownerOf(task), change))) return false;
          position = to;
          return true;
        },
      };
    },
    async remove(task, id) {
      const found = (await entries(task)).find(({ target }) => target?.id === id);
      if (found === undefined) return false;
      const isRemoved = await records.remove(ownerOf(task), targetName(task, found.slot), found.sealed);
      if (isRemoved) await forgetPosition(task, found.slot);
      return isRemoved;
    },
  };
}

function noRoom(): ParleyError {
  return new ParleyError('invalid_request', `A task has at most ${SLOTS.length} push configurations.`);
}
