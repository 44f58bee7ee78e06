/**
 * Every Redis name of Parley, so that no two kinds of data collide. The hash tag `{tag}` of a bucket puts all data of one owner
 * into one Cluster slot, and names are percent-encoded, so that no caller can forge a separator. What is stored under a name is
 * not decided here.
 */

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

const ROOT = 'parley';
const SLOTS = 16_384;
const encode: (name: string) => string = encodeURIComponent;

/** All buckets, in order. */
export const BUCKETS: readonly number[] = Array.from({ length: BUCKET_COUNT }, (_, bucket) => bucket);
/** Hash tags by bucket, chosen so that bucket b falls into the b-th of 64 equal ranges of slots. */
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

/** The part of every name that identifies the owner. */
function ownerPath({ tenant, userId }: Owner): string {
  return `${encode(tenant)}/${encode(userId)}`;
}

/** A key in the owner's bucket; `rest` is the encoded part after the owner. */
export function ownedBy(owner: Owner, family: string, rest = ''): string {
  return `${ROOT}:{${tagOf(bucketOf(owner))}}:${family}:${ownerPath(owner)}${rest}`;
}

/** Hash: the row of one record, an elicitation or an approval. The id must be well formed. */
export function elicitationKey(id: string): string {
  const bucket = bucketOfRecordId(id);
  if (bucket === undefined) throw new RangeError('Not the id of a record.');
  return `${elicitationKeyPrefix(bucket)}${id}`;
}

/** The part before the id in the keys of a bucket's rows. */
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

/** String: the total size of the definitions of an owner's open records, in bytes. */
export function inboxBytesKey(owner: Owner): string {
  return ownedBy(owner, 'inbox-bytes');
}

/** Sorted set: data of an owner's elicitations that no other index lists, by the time (ms) until which it may stay. */
export function namesKey(owner: Owner): string {
  return ownedBy(owner, 'names');
}

/** Sorted set: a tenant's things of one kind in one bucket, by start (ms), or by the negative time of the end. */
export function tenantListKey(kind: ListedKind, tenant: string, bucket: number): string {
  return `${ROOT}:{${tagOf(bucket)}}:listed-${kind}:${encode(tenant)}`;
}

/** The tenant's list of a record's family, which the record's id names. */
export function recordListKey(id: string, tenant: string, bucket: number): string {
  return tenantListKey(isApprovalId(id) ? 'approvals' : 'elicitations', tenant, bucket);
}

/** String: exists for some time after an erasure of its owner. The key does not reveal the owner. */
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

/** String: the bucket's deadline for which a job was added, and its elicitation: `<ms> <id>`. */
export function armedKey(bucket: number): string {
  return `${ROOT}:{${tagOf(bucket)}}:armed`;
}

/** Sorted set: the outstanding tasks of one delivery kind in a bucket, by the time (ms) at which they are due. */
export function outboxKey(bucket: number, kind: string): string {
  return `${ROOT}:{${tagOf(bucket)}}:outbox:${kind}`;
}

/** Channel: announces in how many ms a task of the bucket's outboxes is due. outbox/tasks.lua builds the same name. */
export function outboxChannel(bucket: number): string {
  return `${ROOT}:{${tagOf(bucket)}}:outbox`;
}

/** Hash: the last lease and the attempts of each task of a bucket. step.lua and write.lua build this name too. */
export function outboxTriesKey(bucket: number): string {
  return `${ROOT}:{${tagOf(bucket)}}:outbox-tries`;
}

/** Set: the delivery kinds that follow a turn. step.lua and write.lua derive this name from the turn's channel. */
export function subscribersKey(stream: StreamRef): string {
  return ownedBy(stream, 'subscribers', `/${encode(stream.streamRequestId)}`);
}

/** Keys for the kinds that may follow a turn; commits also touch `outboxTriesKey` and the list of deliveries. */
export function followerKeys(stream: StreamRef): readonly string[] {
  const bucket = bucketOf(stream);
  return [subscribersKey(stream), ...SUBSCRIBING_KINDS.map((kind) => outboxKey(bucket, kind))];
}

/** Hash: the record of the turn with this stream request. */
export function runKey(stream: StreamRef): string {
  return ownedBy(stream, 'run', `/${encode(stream.streamRequestId)}`);
}

/** Hash: the running turn and the last turn of a conversation. */
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

/** Hash: the bytes of each run and conversation of an owner, with their `total` and the number of `conversations`. */
export function usageKey(owner: Owner): string {
  return ownedBy(owner, 'usage');
}

/** Sorted set: the entries of an owner's usage, by the time (ms) at which they expire. */
export function usageEndsKey(owner: Owner): string {
  return ownedBy(owner, 'usage-ends');
}

/** Set: the keys of an owner's running turns. */
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

/** Channel: one kind of events about a topic. */
export function channelName(family: string, topic: Topic): string {
  return ownedBy(
    topic,
    family,
    topic.streamRequestId === undefined ? '' : `/${encode(topic.streamRequestId)}`,
  );
}

/** The keys of step.lua in order, and the channel of the stream request. The inbox channel is named as the inbox key. */
interface CommitNames {
  readonly keys: readonly string[];
  readonly streamChannel: string;
}

interface TouchedNames {
  /** Further keys of this commit. */
  readonly more?: readonly string[];
  /** The kinds of tasks that the commit may note in the outbox. */
  readonly kinds: Iterable<string>;
  /** True when the commit also notes tasks of the kinds that follow the turn. */
  readonly isOfTurn: boolean;
}

/**
 * Every name that a commit of one record touches. Every ask and answer calls this, so the id is parsed and each path encoded
 * only once.
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

/** String: exists while a pod is expiring several records whose timers fired. */
export function expiringKey(): string {
  return `${ROOT}:{${tagOf(0)}}:expiring`;
}

/** Set: all pods that sent a heartbeat and were not forgotten. */
export function podsKey(): string {
  return `${ROOT}:{${tagOf(0)}}:pods`;
}

/** Hash: the owner of each running turn of a bucket. */
export function runningKey(bucket: number): string {
  return `${ROOT}:{${tagOf(bucket)}}:running`;
}

/** Channel: a pod's own, for testing its subscription. */
export function probeChannel(pod: string): string {
  return `${ROOT}:{${tagOf(0)}}:probe:${encode(pod)}`;
}

/** String: when the timer canary last succeeded. */
export function canaryKey(): string {
  return `${ROOT}:{${tagOf(0)}}:canary`;
}

/** This key never exists; deleting it shows whether the server accepts writes. */
export function writeProbeKey(): string {
  return `${ROOT}:{${tagOf(0)}}:write-probe`;
}

/** String: the worker that is doing a piece of maintenance. */
export function auditLeaseKey(name: string): string {
  return `${ROOT}:{${tagOf(0)}}:audit-lease:${name}`;
}

/** String: exists while a piece of maintenance need not be repeated. */
export function auditDoneKey(name: string): string {
  return `${ROOT}:{${tagOf(0)}}:audit-done:${name}`;
}
