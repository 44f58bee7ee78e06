import { createHash } from 'node:crypto';
import {
  BUCKET_COUNT,
  bucketOf,
  bucketOfName,
  bucketOfRecordId,
  isApprovalId,
  type Owner,
  type StreamRef,
} from '@parley/core/domain/ids';
import type { ConversationRef } from '../../domain/runs/run.ts';
import { SUBSCRIBING_KINDS } from '../../ports/delivery/subscriptions.ts';
import type { ClaimName } from '../../ports/elicitations/claims.ts';
import type { Topic } from '../../ports/elicitations/event-bus.ts';
import type { ListedKind } from '../../ports/tenant-lists.ts';
import { slotOf } from './slot.ts';

/**
 * Every Redis name Parley uses. `{tag}` is the hash tag of a bucket: all that belongs to one owner shares it and so
 * lies in one Cluster slot. Names are percent-encoded, so that no caller can forge a separator.
 */
const ROOT = 'parley';
const SLOTS = 16_384;
const encode: (name: string) => string = encodeURIComponent;

/** Hash tags by bucket, chosen so that bucket b falls into the b-th of 64 equal ranges of slots. */
/** All buckets, in order. */
export const BUCKETS: readonly number[] = Array.from({ length: BUCKET_COUNT }, (_, bucket) => bucket);
const TAGS: readonly string[] = BUCKETS.map(findTag);

function findTag(bucket: number): string {
  const width = SLOTS / BUCKET_COUNT;
  const name = `b${String(bucket).padStart(2, '0')}`;
  for (let attempt = 0; ; attempt += 1) {
    const tag = `${name}.${attempt.toString(36)}`;
    if (Math.floor(slotOf(tag) / width) === bucket) return tag;
  }
}

/** The hash tag of a bucket, without braces. */
export function tagOf(bucket: number): string {
  const tag = TAGS[bucket];
  if (tag === undefined) throw new RangeError(`There is no bucket ${bucket}.`);
  return tag;
}

/** The owner's part of every name. */
function ownerPath({ tenant, userId }: Owner): string {
  return `${encode(tenant)}/${encode(userId)}`;
}

/** A key of one owner, in the owner's bucket; `rest` is what follows the owner, encoded. */
export function ownedBy(owner: Owner, family: string, rest = ''): string {
  return `${ROOT}:{${tagOf(bucketOf(owner))}}:${family}:${ownerPath(owner)}${rest}`;
}

/** Hash: the row of one record, an elicitation or an approval. The id must be well formed. */
export function elicitationKey(id: string): string {
  const bucket = bucketOfRecordId(id);
  if (bucket === undefined) throw new RangeError('Not the id of a record.');
  return `${elicitationKeyPrefix(bucket)}${id}`;
}

/** What comes before the id in the keys of a bucket's rows. */
export function elicitationKeyPrefix(bucket: number): string {
  return `${ROOT}:{${tagOf(bucket)}}:elicitation:`;
}

/** Stream: the feed of one stream request. */
export function feedKey(stream: StreamRef): string {
  return ownedBy(stream, 'feed', `/${encode(stream.streamRequestId)}`);
}

/** Sorted set: an owner's open records by creation time. */
export function inboxKey(owner: Owner): string {
  return ownedBy(owner, 'inbox');
}

/** Sorted set: an owner's ended records by creation time. */
export function historyKey(owner: Owner): string {
  return ownedBy(owner, 'history');
}

/** String: counter of the bytes of the definitions of an owner's open records. */
export function inboxBytesKey(owner: Owner): string {
  return ownedBy(owner, 'inbox-bytes');
}

/** Sorted set: what is stored of an owner's elicitations and listed nowhere else, by the time (ms) until which it may stay. */
export function namesKey(owner: Owner): string {
  return ownedBy(owner, 'names');
}

/** Sorted set: what a tenant has of a kind in one bucket, by its begin (ms); what has ended by the negative time of its end. */
export function tenantListKey(kind: ListedKind, tenant: string, bucket: number): string {
  return `${ROOT}:{${tagOf(bucket)}}:listed-${kind}:${encode(tenant)}`;
}

/** The list of a record's family, by the record's id. */
export function recordListKey(id: string, tenant: string, bucket: number): string {
  return tenantListKey(isApprovalId(id) ? 'approvals' : 'elicitations', tenant, bucket);
}

/** String: exists for some time after an erasure of its owner. Its name reveals nothing of them. */
export function fenceKey({ tenant, userId }: Owner): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([tenant, userId]))
    .digest('base64url');
  return `${ROOT}:{${tagOf(bucketOf({ tenant, userId }))}}:erased:${digest}`;
}

/** Sorted set: the deadlines of all open records of a bucket. */
export function deadlinesKey(bucket: number): string {
  return `${ROOT}:{${tagOf(bucket)}}:deadlines`;
}

/** String: the deadline of a bucket for which a job was added, and its elicitation: `<ms> <id>`. */
export function armedKey(bucket: number): string {
  return `${ROOT}:{${tagOf(bucket)}}:armed`;
}

/** Sorted set: the outstanding tasks of one delivery kind in a bucket, by the time (ms) at which they are due. */
export function outboxKey(bucket: number, kind: string): string {
  return `${ROOT}:{${tagOf(bucket)}}:outbox:${kind}`;
}

/** Channel: in how many ms a task of a bucket's outboxes is due. The name is also built in outbox/tasks.lua. */
export function outboxChannel(bucket: number): string {
  return `${ROOT}:{${tagOf(bucket)}}:outbox`;
}

/**
 * Hash: the last lease of each outstanding task of a bucket, and how often it was tried. step.lua and write.lua derive
 * this name.
 */
export function outboxTriesKey(bucket: number): string {
  return `${ROOT}:{${tagOf(bucket)}}:outbox-tries`;
}

/** Set: the delivery kinds that follow a turn. step.lua and write.lua derive this name from that of the turn's channel. */
export function subscribersKey(stream: StreamRef): string {
  return ownedBy(stream, 'subscribers', `/${encode(stream.streamRequestId)}`);
}

/** What a commit of a turn may touch of the kinds that follow it, beside `outboxTriesKey` and the list of deliveries. */
export function followerKeys(stream: StreamRef): readonly string[] {
  const bucket = bucketOf(stream);
  return [subscribersKey(stream), ...SUBSCRIBING_KINDS.map((kind) => outboxKey(bucket, kind))];
}

/** Hash: the record of the turn that a stream request is. */
export function runKey(stream: StreamRef): string {
  return ownedBy(stream, 'run', `/${encode(stream.streamRequestId)}`);
}

/** Hash: the running and the last turn of a conversation. */
export function conversationKey(conversation: ConversationRef): string {
  return ownedBy(conversation, 'conversation', `/${encode(conversation.conversationId)}`);
}

/** Sorted set: the conversations of a person, by the time (ms) at which their latest turn began. */
export function conversationsKey(owner: Owner): string {
  return ownedBy(owner, 'conversations');
}

/** List: the messages of a conversation, oldest first. */
export function messagesKey(conversation: ConversationRef): string {
  return ownedBy(conversation, 'messages', `/${encode(conversation.conversationId)}`);
}

/** Hash: the bytes that each run and conversation of an owner stores, with their `total` and the number of `conversations`. */
export function usageKey(owner: Owner): string {
  return ownedBy(owner, 'usage');
}

/** Sorted set: the entries of an owner's usage by the time (ms) at which they expire. */
export function usageEndsKey(owner: Owner): string {
  return ownedBy(owner, 'usage-ends');
}

/** Set: the keys of an owner's turns that run. */
export function turnsKey(owner: Owner): string {
  return ownedBy(owner, 'turns');
}

/** String: the value that holds a name within a tenant. */
export function claimKey({ family, tenant, name }: ClaimName): string {
  return `${ROOT}:{${tagOf(bucketOfName(tenant, name))}}:claim:${family}:${encode(tenant)}/${encode(name)}`;
}

/** String or sorted set: a budget of an owner. */
export function limitKey(limit: string, subject: Owner): string {
  return ownedBy(subject, `limit:${limit}`);
}

/** Channel: one family of events about a topic. */
export function channelName(family: string, topic: Topic): string {
  return ownedBy(
    topic,
    family,
    topic.streamRequestId === undefined ? '' : `/${encode(topic.streamRequestId)}`,
  );
}

/**
 * Keys of step.lua in its order, and the channel of the stream request, on which its wake goes out. The channel of the
 * inbox has the same name as its key.
 */
interface CommitNames {
  readonly keys: readonly string[];
  readonly streamChannel: string;
}

interface TouchedNames {
  /** Keys of the commit alone. */
  readonly more?: readonly string[];
  /** The kinds of tasks that it may note in the outbox. */
  readonly kinds: Iterable<string>;
  /** True where it also notes tasks of the kinds that follow the turn. */
  readonly isOfTurn: boolean;
}

/**
 * Every name that a commit of one record touches.
 * The bucket is read from the id and each path is encoded once, since every ask and answer comes through here.
 */
export function commitNames(
  { id: elicitationId, definition: stream }: { readonly id: string; readonly definition: StreamRef },
  { more = [], kinds, isOfTurn }: TouchedNames,
): CommitNames {
  const bucket = bucketOfRecordId(elicitationId);
  if (bucket === undefined) throw new RangeError('Not the id of a record.');
  const root = `${ROOT}:{${tagOf(bucket)}}:`;
  const owner = ownerPath(stream);
  const turn = `${owner}/${encode(stream.streamRequestId)}`;
  const keys = [
    `${root}elicitation:${elicitationId}`,
    `${root}feed:${turn}`,
    `${root}inbox:${owner}`,
    `${root}history:${owner}`,
    `${root}deadlines`,
    `${root}inbox-bytes:${owner}`,
    `${root}armed`,
    `${root}names:${owner}`,
    recordListKey(elicitationId, stream.tenant, bucket),
    `${root}watched:${encode(stream.tenant)}`,
    ...more,
  ];
  const before = keys.length;
  for (const kind of kinds) keys.push(`${root}outbox:${kind}`);
  if (isOfTurn) keys.push(...followerKeys(stream));
  if (keys.length > before)
    keys.push(`${root}outbox-tries`, tenantListKey('deliveries', stream.tenant, bucket));
  return { keys, streamChannel: `${root}stream:${turn}` };
}

/** String: the heartbeat of a pod that runs turns. */
export function podKey(pod: string): string {
  return `${ROOT}:{${tagOf(0)}}:pod:${encode(pod)}`;
}

/** String: exists while a pod expires records whose timers have fired together. */
export function expiringKey(): string {
  return `${ROOT}:{${tagOf(0)}}:expiring`;
}

/** Set: all pods that sent a heartbeat, until they are forgotten. */
export function podsKey(): string {
  return `${ROOT}:{${tagOf(0)}}:pods`;
}

/** Hash: who owns which running turn of a bucket. */
export function runningKey(bucket: number): string {
  return `${ROOT}:{${tagOf(bucket)}}:running`;
}

/** Channel: a pod's own, over which it probes its subscription. */
export function probeChannel(pod: string): string {
  return `${ROOT}:{${tagOf(0)}}:probe:${encode(pod)}`;
}

/** String: when the timer canary last came through. */
export function canaryKey(): string {
  return `${ROOT}:{${tagOf(0)}}:canary`;
}

/** Never set. Removing it shows whether the server takes writes. */
export function writeProbeKey(): string {
  return `${ROOT}:{${tagOf(0)}}:write-probe`;
}

/** String: the worker that does a piece of maintenance. */
export function auditLeaseKey(name: string): string {
  return `${ROOT}:{${tagOf(0)}}:audit-lease:${name}`;
}

/** String: there while a piece of maintenance need not be repeated. */
export function auditDoneKey(name: string): string {
  return `${ROOT}:{${tagOf(0)}}:audit-done:${name}`;
}
