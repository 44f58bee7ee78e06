import { isParleyError } from '@parley/core/domain/errors';
import type { Owner, StreamRef } from '@parley/core/domain/ids';
import { z } from 'zod';
import type { McpDeps } from '../deps.ts';

/** A client's answers that did not fit the form of a question. */
const Misfit = z.object({
  /** The number of such answers. */
  count: z.int(),
  /** The fault of the last one, for the person. */
  reason: z.string(),
});
export type Misfit = z.infer<typeof Misfit>;

/** Answers that did not fit, received by any pod. The stream of the call, on its own pod, asks again. */
export interface Misfits {
  /** Records an answer that did not fit. Returns false, and records nothing, if the question was asked again often enough. */
  note(stream: StreamRef, elicitationId: string, error: unknown): Promise<boolean>;
  /**
   * Calls the listener with the question of each answer that is recorded from now on, and without one if some may have been
   * missed. The returned function ends this.
   */
  follow(stream: StreamRef, listener: (elicitationId?: string) => void): () => void;
  find(owner: Owner, elicitationId: string): Promise<Misfit | undefined>;
}

// How often a question is asked again, because a client may answer automatically and wrongly each time.
const AGAIN_MAX = 3;
const REASON_MAX = 500;
const SEPARATOR = '~';

/** The JSON-RPC id of a question after this many answers that did not fit. */
export function questionRequestId(elicitationId: string, { count }: Pick<Misfit, 'count'>): string {
  return count === 0 ? elicitationId : `${elicitationId}${SEPARATOR}${count}`;
}

/** The question whose JSON-RPC id this is. */
export function questionOfRequest(requestId: string): string {
  return requestId.split(SEPARATOR)[0] ?? '';
}

export function createMisfits({
  records,
  answerMisfits,
  callMs,
}: Pick<McpDeps, 'records' | 'answerMisfits' | 'callMs'>): Misfits {
  const nameOf = (elicitationId: string) => `mcp-misfit/${elicitationId}`;
  const parsed = (stored: string | undefined) =>
    stored === undefined ? undefined : Misfit.parse(JSON.parse(stored));
  return {
    async note(stream, elicitationId, error) {
      const name = nameOf(elicitationId);
      const stored = await records.read(stream, name);
      const count = (parsed(stored)?.count ?? 0) + 1;
      if (count > AGAIN_MAX) return false;
      const to = JSON.stringify({ count, reason: reasonOf(error) });
      // Of two simultaneous answers one record is enough, because the question is asked again only once.
      await records.replace(stream, { name, from: stored, to, ttlMs: callMs });
      await answerMisfits.publish(stream, { elicitationId });
      return true;
    },
    follow: (stream, listener) =>
      answerMisfits.subscribe(stream, (signal) =>
        signal.type === 'event' ? listener(signal.event.elicitationId) : listener(),
      ).unsubscribe,
    find: async (owner, elicitationId) => parsed(await records.read(owner, nameOf(elicitationId))),
  };
}

function reasonOf(error: unknown): string {
  const issues = isParleyError(error) ? (error.issues ?? []) : [];
  const faults = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return ['The answer did not fit.', ...faults].join(' ').slice(0, REASON_MAX);
}
