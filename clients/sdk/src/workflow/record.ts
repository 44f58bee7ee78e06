import {
  createTransport,
  isParleyClientError,
  ParleyClientError,
  pathSegment,
  RETRY_DEFAULTS,
  resolveBaseUrl,
} from '@parley/core';
import { isRecord } from '@parley/core/domain/plain-record';
import type { ClientOptions } from '../client.ts';

/** What a workflow did at one position. `name` is the name of a step, or the digest of an ask. */
export interface WorkflowEntry {
  readonly kind: 'ask' | 'step';
  readonly name: string;
  readonly result?: unknown;
}

/** Where a workflow records what it did. Entries are written once and never changed. */
export interface WorkflowRecord {
  readonly workflowId: string;
  /** The owner of the record, if records of several people may have the same `workflowId`. */
  readonly userId?: string;
  read(position: number, signal?: AbortSignal): Promise<WorkflowEntry | undefined>;
  /** Writes an entry unless there is one, and returns the recorded one. */
  write(position: number, entry: WorkflowEntry, signal?: AbortSignal): Promise<WorkflowEntry>;
}

export interface ParleyRecordOptions extends ClientOptions {
  /** 1 to 128 of `A-Z a-z 0-9 . _ -`. It must be the same after a restart. */
  readonly workflowId: string;
  /** The person whom the workflow asks. The entries are stored with their data and erased with it. */
  readonly userId: string;
}

/**
 * A record stored by Parley, which survives this process. It needs a service key with the scope `ask`.
 *
 * @example
 * createParleyRecord({ baseUrl, token: serviceKey, workflowId: `onboarding-${team}`, userId: 'ada' });
 */
export function createParleyRecord(options: ParleyRecordOptions): WorkflowRecord {
  const { baseUrl, token, workflowId, userId, retry } = options;
  const transport = createTransport({
    root: resolveBaseUrl(baseUrl),
    token,
    fetch: options.fetch,
    retry: { ...RETRY_DEFAULTS, ...retry },
  });
  const pathOf = (position: number) => `/v1/workflows/${pathSegment(workflowId)}/entries/${position}`;
  return {
    workflowId,
    userId,
    async read(position, signal) {
      try {
        return entryOf(
          await transport.request({ method: 'GET', path: pathOf(position), query: { userId }, signal }),
        );
      } catch (error) {
        if (isParleyClientError(error, 'not_found')) return undefined;
        throw error;
      }
    },
    async write(position, entry, signal) {
      const body = { userId, ...entry };
      return entryOf(await transport.request({ method: 'POST', path: pathOf(position), body, signal }));
    },
  };
}

function entryOf(value: unknown): WorkflowEntry {
  if (isRecord(value) && typeof value.kind === 'string' && typeof value.name === 'string')
    return value as unknown as WorkflowEntry;
  throw new ParleyClientError('internal', 'The reply is no entry of a workflow; check baseUrl.');
}

/** A record in this process, for tests and for workflows that need not survive it. */
export function createMemoryRecord(workflowId: string): WorkflowRecord {
  const entries = new Map<number, string>();
  const read = (position: number) => {
    const text = entries.get(position);
    return text === undefined ? undefined : (JSON.parse(text) as WorkflowEntry);
  };
  return {
    workflowId,
    read: async (position) => read(position),
    async write(position, entry) {
      if (!entries.has(position)) entries.set(position, JSON.stringify(entry));
      return read(position) ?? entry;
    },
  };
}
