import type { ServerResponse } from 'node:http';
import { ParleyError } from '@parley/core/domain/errors';

/**
 * The openings of event streams on this pod. When another pod dies, its readers come back together; what they ask for must
 * not delay questions and answers. A bounded number of openings is under way or waits; the others are refused before any
 * work.
 */
export interface Openings {
  /** Notes that a reader has arrived. Throws `pod_busy` with a time to come back when too many openings are under way or wait. */
  arrive(): void;
  /**
   * Runs `open` of a reader that has proved who it is, when it is its turn: one opening begins in a turn of the event loop, and
   * a few are under way. Readers without a proof take no place, or a stranger could keep all others out; and one person takes a
   * few. Throws as `arrive` and when the reader disconnects, and `rate_limited`.
   */
  run<Opened>(reader: OpeningReader, open: () => Promise<Opened>): Promise<Opened>;
}

/** Who opens a stream. */
interface OpeningReader {
  readonly res: ServerResponse;
  /** The name of a person; absent for a service key, which may speak for many. */
  readonly person?: string | undefined;
}

/** The limit of the openings of a pod, and who is told of refusals. */
export interface OpeningsOptions {
  /** How many may be under way or wait. */
  readonly openingsMax: number;
  /** How many of one person: as many as a person may have open. */
  readonly ofPersonMax: number;
  /** Called with each opening that is refused. */
  readonly onRefused?: () => void;
}

// More would not be faster: an opening is work for the processor, with a few trips to Redis.
const UNDER_WAY_MAX = 16;
// Node accepts one connection in a turn of its event loop, and a question or an answer may wait behind thousands of readers. So
// turns are short while readers arrive: an opening begins in a turn without any, or after so many with some.
const ARRIVALS_MAX = 32;
// Readers that are refused together come back spread over this time.
const RETRY_SECONDS_MAX = 10;

/** Makes the openings of one pod. */
export function createOpenings({ openingsMax, ofPersonMax, onRefused }: OpeningsOptions): Openings {
  const waiting = new Set<() => void>();
  const ofPersons = new Map<string, number>();
  let underWay = 0;
  let isPlanned = false;
  let hasArrived = false;
  let turnsOfArrivals = 0;

  /** Begins an opening in the next turn of the event loop in which it may. */
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

  /** Resolves when an opening may begin; rejects when its reader has disconnected by then. */
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

  /** Counts an opening of a person; returns what counts it no more. */
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

  /** Runs `open` when it is its turn. */
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
      // Others may have taken the places since this reader has arrived.
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
