import { type ErrorCode, isParleyError, type ParleyError } from '@parley/core/domain/errors';
import type { StreamRef } from '@parley/core/domain/ids';
import type { Row } from '@parley/shared/domain/elicitations/row';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Feed, FeedEntry } from '@parley/shared/ports/elicitations/feed';
import { expect } from 'vitest';
import { waitUntil } from '../wait-until.ts';

/** The error of a call that must be refused. */
export async function expectRefusal(call: Promise<unknown>): Promise<ParleyError> {
  try {
    await call;
  } catch (error) {
    if (isParleyError(error)) return error;
    throw error;
  }
  throw new Error('The call was not refused.');
}

/** The call must be refused with this code. */
export async function expectCode(call: Promise<unknown>, code: ErrorCode): Promise<void> {
  expect((await expectRefusal(call)).code).toBe(code);
}

/** How a call ended: its value, or its refusal. Any other error is thrown on. */
export async function callOutcome<T>(call: Promise<T>): Promise<{ value: T } | { refusal: ParleyError }> {
  try {
    return { value: await call };
  } catch (error) {
    if (isParleyError(error)) return { refusal: error };
    throw error;
  }
}

/** Waits until the deadline of a question has passed by the clock of its store. */
export async function untilDue(engine: Engine, { id, definition, expiresAt }: Row): Promise<void> {
  const { tenant } = definition;
  const isDue = async () => (await engine.read({ kind: 'service', tenant }, id)).now >= expiresAt;
  await waitUntil(isDue, { what: 'the deadline', everyMs: 5 });
}

/** A whole feed, read in pages of `limit`; empty when there is none. */
export async function readEntries(feed: Feed, stream: StreamRef, limit = 50): Promise<FeedEntry[]> {
  const entries: FeedEntry[] = [];
  for (;;) {
    const page = await feed.read(stream, entries.at(-1)?.position, limit);
    if (page.type === 'reset') throw new Error('The feed was reset while it was read.');
    if (page.type === 'none' || page.entries.length === 0) return entries;
    entries.push(...page.entries);
  }
}

export interface Reader<T> {
  /** Everything that came, in order. */
  readonly seen: readonly T[];
  /** How it ended, once it has: with an error, or `done`. */
  readonly end: unknown;
  /** Waits until `count` things came, and returns them. */
  first(count: number): Promise<readonly T[]>;
  ended(): Promise<unknown>;
}

/** Reads a generator in the background. */
export function readAll<T>(items: AsyncIterable<T>): Reader<T> {
  const seen: T[] = [];
  let end: unknown;
  const run = async () => {
    for await (const item of items) seen.push(item);
  };
  run().then(
    () => {
      end = 'done';
    },
    (error: unknown) => {
      end = error;
    },
  );
  return {
    seen,
    get end() {
      return end;
    },
    async first(count) {
      await waitUntil(() => seen.length >= count || end !== undefined, {
        what: `${count} items`,
        everyMs: 5,
      });
      if (seen.length < count) throw new Error(`It ended after ${seen.length} items: ${String(end)}`);
      return seen;
    },
    ended: () => waitUntil(() => end, { what: 'the end', everyMs: 5 }),
  };
}
