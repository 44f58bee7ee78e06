import type { ServerResponse } from 'node:http';
import { ParleyError } from '@parley/shared/domain/errors';

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
   * a few are under way. Readers without a proof take no place, or a stranger could keep all others out. Throws as `arrive`,
   * and when the reader disconnects.
   */
  run<Opened>(res: ServerResponse, open: () => Promise<Opened>): Promise<Opened>;
}

/** The limit of the openings of a pod, and who is told of refusals. */
export interface OpeningsOptions {
  /** How many may be under way or wait. */
  readonly openingsMax: number;
  /** Called with each opening that is refused. */
  readonly onRefused?: () => void;
}

// More would not be faster: an opening is work for the processor, with a few trips to Redis.
const UNDER_WAY_MAX = 16;
// Node accepts one connection in a turn of its event loop, and whoever asks or answers may be behind thousands of readers. So
// turns are short while readers arrive: an opening begins in a turn without any, or after so many with some.
const ARRIVALS_MAX = 32;
// Readers that are refused together come back spread over this time.
const RETRY_SECONDS_MAX = 10;

/** Makes the openings of one pod. */
export function createOpenings({ openingsMax, onRefused }: OpeningsOptions): Openings {
  const waiting = new Set<() => void>();
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

  return {
    arrive() {
      hasArrived = true;
      refuseBeyond();
    },
    async run(res, open) {
      // Others may have taken the places since this reader has arrived.
      refuseBeyond();
      await turnOf(res);
      try {
        return await open();
      } finally {
        underWay -= 1;
        plan();
      }
    },
  };
}

function busy(): ParleyError {
  return new ParleyError('pod_busy', 'This pod opens as many event streams as it may; come back later.', {
    retryAfterSeconds: 1 + Math.floor(Math.random() * RETRY_SECONDS_MAX),
  });
}
