/** Stores where the turns and questions of a person are in Slack. Posting is in `delivery/`. */

import type { Owner, StreamRef } from '@parley/core/domain/ids';
import type { OwnerRecords } from '@parley/shared/ports/owner-records';
import { z } from 'zod';
import { SlackUser } from './workspace.ts';

/** A thread or a whole channel in Slack, and the person whose turn or question is there. */
const SlackThread = SlackUser.extend({
  channel: z.string(),
  /** Timestamp of the thread's first message; absent for messages outside of threads. */
  thread: z.string().optional(),
  isPrivate: z.boolean(),
  conversationId: z.string().optional(),
});
export type SlackThread = z.infer<typeof SlackThread>;

/** A message, identified by its place. */
const Posted = z.object({ channel: z.string(), ts: z.string() });
export type Posted = z.infer<typeof Posted>;

/** Who is about to post a delivery, and since when (ms since 1970 on the records' clock). */
const Intent = z.object({ by: z.string(), at: z.number() });
type Intent = z.infer<typeof Intent>;

/** The places of a person's turns and questions in Slack. Every method throws `unavailable`; writes throw `user_erased`. */
export interface SlackThreads {
  /** Records the place of a turn, for at least `forMs`. */
  putTurn(stream: StreamRef, place: SlackThread, forMs: number): Promise<void>;
  turn(stream: StreamRef): Promise<SlackThread | undefined>;
  /** Records which Slack user gets the notice of a record. Returns the user who was recorded first. */
  putNoticed(owner: Owner, id: string, user: SlackUser): Promise<SlackUser>;
  /** The Slack user who got the notice of a record. Undefined if there is none, or for a notice of an earlier version. */
  noticed(owner: Owner, id: string): Promise<SlackUser | undefined>;
  /** Records a step's call whose message was posted. */
  putCall(owner: Owner, step: string, id: string): Promise<void>;
  /** The ids of a step's calls whose messages were posted. */
  calls(owner: Owner, step: string): Promise<readonly string[]>;
  /** Records that a message is the notice of a record. */
  putNotice(owner: Owner, posted: Posted, id: string): Promise<void>;
  /** The record about which a message notifies. */
  noticeIn(owner: Owner, posted: Posted): Promise<string | undefined>;
  /** Records which question a message of the person answers. Returns the question that was recorded first. */
  putAnswered(owner: Owner, message: Posted, id: string): Promise<string>;
  answered(owner: Owner, message: Posted): Promise<string | undefined>;
  /** Records that `by` is about to post a delivery. Returns the intent that was first, and its age in ms. */
  intend(
    owner: Owner,
    delivery: string,
    by: string,
  ): Promise<{ readonly first: Intent; readonly ageMs: number }>;
  /** Ends an intent, because its message was recorded or was not posted. */
  endIntent(owner: Owner, delivery: string, intent: Intent): Promise<void>;
  /** Records the message of a delivery. Returns the message that was recorded first. */
  putPosted(owner: Owner, delivery: string, posted: Posted): Promise<Posted>;
  posted(owner: Owner, delivery: string): Promise<Posted | undefined>;
}

/** The data is stored as records of the person, which are erased with the person. */
export function createSlackThreads(records: OwnerRecords, keptMs: number): SlackThreads {
  const read = async <T>(schema: z.ZodType<T>, owner: Owner, name: string) => {
    const value = await records.read(owner, name);
    return value === undefined ? undefined : schema.parse(JSON.parse(value));
  };
  const put = async <T>(schema: z.ZodType<T>, owner: Owner, name: string, value: T) =>
    schema.parse(JSON.parse(await records.putIfAbsent(owner, name, JSON.stringify(value), keptMs)));
  return {
    async putTurn(stream, place, forMs) {
      const name = `slack-turn/${stream.streamRequestId}`;
      await records.putIfAbsent(stream, name, JSON.stringify(SlackThread.parse(place)), forMs);
      // Reading an existing record extends its storage.
      await records.read(stream, name, forMs);
    },
    turn: (stream) => read(SlackThread, stream, `slack-turn/${stream.streamRequestId}`),
    putNoticed: (owner, id, user) => put(SlackUser, owner, `slack-noticed/${id}`, SlackUser.parse(user)),
    noticed: (owner, id) => read(SlackUser, owner, `slack-noticed/${id}`),
    async putCall(owner, step, id) {
      await records.putIfAbsent(owner, `slack-call/${step}/${id}`, id, keptMs);
    },
    async calls(owner, step) {
      const found = await records.list(owner, `slack-call/${step}/`);
      return found.map(({ value }) => value);
    },
    async putNotice(owner, { channel, ts }, id) {
      await records.putIfAbsent(owner, `slack-notice/${channel}/${ts}`, id, keptMs);
    },
    noticeIn: (owner, { channel, ts }) => records.read(owner, `slack-notice/${channel}/${ts}`),
    putAnswered: (owner, { channel, ts }, id) =>
      records.putIfAbsent(owner, `slack-answered/${channel}/${ts}`, id, keptMs),
    answered: (owner, { channel, ts }) => records.read(owner, `slack-answered/${channel}/${ts}`),
    async intend(owner, delivery, by) {
      const now = await records.now(owner);
      const first = await put(Intent, owner, `slack-intent/${delivery}`, { by, at: now });
      return { first, ageMs: now - first.at };
    },
    async endIntent(owner, delivery, intent) {
      await records.remove(owner, `slack-intent/${delivery}`, JSON.stringify(Intent.parse(intent)));
    },
    putPosted: (owner, delivery, posted) => put(Posted, owner, `slack-message/${delivery}`, posted),
    posted: (owner, delivery) => read(Posted, owner, `slack-message/${delivery}`),
  };
}
