import { bucketOf, bucketOfElicitationId } from '../../domain/ids.ts';
import type { OutboxTask } from '../../ports/delivery/outbox.ts';
import { runningField, streamOfField, tagOf } from '../client/keys.ts';

/** Sorted set: what of one kind has still to happen for the elicitations of a bucket, by when it is due. */
export function outboxKey(bucket: number, kind: OutboxTask['kind']): string {
  return `parley:{${tagOf(bucket)}}:outbox:${kind}`;
}

/** Hash: to whom each of these was handed out last, and how often it was tried. */
export function outboxTriesKey(bucket: number): string {
  return `parley:{${tagOf(bucket)}}:outbox-tries`;
}

/** The bucket that a task lies in. Throws RangeError for an elicitation id that is none. */
export function bucketOfTask(task: OutboxTask): number {
  if (task.kind === 'wake') return bucketOf(task.stream);
  const bucket = bucketOfElicitationId(task.elicitationId);
  if (bucket === undefined) throw new RangeError('Not an elicitation id.');
  return bucket;
}

/** A task as it is noted: its kind, whose it is, and for a run its term. Scripts write such names, too. */
export function nameOfTask(task: OutboxTask): string {
  return task.kind === 'wake'
    ? `wake ${runningField(task.stream)} ${task.term}`
    : `webhook ${task.elicitationId}`;
}

/** The task of a name; nothing for any other text. */
export function taskOfName(name: string): OutboxTask | undefined {
  const [kind, subject = '', term] = name.split(' ');
  if (kind === 'webhook' && bucketOfElicitationId(subject) !== undefined)
    return { kind, elicitationId: subject };
  const stream = kind === 'wake' ? streamOfField(subject) : undefined;
  if (stream === undefined || !/^\d{1,15}$/.test(term ?? '')) return undefined;
  return { kind: 'wake', stream, term: Number(term) };
}
