/**
 * Everything that one pod has to do with each run, so that its parts never act on the same run at once. It decides nothing
 * about ownership, which only Redis knows.
 */

import type { StreamRef } from '@parley/core/domain/ids';
import { RunInterruptedError } from './interruption.ts';

/** What a pod must still do with a run that it no longer works on: end it, or offer it to all pods. */
export type CleanupKind = 'end' | 'offer';

/** A cleanup that is still to be done. `term` is the one under which this pod began or claimed the run. */
export interface PendingCleanup {
  readonly stream: StreamRef;
  readonly term: number;
  readonly kind: CleanupKind;
  /** When the cleanup was added, on performance.now(). */
  readonly since: number;
}

/** A run that readers on this pod follow. */
export interface WatchedRun {
  readonly stream: StreamRef;
  /** The owner at the last check, and the time of that check. */
  seen?: { readonly owner: string; readonly at: number };
}

interface PieceOfWork {
  readonly stopping: AbortController;
  readonly done: Promise<unknown>;
}

/**
 * The state of one run on this pod. A run may be in several of these states at once; an entry without any is removed.
 *
 * | state           | meaning                                                             | ends when                     |
 * |-----------------|---------------------------------------------------------------------|-------------------------------|
 * | active          | this pod works on the run (`work`)                                  | the last piece of work ended  |
 * | reserved        | this pod is claiming the run, or works on it within another run     | every reservation is released |
 * | cleanup pending | this pod must end or offer the run, which failed or is too early    | that is done, or not needed   |
 * | watched         | readers on this pod follow the run; its owner's lease is checked    | the last reader left          |
 *
 * While a run is active or reserved, its cleanup and its checks wait.
 */
interface LocalRun {
  readonly stream: StreamRef;
  /** Several pieces of work may overlap, because a repeated request may start while the first one is still working. */
  readonly work: Set<PieceOfWork>;
  reservations: number;
  cleanup?: PendingCleanup | undefined;
  readers: number;
  watched: WatchedRun;
}

/** The runs with which this pod has something to do, by stream request. */
export interface LocalRuns {
  /** Makes the run active until `work` is done. Resolves with its result. */
  activate<T>(stream: StreamRef, stopping: AbortController, work: Promise<T>): Promise<T>;
  /** Reserves the run until the returned function is called. */
  reserve(stream: StreamRef): () => void;
  /** Watches the run until the returned function is called. */
  watch(stream: StreamRef): () => void;
  /** The number of active runs, with `tenant` only of that tenant. */
  countActive(tenant?: string): number;
  /** True while the run is active or reserved. */
  isBusy(streamRequestId: string): boolean;
  isReserved(streamRequestId: string): boolean;
  /** Aborts the work on a run. `reason` is a RunInterruptedError if the pod stops, and absent if the person stops the turn. */
  interrupt(streamRequestId: string, reason?: RunInterruptedError): void;
  /** Adds a cleanup, which replaces an earlier one of the run. */
  addCleanup(stream: StreamRef, term: number, kind: CleanupKind): PendingCleanup;
  cleanupOf(streamRequestId: string): PendingCleanup | undefined;
  removeCleanup(streamRequestId: string): void;
  cleanups(): readonly PendingCleanup[];
  watched(): readonly WatchedRun[];
  /** Interrupts all work. Resolves once it has ended. */
  close(): Promise<void>;
}

export function createLocalRuns(): LocalRuns {
  const runs = new Map<string, LocalRun>();

  function entryFor(stream: StreamRef): LocalRun {
    const known = runs.get(stream.streamRequestId);
    if (known !== undefined) return known;
    const entry = { stream, work: new Set<PieceOfWork>(), reservations: 0, readers: 0, watched: { stream } };
    runs.set(stream.streamRequestId, entry);
    return entry;
  }

  function removeIfUnused({ stream, work, reservations, cleanup, readers }: LocalRun): void {
    if (work.size + reservations + readers === 0 && cleanup === undefined)
      runs.delete(stream.streamRequestId);
  }

  /** Increments a counter, and decrements it once when the returned function is first called. */
  function count(stream: StreamRef, counter: 'reservations' | 'readers'): () => void {
    const entry = entryFor(stream);
    entry[counter] += 1;
    let isCounted = true;
    return () => {
      if (!isCounted) return;
      isCounted = false;
      entry[counter] -= 1;
      removeIfUnused(entry);
    };
  }

  return {
    activate(stream, stopping, work) {
      const entry = entryFor(stream);
      const done = work.then((result) => {
        entry.work.delete(piece);
        removeIfUnused(entry);
        return result;
      });
      const piece = { stopping, done };
      entry.work.add(piece);
      return done;
    },
    reserve: (stream) => count(stream, 'reservations'),
    watch(stream) {
      const entry = entryFor(stream);
      if (entry.readers === 0) entry.watched = { stream };
      return count(stream, 'readers');
    },
    countActive(tenant) {
      let count = 0;
      for (const { work, stream } of runs.values())
        if (work.size > 0 && (tenant === undefined || stream.tenant === tenant)) count += 1;
      return count;
    },
    isBusy(streamRequestId) {
      const entry = runs.get(streamRequestId);
      return entry !== undefined && entry.work.size + entry.reservations > 0;
    },
    isReserved: (streamRequestId) => (runs.get(streamRequestId)?.reservations ?? 0) > 0,
    interrupt(streamRequestId, reason) {
      for (const { stopping } of runs.get(streamRequestId)?.work ?? []) stopping.abort(reason);
    },
    addCleanup(stream, term, kind) {
      const cleanup = { stream, term, kind, since: performance.now() };
      entryFor(stream).cleanup = cleanup;
      return cleanup;
    },
    cleanupOf: (streamRequestId) => runs.get(streamRequestId)?.cleanup,
    removeCleanup(streamRequestId) {
      const entry = runs.get(streamRequestId);
      if (entry === undefined) return;
      entry.cleanup = undefined;
      removeIfUnused(entry);
    },
    cleanups: () => [...runs.values()].flatMap(({ cleanup }) => cleanup ?? []),
    watched: () => [...runs.values()].flatMap(({ readers, watched }) => (readers > 0 ? watched : [])),
    async close() {
      const all = [...runs.values()].flatMap(({ work }) => [...work]);
      for (const { stopping } of all) stopping.abort(new RunInterruptedError());
      await Promise.all(all.map(({ done }) => done));
    },
  };
}
