/** Keeps a rush of returning readers from delaying questions and answers. Budgets of callers are in `call-limits.ts`. */

import type { ServerResponse } from 'node:http';
import { ParleyError } from '@parley/core/domain/errors';

/**
 * Limits the openings of event streams on this pod. When another pod dies, its readers return together, and their requests must
 * not delay questions and answers. A bounded number of openings runs or waits; the others are refused before any work.
 */
export interface Openings {
  /** Reports that a reader has arrived. Throws `pod_busy` with a time to return if too many openings run or wait. */
  arrive(): void;
  /**
   * Runs `open` when it is this reader's turn: one opening begins per turn of the event loop, and only a few run at the same
   * time. Only authenticated readers take a place, because strangers could otherwise exclude everybody; and one person may take
   * only a few places. Throws as `arrive`, when the reader disconnects, and `rate_limited`.
   */
  run<Opened>(reader: OpeningReader, open: () => Promise<Opened>): Promise<Opened>;
}

/** The reader who opens a stream. */
interface OpeningReader {
  readonly res: ServerResponse;
  /** The name of a person; absent for a service key, which may speak for many people. */
  readonly person?: string | undefined;
}

/** The limits for the openings of a pod. */
export interface OpeningsOptions {
  /** How many openings may run or wait. */
  readonly openingsMax: number;
  /** How many openings of one person may run or wait: as many as the person may have open streams. */
  readonly ofPersonMax: number;
  /** Called for each refused opening. */
  readonly onRefused?: () => void;
}

// How many openings run at the same time. More would not be faster, because an opening mostly needs the processor.
const UNDER_WAY_MAX = 16;
// How many turns of the event loop with arrivals pass before an opening begins in one. Node accepts one connection per turn, so
// a question or an answer may wait behind thousands of readers. Therefore turns are kept short while readers arrive.
const ARRIVALS_MAX = 32;
// Readers that are refused together return spread over this time.
const RETRY_SECONDS_MAX = 10;

/** Makes the openings of one pod. */
export function createOpenings({ openingsMax, ofPersonMax, onRefused }: OpeningsOptions): Openings {
  const waiting = new Set<() => void>();
  const ofPersons = new Map<string, number>();
  let underWay = 0;
  let isPlanned = false;
  let hasArrived = false;
  let turnsOfArrivals = 0;

  /** Begins an opening in the next suitable turn of the event loop. */
  function plan(): void {
    if (isPlanned || waiting.size === 0 || underWay >= UNDER_WAY_MAX) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      turnsOfArrivals = hasArrived ? turnsOfArrivals + 1 : 0;
      hasArrived = false;
      if (turnsOfArrivals % ARRIVALS_MAX === 0) {
        const [begin] = waiting;
        begin?.();
      }
      plan();
    });
  }

  /** Resolves when an opening may begin. Rejects if its reader disconnects before that. */
  function turnOf(res: ServerResponse): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(begin);
        reject(busy());
      };
      const begin = () => {
        waiting.delete(begin);
        res.off('close', leave);
        underWay += 1;
        resolve();
      };
      res.once('close', leave);
      waiting.add(begin);
      plan();
    });
  }

  function refuseBeyond(): void {
    if (underWay + waiting.size < openingsMax) return;
    onRefused?.();
    throw busy();
  }

  /** Counts an opening of a person. The returned function ends the count. */
  function countOf(person: string | undefined): () => void {
    if (person === undefined) return () => undefined;
    const count = ofPersons.get(person) ?? 0;
    if (count >= ofPersonMax) throw tooMany();
    ofPersons.set(person, count + 1);
    return () => {
      const left = (ofPersons.get(person) ?? 1) - 1;
      if (left === 0) ofPersons.delete(person);
      else ofPersons.set(person, left);
    };
  }

  /** Runs `open` in its turn. */
  async function inTurn<Opened>(res: ServerResponse, open: () => Promise<Opened>): Promise<Opened> {
    await turnOf(res);
    try {
      return await open();
    } finally {
      underWay -= 1;
      plan();
    }
  }

  return {
    arrive() {
      hasArrived = true;
      refuseBeyond();
    },
    async run({ res, person }, open) {
      // Other readers may have taken the places since this one arrived.
      refuseBeyond();
      const end = countOf(person);
      return inTurn(res, open).finally(end);
    },
  };
}

function busy(): ParleyError {
  return new ParleyError('pod_busy', 'This pod opens as many event streams as it may; come back later.', {
    retryAfterSeconds: 1 + Math.floor(Math.random() * RETRY_SECONDS_MAX),
  });
}

function tooMany(): ParleyError {
  return new ParleyError('rate_limited', 'This user opens too many event streams at once; close one.', {
    retryAfterSeconds: 1 + Math.floor(Math.random() * RETRY_SECONDS_MAX),
  });
}
