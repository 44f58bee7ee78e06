import { bucketOf, formatStreamPath, parseStreamPath, type StreamRef } from '@parley/core/domain/ids';
import type { OutboxTask } from '../delivery/outbox.ts';

/** The name of the delivery kind that resumes detached runs. */
export const RESUME_RUN = 'resume-run';

/** The task that resumes a run which was detached under `term`. The commit that ends a question of the run's wait notes it. */
export function resumeTask(stream: StreamRef, term: number): OutboxTask {
  return { kind: RESUME_RUN, subject: formatStreamPath(stream), version: term, bucket: bucketOf(stream) };
}

/** The run that a task resumes, and the term under which the run was detached; undefined when the task cannot be parsed. */
export function parseResumeTask({
  subject,
  version,
}: OutboxTask): { readonly stream: StreamRef; readonly term: number } | undefined {
  const stream = parseStreamPath(subject);
  return stream === undefined || version === undefined ? undefined : { stream, term: version };
}
